// IR from text, for tests of what passes find out before they change anything.
#pragma once
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace tulle::passes {

class ParsedModule {
public:
  explicit ParsedModule(const std::string &text) {
    context.loadDialect<dialect::TulleDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::linalg::LinalgDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                        mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      throw std::runtime_error("the test's text does not parse");
  }

  /// The first operation of this kind in the order of the text.
  template <typename Op> Op first() { return all<Op>().at(0); }
  template <typename Op> std::vector<Op> all() {
    std::vector<Op> found;
    module->walk<mlir::WalkOrder::PreOrder>([&](Op op) { found.push_back(op); });
    return found;
  }

  mlir::MLIRContext context;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tulle::passes
