// The insides of the public handles.
#pragma once
#include "notation/Program.h"
#include "runtime/tensor/Tensor.h"
#include "tulle/kernel.h"

namespace tulle::detail {

struct TensorImpl {
  runtime::Tensor tensor;
  bool hasLengths = false; ///< ragged by lengths that its maker gave
};

/// The way from handles to insides and back.
struct Access {
  static AnyTensor wrap(runtime::Tensor tensor, bool hasLengths = false) {
    return AnyTensor(std::make_shared<TensorImpl>(TensorImpl{std::move(tensor), hasLengths}));
  }
  static bool hasLengths(const AnyTensor &tensor) { return tensor.impl->hasLengths; }
  /// Throws Error for a handle made by the default constructor.
  static const runtime::Tensor &unwrap(const AnyTensor &tensor);
};

/// Throws Error for an unknown name.
ElementType elementType(const std::string &name);
/// Throws Error for a negative size.
void requireSizes(const std::vector<int64_t> &dims);

std::vector<StatementUse> statementUses(const notation::Program &program);

} // namespace tulle::detail
