// tulle-define-errors: what kernels call, as private functions that say on stderr what is wrong, and abort.
// cf.assert would say it on stdout, whose buffer nobody prints any more.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Kernels.h"

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
    {"tulle_error_group", "a group of a structured or fixed level has more entries than it holds, or its "
                          "last group fewer coordinates; "
                          "use compressed instead"},
    {"tulle_error_declared",
     "the declaration of a level format contradicts itself: what it stores is not what it reads"},
    {boundary::kBufferError,
     "a buffer that sparse_tensor.disassemble copies to is smaller than what the tensor stores"},
    {boundary::kReshapeError,
     "a sparse tensor is reshaped to sizes with another number of elements, or more than 64 bits count"},
    {boundary::kExplicitError,
     "a value is not the explicitVal of its format; use the format without explicitVal"},
};

struct DefineErrors : impl::DefineErrorsBase<DefineErrors> {
  void runOnOperation() override {
    for (const Error &error : errors)
      define(error.name, [&](ImplicitLocOpBuilder &b, ValueRange) {
        refuse(b, error.text);
        return SmallVector<Value>();
      });
    for (StringRef name : {"tulle_checked_size", "tulle_checked_positions"})
      define(name, [&](ImplicitLocOpBuilder &b, ValueRange arguments) { return product(b, arguments); });
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

  /// Functions of the C library; the pass fails where the module has others of these names.
  void call(ImplicitLocOpBuilder &b, StringRef name, ValueRange operands, Type result) {
    FailureOr<LLVM::LLVMFuncOp> function =
        LLVM::lookupOrCreateFn(b, getOperation(), name, SmallVector<Type>(operands.getTypes()), result);
    if (failed(function))
      return signalPassFailure();
    LLVM::CallOp::create(b, *function, operands);
  }

  void refuse(ImplicitLocOpBuilder &b, StringRef text) {
    const std::string line = ("error: " + text + "\n").str(), symbol = unusedName();
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), unsigned(line.size()));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(getOperation().getBody());
      LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
                             b.getStringAttr(line));
    }
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value at = LLVM::AddressOfOp::create(b, pointer, symbol);
    constexpr int64_t standardError = 2;
    call(b, "write",
         {arith::ConstantIntOp::create(b, standardError, 32), at,
          arith::ConstantIntOp::create(b, int64_t(line.size()), 64)},
         b.getI64Type());
    call(b, "abort", {}, LLVM::LLVMVoidType::get(b.getContext()));
  }

  std::string unusedName() {
    std::string name;
    do
      name = "tulle_error_text" + std::to_string(texts++);
    while (getOperation().lookupSymbol(name));
    return name;
  }

  unsigned texts = 0;

  /// Far below 64 bits, so that the bytes of each position still fit.
  SmallVector<Value> product(ImplicitLocOpBuilder &b, ValueRange arguments) {
    auto extended = arith::MulSIExtendedOp::create(b, arguments[1], arguments[2]);
    Value most = arith::ConstantIntOp::create(b, int64_t(1) << 58, 64),
          none = arith::ConstantIntOp::create(b, 0, 64);
    Value fits =
        arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, extended.getHigh(), none),
                              arith::CmpIOp::create(b, arith::CmpIPredicate::ule, extended.getLow(), most));
    auto check = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(check.elseBlock());
      refuse(b, "a level has more positions than any memory holds; use a sparser format");
    }
    return {extended.getLow()};
  }
};

} // namespace
} // namespace tulle::passes
