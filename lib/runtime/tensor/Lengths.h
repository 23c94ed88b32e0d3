// Ragged tensors: dimensions whose length is each parent's own.
#pragma once
#include "runtime/tensor/Tensor.h"

namespace tulle::runtime {

/// The elements of a dense row-major tensor that lie within lengths, zeros included: `lengths[d]`, where
/// there is one, says how many of dimension d there are below each coordinate of the dimensions before it, or
/// of the first ones of these. Throws Error for a length that is negative or above the dimension's size, and
/// for lengths of other sizes than the dimensions before.
Entries withinLengths(const Tensor &padded, const std::vector<std::optional<Tensor>> &lengths);

/// The format of such a tensor: `ragged` for the dimensions that have lengths, the others dense.
format::Encoding raggedEncoding(const std::vector<bool> &hasLengths);

/// One length of a ragged dimension: of which parent it is.
struct Length {
  std::vector<int64_t> parent; ///< coordinates of the dimensions before
  int64_t length = 0;
};
/// The lengths of dimension `dim`, parent by parent; none where it is not stored as a ragged level below
/// dense and ragged levels of the dimensions before, in their order.
std::vector<Length> lengthsOf(const Tensor &tensor, unsigned dim);

} // namespace tulle::runtime
