// From a checked program to stage 1: linalg.generic on tensors with encodings.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "notation/Program.h"
#include <optional>

namespace tulle::passes {

struct ImportOptions {
  bool strictFp = false;  ///< floating-point operations keep their order: no fastmath flags
  bool anySize = false;   ///< else sizes that notation::fixedSizes answers are constants
  bool dropZeros = false; ///< sparse results do not store what equals their fill
};

/// The file of locations that point into a program's text; others point into schedules.
constexpr llvm::StringLiteral kProgramText = "<expr>";

/// Of a tensor in a program of several statements, where it is known: how many entries the segments of its
/// last level have in the mean, as a power of two, 64 at most. Choices between loops follow it.
std::optional<int64_t> segmentLength(const notation::Program &program, unsigned tensor);

/// Of a dense tensor in a program of several statements: how many bytes its elements take, as a power of two,
/// 64 GiB at most; nothing where that is less than 4 MiB, or not known. Loops that select rows of several
/// such tensors compete for caches.
std::optional<int64_t> tableBytes(const notation::Program &program, unsigned tensor);
/// What `tulle.bytes_below` says of a dense vector that is read: the bytes that caches hold, if it has fewer.
std::optional<int64_t> bytesBelow(const notation::Program &program, unsigned tensor);

/// One `func.func @statement<k>` per statement (HACKING.md, contract 1). The dialects of stage 1 must be
/// loaded. Throws SyntaxError, pointing into program.text, for a sparse result that would be dense.
mlir::OwningOpRef<mlir::ModuleOp> importProgram(mlir::MLIRContext &context, const notation::Program &program,
                                                const ImportOptions &options = {});

} // namespace tulle::passes
