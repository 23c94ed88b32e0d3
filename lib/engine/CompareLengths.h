// Whether the operands of a statement have the same lengths where an index runs over ragged dimensions.
#pragma once
#include "notation/Program.h"
#include "runtime/tensor/Tensor.h"

namespace tulle::engine {

/// `ragged` is indexed as program.tensors: those whose lengths are their own, null for others. Throws Error
/// naming index and parent where two operands of a statement disagree.
void checkLengths(const notation::Program &program, const std::vector<const runtime::Tensor *> &ragged);

} // namespace tulle::engine
