// What a region op carries from round to round, or through its parts, as text.
#pragma once
#include "mlir/IR/OpImplementation.h"

namespace tulle::dialect {

/// `iter_args(%a = %x, …) -> (types)`, or nothing: fills the operands and types of the result.
mlir::ParseResult parseInits(mlir::OpAsmParser &parser,
                             llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &args,
                             mlir::OperationState &result);
/// The same; `args` end with the arguments that the inits start.
void printInits(mlir::OpAsmPrinter &p, mlir::OperandRange inits, mlir::Block::BlockArgListType args);

} // namespace tulle::dialect
