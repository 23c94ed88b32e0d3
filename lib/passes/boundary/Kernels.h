// Between a module that mixes sparse tensors with other code and the kernels outlined from it.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tulle::boundary {

/// The nested module that holds the kernels. The module around it declares each under the same name.
inline constexpr llvm::StringLiteral kKernelsModule = "kernels";
/// Says that a value is not the explicitVal of its format, and aborts (tulle-define-errors).
inline constexpr llvm::StringLiteral kExplicitError = "tulle_error_explicit";
/// Says that a buffer of the caller's is too small, and aborts (tulle-define-errors).
inline constexpr llvm::StringLiteral kBufferError = "tulle_error_buffer";
/// Says that a reshape is to another number of elements, and aborts (tulle-define-errors).
inline constexpr llvm::StringLiteral kReshapeError = "tulle_error_reshape";
/// The function of that name, which says what is wrong and aborts.
mlir::func::FuncOp declareError(mlir::ModuleOp module, llvm::StringRef name, mlir::Location loc);
/// Where the condition does not hold when the code runs, it calls that function.
void require(mlir::ImplicitLocOpBuilder &b, mlir::Value condition, mlir::ModuleOp module,
             llvm::StringRef error);
/// The kernels of a module; null where none was outlined.
mlir::ModuleOp kernelsOf(mlir::ModuleOp module);

/// Names the first arguments of a function by their numbers (`tulle.name`). A kernel's passes may add
/// arguments, and leave out others: each is the operand whose name it has in the declaration.
void nameArguments(mlir::func::FuncOp function, unsigned count);
/// The number of the operand that an argument of a kernel stands for; nullopt for an argument without a name.
std::optional<unsigned> operandNumber(mlir::func::FuncOp declaration, mlir::func::FuncOp kernel,
                                      unsigned argument);

/// Declares a kernel in the module around it, behind all that is there, with names for its tensors. What
/// follows these are sizes of the result.
mlir::func::FuncOp declareKernel(mlir::ModuleOp module, llvm::StringRef name, mlir::FunctionType type,
                                 unsigned tensors, mlir::Location loc);

} // namespace tulle::boundary
