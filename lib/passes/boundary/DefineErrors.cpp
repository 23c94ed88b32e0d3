// tulle-define-errors: what kernels call, as private functions that say what is wrong and abort.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_DEFINEERRORS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

/// Errors have no text of their own but what is wrong: which tensor it is, the caller's code says.
struct Error {
  StringRef name, text;
};
constexpr Error errors[] = {
    {"tulle_error_width",
     "a coordinate or position does not fit the width of its field; use a wider posWidth or crdWidth"},
    {"tulle_error_group",
     "a group of a structured or fixed level has another number of entries; use compressed instead"},
};

struct DefineErrors : impl::DefineErrorsBase<DefineErrors> {
  void runOnOperation() override {
    for (const Error &error : errors)
      define(error.name, [&](ImplicitLocOpBuilder &b, ValueRange) { return refuse(b, error.text); });
    for (StringRef name : {"tulle_checked_size", "tulle_checked_positions"})
      define(name, [](ImplicitLocOpBuilder &b, ValueRange arguments) { return product(b, arguments); });
    // Nobody tells what memory there is: an upper bound is taken up to a size that is not missed.
    define("tulle_fits", [](ImplicitLocOpBuilder &b, ValueRange arguments) {
      Value most = arith::ConstantIntOp::create(b, int64_t(1) << 30, 64);
      return SmallVector<Value>{arith::CmpIOp::create(b, arith::CmpIPredicate::ule, arguments[0], most)};
    });
  }

private:
  using Body = function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, ValueRange arguments)>;

  /// Gives a function that is declared this body, which makes its results.
  void define(StringRef name, Body body) {
    auto function = getOperation().lookupSymbol<func::FuncOp>(name);
    if (!function || !function.isExternal())
      return;
    ImplicitLocOpBuilder b(function.getLoc(), &getContext());
    b.setInsertionPointToStart(function.addEntryBlock());
    func::ReturnOp::create(b, body(b, function.getArguments()));
  }

  static SmallVector<Value> refuse(ImplicitLocOpBuilder &b, StringRef text) {
    cf::AssertOp::create(b, arith::ConstantIntOp::create(b, 0, 1), text);
    return {};
  }

  /// Far below 64 bits, so that the bytes of each position still fit.
  static SmallVector<Value> product(ImplicitLocOpBuilder &b, ValueRange arguments) {
    auto extended = arith::MulSIExtendedOp::create(b, arguments[1], arguments[2]);
    Value most = arith::ConstantIntOp::create(b, int64_t(1) << 58, 64),
          none = arith::ConstantIntOp::create(b, 0, 64);
    Value fits =
        arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, extended.getHigh(), none),
                              arith::CmpIOp::create(b, arith::CmpIPredicate::ule, extended.getLow(), most));
    cf::AssertOp::create(b, fits, "a level has more positions than any memory holds; use a sparser format");
    return {extended.getLow()};
  }
};

} // namespace
} // namespace tulle::passes
