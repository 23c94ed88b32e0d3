// tulle-expand-files: tensors are read and written by the functions of mlir_c_runner_utils, as lists of
// entries.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/EntryLists.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tulle::passes {
using namespace mlir;
using sparse_tensor::PrimaryType;
#define GEN_PASS_DEF_EXPANDFILES
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

/// An element type as the run-time library numbers it, and ends the names of functions.
struct ElementType {
  PrimaryType number;
  StringRef suffix;
};

std::optional<ElementType> elementType(Type type) {
  using Found = std::optional<ElementType>;
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF64()   ? Found({PrimaryType::kC64, "C64"})
           : complex.getElementType().isF32() ? Found({PrimaryType::kC32, "C32"})
                                              : Found();
  return llvm::TypeSwitch<Type, Found>(type)
      .Case([](Float64Type) { return Found({PrimaryType::kF64, "F64"}); })
      .Case([](Float32Type) { return Found({PrimaryType::kF32, "F32"}); })
      .Case([](Float16Type) { return Found({PrimaryType::kF16, "F16"}); })
      .Case([](BFloat16Type) { return Found({PrimaryType::kBF16, "BF16"}); })
      .Case([](IntegerType integer) {
        switch (integer.getWidth()) {
        case 64:
          return Found({PrimaryType::kI64, "I64"});
        case 32:
          return Found({PrimaryType::kI32, "I32"});
        case 16:
          return Found({PrimaryType::kI16, "I16"});
        case 8:
          return Found({PrimaryType::kI8, "I8"});
        default:
          return Found();
        }
      })
      .Default(Found());
}

/// Emits calls of the library before an op.
class Library {
public:
  Library(ModuleOp module, Operation *op) : b(op->getLoc(), op), module(module) {}

  ImplicitLocOpBuilder b;

  Type pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
  MemRefType buffer(Type element) { return MemRefType::get({ShapedType::kDynamic}, element); }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value integer(uint64_t value, unsigned width) {
    return arith::ConstantIntOp::create(b, int64_t(value), width);
  }

  /// Functions that take or return buffers have C's interface.
  Value call(const Twine &name, Type result, ValueRange operands) {
    const std::string symbol = name.str();
    const TypeRange results = result ? TypeRange(result) : TypeRange();
    auto declared = module.lookupSymbol<func::FuncOp>(symbol);
    if (!declared) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      declared =
          func::FuncOp::create(top, b.getLoc(), symbol, b.getFunctionType(operands.getTypes(), results));
      declared.setPrivate();
      if (llvm::any_of(declared.getArgumentTypes(), llvm::IsaPred<MemRefType>) ||
          llvm::any_of(results, llvm::IsaPred<MemRefType>))
        declared->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
    }
    auto made = func::CallOp::create(b, declared, operands);
    return result ? made.getResult(0) : Value();
  }

  /// A buffer with these elements, which `free` frees.
  Value filled(Type element, ValueRange values) {
    Value made = memref::AllocOp::create(b, MemRefType::get({int64_t(values.size())}, element));
    for (auto [k, value] : llvm::enumerate(values))
      memref::StoreOp::create(b, value, made, index(int64_t(k)));
    Value any = memref::CastOp::create(b, buffer(element), made);
    temporaries.push_back(any);
    return any;
  }

  void free() {
    for (Value temporary : temporaries)
      memref::DeallocOp::create(b, temporary);
  }

private:
  ModuleOp module;
  SmallVector<Value> temporaries;
};

/// Fails, with an error, where the library has no such elements.
FailureOr<ElementType> elementsOf(Operation *op, RankedTensorType type) {
  if (std::optional<ElementType> element = elementType(type.getElementType()))
    return *element;
  return op->emitError("expected an element type that files have, got ") << type.getElementType();
}

SmallVector<Value> countUp(Library &library, int64_t count) {
  SmallVector<Value> numbers;
  for (int64_t k = 0; k < count; ++k)
    numbers.push_back(library.index(k));
  return numbers;
}

/// The library reads the list: it knows the formats of files, and what is symmetric.
LogicalResult expandNew(ModuleOp module, sparse_tensor::NewOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  const FailureOr<ElementType> element = elementsOf(op, type);
  if (failed(element))
    return failure();
  Library library(module, op);
  ImplicitLocOpBuilder &b = library.b;
  const int64_t rank = type.getRank();
  SmallVector<Value> shape, levels;
  for (int64_t size : type.getShape())
    shape.push_back(library.index(ShapedType::isDynamic(size) ? 0 : size)); // the library's "any"
  const sparse_tensor::SparseTensorEncodingAttr list = boundary::listEncoding(b.getContext(), rank, true);
  for (sparse_tensor::LevelType level : list.getLvlTypes())
    levels.push_back(library.integer(uint64_t(level), 64));
  const Type index = b.getIndexType(), i64 = b.getI64Type();
  Value valueType = library.integer(uint32_t(element->number), 32);
  Value reader = library.call("createCheckedSparseTensorReader", library.pointer(),
                              {op.getSource(), library.filled(index, shape), valueType});
  Value dims = library.call("getSparseTensorReaderDimSizes", library.buffer(index), reader);
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < rank; ++d)
    sizes.push_back(memref::LoadOp::create(b, dims, library.index(d)));
  Value wide = library.integer(uint32_t(sparse_tensor::OverheadType::kU64), 32);
  Value order = library.filled(index, countUp(library, rank));
  Value read = library.call("newSparseTensor", library.pointer(),
                            {dims, dims, library.filled(i64, levels), order, order, wide, wide, valueType,
                             library.integer(uint32_t(sparse_tensor::Action::kFromReader), 32), reader});
  library.call("delSparseTensorReader", {}, reader);
  SmallVector<Value> buffers{
      library.call("sparsePositions64", library.buffer(i64), {read, library.index(0)})};
  for (int64_t d = 0; d < rank; ++d)
    buffers.push_back(library.call("sparseCoordinates64", library.buffer(i64), {read, library.index(d)}));
  buffers.push_back(
      library.call("sparseValues" + element->suffix, library.buffer(type.getElementType()), read));
  Value converted = sparse_tensor::ConvertOp::create(b, type, boundary::listOf(b, type, buffers, sizes));
  library.call("delSparseTensor", {}, read);
  library.free();
  op.replaceAllUsesWith(converted);
  op.erase();
  return success();
}

LogicalResult expandOut(ModuleOp module, sparse_tensor::OutOp op) {
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  const FailureOr<ElementType> element = elementsOf(op, type);
  if (failed(element))
    return failure();
  Library library(module, op);
  ImplicitLocOpBuilder &b = library.b;
  const int64_t rank = type.getRank();
  const Type index = b.getIndexType();
  auto listed = type.cloneWithEncoding(boundary::listEncoding(b.getContext(), rank, true));
  Value list = sparse_tensor::ConvertOp::create(b, listed, op.getTensor());
  Value writer = library.call("createSparseTensorWriter", library.pointer(), op.getDest());
  Value count = sparse_tensor::NumberOfEntriesOp::create(b, list), dims = library.index(rank);
  SmallVector<Value> sizes, coordinates;
  for (int64_t d = 0; d < rank; ++d) {
    sizes.push_back(tensor::DimOp::create(b, list, d));
    coordinates.push_back(
        sparse_tensor::ToCoordinatesOp::create(b, library.buffer(b.getI64Type()), list, b.getIndexAttr(d)));
  }
  Value values = sparse_tensor::ToValuesOp::create(b, library.buffer(type.getElementType()), list);
  library.call("outSparseTensorWriterMetaData", {}, {writer, dims, count, library.filled(index, sizes)});
  Value at = library.filled(index, sizes);
  Value single = memref::AllocOp::create(b, MemRefType::get({}, type.getElementType()));
  auto loop = scf::ForOp::create(b, library.index(0), count, library.index(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    for (auto [d, buffer] : llvm::enumerate(coordinates)) {
      Value coordinate = memref::LoadOp::create(b, buffer, loop.getInductionVar());
      memref::StoreOp::create(b, arith::IndexCastOp::create(b, index, coordinate), at,
                              library.index(int64_t(d)));
    }
    memref::StoreOp::create(b, memref::LoadOp::create(b, values, loop.getInductionVar()), single);
    library.call("outSparseTensorWriterNext" + element->suffix, {}, {writer, dims, at, single});
  }
  library.call("delSparseTensorWriter", {}, writer);
  memref::DeallocOp::create(b, single);
  library.free();
  bufferization::DeallocTensorOp::create(b, list);
  op.erase();
  return success();
}

struct ExpandFiles : impl::ExpandFilesBase<ExpandFiles> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult result = module.walk([&](Operation *op) {
      LogicalResult done = success();
      if (auto read = dyn_cast<sparse_tensor::NewOp>(op))
        done = expandNew(module, read);
      else if (auto written = dyn_cast<sparse_tensor::OutOp>(op))
        done = expandOut(module, written);
      return failed(done) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
