// Structured control flow from lambdas: each lambda gets the values it may use and returns what it yields.
// The builder stands inside the new region while the lambda runs, and after the new op when the function
// returns.
#pragma once
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tulle::levels {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using Values = llvm::SmallVector<Value>;

/// Names the value in printed IR, unless it has a name or is a constant.
inline Value named(Value value, llvm::StringRef name) {
  mlir::Operation *op = value.getDefiningOp();
  bool isConstant = op && op->hasTrait<mlir::OpTrait::ConstantLike>();
  if (!name.empty() && !isConstant && !mlir::isa<mlir::NameLoc>(value.getLoc()))
    value.setLoc(mlir::NameLoc::get(mlir::StringAttr::get(value.getContext(), name), value.getLoc()));
  return value;
}

/// Memory for `length` elements of at most 16 bytes. Lengths beyond 2^58, whose bytes could leave 64 bits,
/// are cut to that, which no allocator gives.
Value allocate(OpBuilder &b, Location loc, mlir::MemRefType type, Value length);

/// `body(iv, carried) -> carried`, for lo <= iv < hi.
template <typename Body>
Values forLoop(OpBuilder &b, Location loc, Value lo, Value hi, dialect::LoopAttr attr, ValueRange inits,
               Body body) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = mlir::scf::ForOp::create(b, loc, lo, hi, one, inits);
  loop->setAttr(dialect::kLoopAttr, attr);
  OpBuilder::InsertionGuard guard(b);
  mlir::Block *block = loop.getBody();
  if (!block->empty()) // without carried values, scf.for is built with its terminator
    block->getTerminator()->erase();
  b.setInsertionPointToEnd(block);
  Values yielded = body(loop.getInductionVar(), Values(loop.getRegionIterArgs()));
  mlir::scf::YieldOp::create(b, loc, yielded);
  named(loop.getInductionVar(), attr.valueName());
  return Values(loop.getResults());
}

template <typename Body>
Values forLoop(OpBuilder &b, Location loc, Value lo, Value hi, dialect::LoopKind kind, ValueRange inits,
               Body body) {
  return forLoop(b, loc, lo, hi, dialect::LoopAttr::get(b.getContext(), kind), inits, body);
}

/// `body(iv)`, for lo <= iv < hi.
template <typename Body>
void forEach(OpBuilder &b, Location loc, Value lo, Value hi, dialect::LoopKind kind, Body body) {
  forLoop(b, loc, lo, hi, kind, {}, [&](Value iv, const Values &) {
    body(iv);
    return Values{};
  });
}

/// While `condition(carried)`, `body(carried) -> carried`.
template <typename Condition, typename Body>
Values whileLoop(OpBuilder &b, Location loc, ValueRange inits, Condition condition, Body body) {
  auto loop = mlir::scf::WhileOp::create(b, loc, inits.getTypes(), inits);
  OpBuilder::InsertionGuard guard(b);
  llvm::SmallVector<Location> locs(inits.size(), loc);
  llvm::SmallVector<Type> types(inits.getTypes());
  mlir::Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value proceed = condition(Values(before->getArguments()));
  mlir::scf::ConditionOp::create(b, loc, proceed, before->getArguments());
  mlir::Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  Values yielded = body(Values(after->getArguments()));
  mlir::scf::YieldOp::create(b, loc, yielded);
  return Values(loop.getResults());
}

/// `body(task)` for each task, possibly at the same time: what one writes no other may touch.
template <typename Body> void parallelTasks(OpBuilder &b, Location loc, Value tasks, Body body) {
  auto region = dialect::ParallelOp::create(b, loc, mlir::TypeRange(), tasks, ValueRange());
  OpBuilder::InsertionGuard guard(b);
  mlir::Block *block = b.createBlock(&region.getBody(), {}, b.getIndexType(), loc);
  body(Value(block->getArgument(0)));
  dialect::YieldOp::create(b, loc);
}

/// Memory on the stack, at the entry of the function, or of the region that becomes one: there alone it is
/// promoted to registers, and does not grow the stack in a loop.
inline Value allocaAtEntry(OpBuilder &b, Location loc, mlir::MemRefType type) {
  OpBuilder::InsertionGuard guard(b);
  mlir::Operation *function = b.getInsertionBlock()->getParentOp();
  while (!mlir::isa<mlir::func::FuncOp, dialect::ParallelOp, mlir::scf::ExecuteRegionOp>(function))
    function = function->getParentOp();
  b.setInsertionPointToStart(&function->getRegion(0).front());
  return mlir::memref::AllocaOp::create(b, loc, type);
}

/// `condition ? then() : otherwise()`, both of the given types.
template <typename Then, typename Else>
Values ifElse(OpBuilder &b, Location loc, Value condition, mlir::TypeRange types, Then then, Else otherwise) {
  auto branch =
      mlir::scf::IfOp::create(b, loc, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](mlir::Region &region, auto &&emit) {
    mlir::Block &block = region.front();
    if (!block.empty()) // without results, scf.if is built with its terminators
      block.back().erase();
    b.setInsertionPointToEnd(&block);
    Values yielded = emit();
    mlir::scf::YieldOp::create(b, loc, yielded);
  };
  fill(branch.getThenRegion(), then);
  fill(branch.getElseRegion(), otherwise);
  return Values(branch.getResults());
}

} // namespace tulle::levels
