// The tulle dialect, which the other .td files define by topic.
#ifndef TULLE_OPS
#define TULLE_OPS
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def Tulle_Dialect : Dialect {
  let name = "tulle";
  let cppNamespace = "::tulle::dialect";
  let summary = "Sparse tensors as types, iteration over coordinate sets, and storage";
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter &printer) const override;
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

class Tulle_Op<string mnemonic, list<Trait> traits = []> : Op<Tulle_Dialect, mnemonic, traits>;

/// The symbols of the cases in C++, and their keywords in the text.
class Tulle_Enum<string name, string summary, list<string> symbols, list<string> keywords = !foreach(s, symbols, !tolower(s))>
    : I32EnumAttr<name, summary, !foreach(i, !range(symbols), I32EnumAttrCase<symbols[i], i, keywords[i]>)> {
  let cppNamespace = "::tulle::dialect";
  let genSpecializedAttr = 0;
}

include "dialect/EncodingAttr.td"
include "dialect/CpuAttr.td"
include "dialect/StructuredOps.td"
include "dialect/IndirectOps.td"
include "dialect/SubsetOps.td"
include "dialect/ScheduleAttr.td"
include "dialect/IterateOps.td"
include "dialect/AssembleOps.td"
include "dialect/RepeatAttr.td"
include "dialect/SliceAttr.td"
include "dialect/AlgorithmOps.td"
include "dialect/ParallelOps.td"
include "dialect/TableOps.td"
include "dialect/BufferOps.td"
#endif // TULLE_OPS
