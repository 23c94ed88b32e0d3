// tulle-check-in-blocks: integers are checked in the loops that read them, a block of them at a time.
//
//   %q = bounded_indices %p below %n           iterate k in the blocks
//   %s = one_hot %q of %n                         %part = the range of block k
//   iterate i in %all                  becomes    %q = bounded_indices %p below %n over %part
//     … %s at i …                                 %s = one_hot %q of %n
//                                                 iterate i in %part
//                                                   … %s at i …
//                                               and the same of what is left of %all
//
// All blocks have one size, so that loops over them have no remainder, and few integers: they are still in
// the cache that is nearest when the loop reads them, and memory has work in between (experiment 107).
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "passes/Passes.h"
#include "passes/set_loops/CheckedReads.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_CHECKINBLOCKS
#include "passes/Passes.h.inc"

namespace {

/// A loop over blocks of as many of the loop's coordinates, with the loop in it, and the loop over those that
/// are left.
class InBlocks : levels::Indices {
public:
  InBlocks(IterateOp loop, ArrayRef<const CheckedReads *> read, int64_t size)
      : Indices(loop), loop(loop), read(read), size(size) {}

  /// Checks the integers in each block.
  void check() {
    auto bounds = BoundsOp::create(b, loc, loop.getSpace());
    Value count = divide(sub(bounds.getEnd(), bounds.getBegin()), constant(size));
    auto start = [&](Value block) { return add(bounds.getBegin(), times(block, constant(size))); };
    IterateOp blocks = overBlocks(count, start);
    IterateOp rest = overChecked(start(count), bounds.getEnd(), blocks.getResults());
    loop.replaceAllUsesWith(rest);
    loop.erase();
  }

private:
  IterateOp loop;
  ArrayRef<const CheckedReads *> read;
  int64_t size;

  IterateOp overBlocks(Value count, function_ref<Value(Value block)> start) {
    Value numbers = RangeOp::create(b, loc, constant(0), count);
    auto made = IterateOp::create(b, loc, loop.getResultTypes(), numbers, loop.getInits(),
                                  LoopAttr::get(b.getContext(), LoopKind::Reduction), /*each=*/false);
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> types{b.getIndexType()};
    llvm::append_range(types, loop.getResultTypes());
    Block *body = b.createBlock(&made.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    Value first = start(body->getArgument(0));
    // As this cannot overflow, LLVM sees how many there are.
    Value last = arith::AddIOp::create(b, loc, first, constant(size),
                                       arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
    IterateOp own = overChecked(first, last, body->getArguments().drop_front());
    YieldOp::create(b, loc, own.getResults());
    return made;
  }

  /// The loop over some of its coordinates, behind a check of their integers.
  IterateOp overChecked(Value begin, Value end, ValueRange inits) {
    Value part = RangeOp::create(b, loc, begin, end);
    IRMapping map;
    for (const CheckedReads *checked : read) {
      auto over = cast<BoundedIndicesOp>(b.clone(*checked->check));
      over.getOverMutable().assign(part);
      over.setDeferred(false);
      for (OneHotOp selection : checked->selections) {
        auto own = cast<OneHotOp>(b.clone(*selection));
        own.getSourceMutable().assign(over);
        map.map(selection.getResult(), own.getResult());
      }
    }
    auto own = cast<IterateOp>(b.clone(*loop, map));
    own.getSpaceMutable().assign(part);
    own.getInitsMutable().assign(inits);
    return own;
  }
};

struct CheckInBlocks : impl::CheckInBlocksBase<CheckInBlocks> {
  void runOnOperation() override {
    SmallVector<CheckedReads> all;
    getOperation()->walk([&](BoundedIndicesOp check) {
      if (check.getDeferred())
        if (std::optional<CheckedReads> reads = checkedReads(check))
          all.push_back(std::move(*reads));
    });
    if (all.empty())
      return markAllAnalysesPreserved();
    llvm::MapVector<Operation *, SmallVector<const CheckedReads *>> readBy;
    for (const CheckedReads &reads : all)
      for (IterateOp loop : reads.loops)
        readBy[loop].push_back(&reads);
    const int64_t size = dialect::costModel(getOperation()).costs.checkedBlock;
    for (auto &[loop, read] : readBy)
      InBlocks(cast<IterateOp>(loop), read, size).check();
    for (CheckedReads &reads : all) { // what is left only counts entries
      reads.check.getResult().replaceAllUsesWith(reads.check.getSource());
      reads.check.erase();
    }
  }
};

} // namespace
} // namespace tulle::passes
