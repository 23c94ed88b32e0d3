#include "dialect/Inits.h"

using namespace mlir;

namespace tulle::dialect {

ParseResult parseInits(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::Argument> &args,
                       OperationState &result) {
  if (failed(parser.parseOptionalKeyword("iter_args")))
    return success();
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(args, inits) || parser.parseArrowTypeList(result.types))
    return failure();
  if (inits.size() != result.types.size())
    return parser.emitError(loc) << "expected " << inits.size() << " types for iter_args, got "
                                 << result.types.size();
  for (auto [arg, type] : llvm::zip(args, result.types))
    arg.type = type;
  return parser.resolveOperands(inits, result.types, loc, result.operands);
}

void printInits(OpAsmPrinter &p, OperandRange inits, Block::BlockArgListType args) {
  if (inits.empty())
    return;
  p << " iter_args(";
  llvm::interleaveComma(llvm::zip(args.take_back(inits.size()), inits), p,
                        [&](auto pair) { p << std::get<0>(pair) << " = " << std::get<1>(pair); });
  p << ") -> (" << inits.getTypes() << ")";
}

} // namespace tulle::dialect
