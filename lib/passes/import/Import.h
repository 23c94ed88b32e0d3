// From a checked program to stage 1: linalg.generic on tensors with encodings.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "notation/Program.h"

namespace tulle::passes {

struct ImportOptions {
  bool strictFp = false;  ///< floating-point operations keep their order: no fastmath flags
  bool dropZeros = false; ///< sparse results do not store what equals their fill
};

/// Argument attribute with the tensor's name; results repeat the name of the tensor they replace.
inline constexpr llvm::StringLiteral kNameAttr = "tulle.name";

/// Argument attribute: a number; arguments of one type with the same number store the same coordinates at the
/// same positions, because one was made with the other's pattern.
inline constexpr llvm::StringLiteral kPatternAttr = "tulle.pattern";

/// Argument attribute: the encoding, with slices, of the tensor that the caller has; the argument is the
/// tensor that these were cut from.
inline constexpr llvm::StringLiteral kWholeAttr = "tulle.whole";

/// Attribute of linalg.generic: its new sparse tensor does not store what equals its fill.
inline constexpr llvm::StringLiteral kDropAttr = "tulle.drop_fill";

/// Attribute of linalg.generic: how the memory of its new sparse tensor is sized, as its schedule says.
inline constexpr llvm::StringLiteral kPlanAttr = "tulle.plan";

/// One `func.func @statement<k>` per statement (HACKING.md, contract 1). The dialects of stage 1 must be
/// loaded. Throws SyntaxError, pointing into program.text, for a sparse result that would be dense.
mlir::OwningOpRef<mlir::ModuleOp> importProgram(mlir::MLIRContext &context, const notation::Program &program,
                                                const ImportOptions &options = {});

} // namespace tulle::passes
