// What level formats ask of the tensor that they are assembled for.
#pragma once
#include "levels/Assembly.h"
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// Assembly by position of one target.
class TargetAssembly : public levels::Assembly {
public:
  TargetAssembly(mlir::OpBuilder &b, Target &target)
      : Assembly(b, target.loc, target.storage), target(target) {}

  mlir::Value product(unsigned level, mlir::Value a, mlir::Value b) const override;
  mlir::Value positions(unsigned level, mlir::Value parents, mlir::Value each) const override;
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

} // namespace tulle::assemble
