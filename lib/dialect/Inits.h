// The text of what a region op carries from iteration to iteration, or through its tasks.
#pragma once
#include "mlir/IR/OpImplementation.h"

namespace tulle::dialect {

/// `iter_args(%a = %x, …) -> (types)`, or nothing: fills the operands and types of the result.
mlir::ParseResult parseInits(mlir::OpAsmParser &parser,
                             llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &args,
                             mlir::OperationState &result);
/// The same; `args` end with the arguments that the inits start.
void printInits(mlir::OpAsmPrinter &p, mlir::OperandRange inits, mlir::Block::BlockArgListType args);

/// What follows the inits: attributes, and a region with these arguments, whose terminator may be left out.
template <typename Op>
mlir::ParseResult parseBody(mlir::OpAsmParser &parser,
                            llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &args,
                            mlir::OperationState &result) {
  mlir::Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, args))
    return mlir::failure();
  Op::ensureTerminator(*body, parser.getBuilder(), result.location);
  return mlir::success();
}

} // namespace tulle::dialect
