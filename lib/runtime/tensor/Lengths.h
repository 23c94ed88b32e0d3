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

/// The lengths of a ragged dimension, parent by parent.
struct Lengths {
  unsigned dimensions = 0;      ///< before this one
  std::vector<int64_t> parents; ///< coordinates of these, `dimensions` of each parent
  std::vector<int64_t> lengths;

  std::span<const int64_t> parent(size_t k) const {
    return std::span(parents).subspan(k * dimensions, dimensions);
  }
};
/// Whether dimension `dim` is stored as a ragged or jagged level below levels of the dimensions before, in
/// their order, that are dense, ragged or jagged.
bool hasLengths(const Tensor &tensor, unsigned dim);
/// The lengths of a dimension that has them.
Lengths lengthsOf(const Tensor &tensor, unsigned dim);

} // namespace tulle::runtime
