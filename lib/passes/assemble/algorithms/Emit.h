// Short forms of the ops that algorithms are made of, emitted where the builder of an emitter stands.
#pragma once
#include "levels/Control.h"
#include "levels/Storage.h"

namespace tulle::assemble {

using Values = levels::Values;

/// Arithmetic on indices outside of any tensor.
class IndexEmitter : public levels::Emitter {
public:
  IndexEmitter(mlir::OpBuilder &b, mlir::Location loc) : Emitter(b, loc, none) {}

private:
  levels::Storage none;
};

/// Creates an op with one result.
template <typename Op, typename... Operands>
mlir::Value make(const levels::Emitter &e, Operands &&...operands) {
  return Op::create(e.builder, e.loc, std::forward<Operands>(operands)...);
}

using levels::either;
using levels::forEach;
using levels::reduce;
using levels::when;

/// `condition ? then() : otherwise()` without results.
template <typename Then, typename Else>
void either(const levels::Emitter &e, mlir::Value condition, Then then, Else otherwise) {
  auto nothing = [](auto &body) {
    return [&body] {
      body();
      return Values{};
    };
  };
  either(e, condition, mlir::TypeRange(), nothing(then), nothing(otherwise));
}

/// Element `at` of a buffer, as it stands in memory.
mlir::Value loadAt(const levels::Emitter &e, mlir::Value buffer, mlir::Value at);
void storeAt(const levels::Emitter &e, mlir::Value value, mlir::Value buffer, mlir::Value at);
/// New memory for `count` elements of a type; of indices.
mlir::Value newBuffer(const levels::Emitter &e, mlir::Type element, mlir::Value count);
mlir::Value newTable(const levels::Emitter &e, mlir::Value count);
/// Elements first … last - 1 of a buffer become a value, as it stands in memory.
void fillBuffer(const levels::Emitter &e, mlir::Value buffer, mlir::Value first, mlir::Value last,
                mlir::Value value);
void freeBuffers(const levels::Emitter &e, mlir::ValueRange buffers);
/// New memory of elements that hold `value`, and its end: they hold it again then, which saves the next one
/// its fill.
mlir::Value filledBuffer(const levels::Emitter &e, mlir::Value count, mlir::Value value);
void returnFilledBuffer(const levels::Emitter &e, mlir::Value buffer, mlir::Value value);

/// The number of bits of an index.
mlir::Value bitLength(const levels::Emitter &e, mlir::Value index);
/// The condition (i1), which hardly ever holds: what is done then does not get the registers.
mlir::Value rarely(const levels::Emitter &e, mlir::Value condition);
/// The same index, of which nothing is known: what only a rare branch computes of a loop's coordinate, LLVM
/// would count along in every iteration (docs/experiments/019).
mlir::Value opaque(const levels::Emitter &e, mlir::Value index);

/// A value in a register: `memref.alloca` at the entry of the function, or of the parallel region the builder
/// stands in, which LLVM promotes.
class Register {
public:
  Register(const levels::Emitter &e, mlir::Type type);
  Register(const levels::Emitter &e, mlir::Value initial);
  mlir::Value get() const;
  void set(mlir::Value value) const;
  /// Adds 1 to an index; returns the new value.
  mlir::Value increment() const;

private:
  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value cell;
};

/// Whether a value differs from its register's, or `already` (if any) holds; null without any.
mlir::Value anyDiffers(const levels::Emitter &e, mlir::ValueRange now, llvm::ArrayRef<Register> before,
                       mlir::Value already = {});

/// Calls a function that the engine binds with the arguments (index or i64), all as i64.
mlir::Operation *call(const levels::Emitter &e, llvm::StringRef name, mlir::ValueRange arguments,
                      mlir::TypeRange results = {});
/// The same of a function that returns an i64, as index.
mlir::Value callForIndex(const levels::Emitter &e, llvm::StringRef name, mlir::ValueRange arguments);

/// Replaces each such op by the values that `lower(b, op)` emits in its place. Returns whether there was one.
template <typename Op, typename Lower> bool lowerEach(mlir::Operation *root, Lower lower) {
  llvm::SmallVector<Op> ops;
  root->walk([&](Op op) { ops.push_back(op); });
  for (Op op : ops) {
    mlir::OpBuilder b(op);
    Values values = lower(b, op);
    op->replaceAllUsesWith(values);
    op->erase();
  }
  return !ops.empty();
}

} // namespace tulle::assemble
