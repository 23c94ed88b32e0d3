// What the entries' order of arrival decides: counters and ranks, the parts of a map that no coordinate
// gives.
#pragma once
#include "levels/Assembly.h"
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// Assembly by position of one target.
class TargetAssembly : public levels::Assembly {
public:
  TargetAssembly(mlir::OpBuilder &b, Target &target)
      : Assembly(b, target.loc, target.storage), target(target) {}

  mlir::Value product(unsigned level, mlir::Value a, mlir::Value b) const override;
  void allocate(unsigned field, mlir::Value count) const override;
  void shrink(unsigned field, mlir::Value count) const override;
  void checkWidth(unsigned field, mlir::Value value) const override;
  void refuseGroup(unsigned level, mlir::Value parent, mlir::Value found, mlir::Value wanted) const override;
  mlir::Value scratch(mlir::Type element, mlir::Value count) const override;
  mlir::Value cell(mlir::Value initial) const override;
  /// Frees what `scratch` gave.
  void freeScratch() const;

  Target &target;

private:
  mutable llvm::SmallVector<mlir::Value> temporaries;
};

/// The coordinates that a level expression (`let` written out) can have, from the sizes of the dimensions.
levels::Bounds boundsOf(const levels::Emitter &emit, const format::Expr &e);

/// The counters of a map: the number an entry has among those that agree in some dimensions. A register
/// counts where these arrive together, else there is a counter for each combination of their coordinates.
class Counters {
public:
  Counters(const TargetAssembly &assembly, const Order &order);

  /// Whether a stream in this order numbers entries as their coordinates ascend.
  static bool ascend(const Order &order, unsigned dims);
  /// All counters start from 0; the builder stands before a copy of the loops.
  void reset();
  /// The next entry is at these coordinates.
  void enter(mlir::ValueRange dims);
  /// The entry's number; counts it the first time.
  mlir::Value number(const format::ExprNode &counter);

private:
  struct Counter {
    std::vector<unsigned> dims;
    bool grouped = false;
    mlir::Value array;                   ///< of counters, or the one
    llvm::SmallVector<mlir::Value> last; ///< coordinates of the entry before
    mlir::Value current;                 ///< the number of the present entry, once asked for
  };
  void collect(const format::Expr &e, const Order &order);
  mlir::Value numberGrouped(Counter &counter);

  const TargetAssembly &assembly;
  std::vector<Counter> counters;
  mlir::ValueRange dims;
};

} // namespace tulle::assemble
