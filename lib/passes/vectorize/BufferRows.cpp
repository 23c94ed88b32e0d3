// A row begins at the linear number of its first element; accesses to one row share the buffer that it
// becomes.
#include "passes/vectorize/BufferRows.h"
#include "levels/Indices.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

namespace tulle::passes {

using namespace mlir;

namespace {

/// A load or a store.
struct Access {
  Operation *op;
  Value buffer;
  SmallVector<Value> outer;
  Value last;
  bool isStore;
};

std::optional<Access> accessOf(Operation *op) {
  auto made = [&](auto access, bool isStore) {
    ValueRange indices = access.getIndices();
    return Access{op, access.getMemRef(), SmallVector<Value>(indices.drop_back()), indices.back(), isStore};
  };
  if (auto load = dyn_cast<memref::LoadOp>(op); load && load.getMemRefType().getRank() > 1)
    return made(load, false);
  if (auto store = dyn_cast<memref::StoreOp>(op); store && store.getMemRefType().getRank() > 1)
    return made(store, true);
  return std::nullopt;
}

/// Whether all accesses are to rows that are known before the loop, and a buffer with stores has one row.
bool areRows(scf::ForOp loop, ArrayRef<Access> accesses) {
  auto isOutside = [&](Value value) { return loop.isDefinedOutsideOfLoop(value); };
  const bool isStored = llvm::any_of(accesses, [](const Access &access) { return access.isStore; });
  return cast<MemRefType>(accesses[0].buffer.getType()).getLayout().isIdentity() &&
         isOutside(accesses[0].buffer) && llvm::all_of(accesses, [&](const Access &access) {
           return llvm::all_of(access.outer, isOutside) && (!isStored || access.outer == accesses[0].outer);
         });
}

Value rowOf(OpBuilder &b, const Access &access) {
  levels::IndicesAt at(b, access.op->getLoc());
  auto type = cast<MemRefType>(access.buffer.getType());
  auto sizeOf = [&](int64_t dimension) -> Value {
    return memref::DimOp::create(b, at.loc, access.buffer, dimension);
  };
  Value row = access.outer[0];
  for (int64_t d = 1; d + 1 < type.getRank(); ++d)
    row = at.add(at.times(row, sizeOf(d)), access.outer[size_t(d)]);
  Value length = sizeOf(type.getRank() - 1), first = at.times(row, length);
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1});
  auto made = MemRefType::get({ShapedType::kDynamic}, type.getElementType(), layout, type.getMemorySpace());
  return memref::ReinterpretCastOp::create(b, at.loc, made, access.buffer, OpFoldResult(first),
                                           ArrayRef<OpFoldResult>{length},
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

} // namespace

void useRowsOfBuffers(scf::ForOp loop) {
  llvm::MapVector<Value, SmallVector<Access>> ofBuffer;
  loop.getBody()->walk([&](Operation *op) {
    if (std::optional<Access> access = accessOf(op))
      ofBuffer[access->buffer].push_back(std::move(*access));
  });
  OpBuilder b(loop);
  for (auto &[buffer, accesses] : ofBuffer) {
    if (!areRows(loop, accesses))
      continue;
    SmallVector<std::pair<SmallVector<Value>, Value>> rows;
    for (const Access &access : accesses) {
      auto *known = llvm::find_if(rows, [&](const auto &row) { return row.first == access.outer; });
      if (known == rows.end()) {
        rows.emplace_back(access.outer, rowOf(b, access));
        known = &rows.back();
      }
      OpBuilder inside(access.op);
      if (access.isStore)
        memref::StoreOp::create(inside, access.op->getLoc(),
                                cast<memref::StoreOp>(access.op).getValueToStore(), known->second,
                                access.last);
      else
        access.op->getResult(0).replaceAllUsesWith(
            memref::LoadOp::create(inside, access.op->getLoc(), known->second, access.last).getResult());
      access.op->erase();
    }
  }
}

} // namespace tulle::passes
