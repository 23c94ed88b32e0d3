// What the definitions of passes have in common.
#ifndef TULLE_PASS
#define TULLE_PASS
include "mlir/Pass/PassBase.td"

// The dialects that passes make ops of.
defvar tulle = ["::tulle::dialect::TulleDialect"];
defvar func = ["::mlir::func::FuncDialect"];
defvar linalg = ["::mlir::linalg::LinalgDialect"];
defvar tensor = ["::mlir::tensor::TensorDialect"];
defvar arith = ["::mlir::arith::ArithDialect"];
defvar math = ["::mlir::math::MathDialect"];
defvar complex = ["::mlir::complex::ComplexDialect"];
defvar memref = ["::mlir::memref::MemRefDialect"];
defvar scf = ["::mlir::scf::SCFDialect"];
defvar vector = ["::mlir::vector::VectorDialect"];
defvar x86vector = ["::mlir::x86vector::X86VectorDialect"];
defvar llvm = ["::mlir::LLVM::LLVMDialect"];

class TullePass<string argument, string op, list<string> dialects, string verb, string text> : Pass<argument, op> {
  let summary = verb;
  let description = text;
  let dependentDialects = dialects;
}
class ModulePass<string argument, list<string> dialects, string verb, string text>
    : TullePass<argument, "::mlir::ModuleOp", dialects, verb, text>;
class FunctionPass<string argument, list<string> dialects, string verb, string text>
    : TullePass<argument, "::mlir::func::FuncOp", dialects, verb, text>;

#endif // TULLE_PASS
