// One input matrix in every source format, as plain arrays and as Tulle's tensors over the same memory.
#pragma once
#include "peer/Loops.h"
#include "runtime/tensor/Tensor.h"
#include <vector>

namespace tulle::bench {

struct Problem {
  /// `spec` names a generator of a matrix; 32-bit indices must suffice.
  explicit Problem(const std::string &spec);
  Problem(const Problem &) = delete;

  Csr a, b; ///< b: the columns of a, each moved on by one, so that the patterns overlap in part
  Csr csc;  ///< of a, by columns
  std::vector<int32_t> row, shuffledRow, shuffledColumn;
  std::vector<double> shuffledValue;
  std::vector<int32_t> cooPos;

  int64_t count() const { return a.pos[a.rows]; }
  CooView coo() const { return {a.rows, a.columns, count(), row.data(), a.crd.get(), a.value.get()}; }
  CooView shuffled() const {
    return {a.rows, a.columns, count(), shuffledRow.data(), shuffledColumn.data(), shuffledValue.data()};
  }
  runtime::Tensor csrTensor(const Csr &matrix) const;
  runtime::Tensor cscTensor() const;
  runtime::Tensor cooTensor() const;
  runtime::Tensor shuffledTensor() const;
  /// Slots of DIA and ELL for each entry.
  double diaPadding() const, ellPadding() const;
};

/// Throws std::runtime_error when buffer `field` of the tensor does not hold these elements. Doubles may
/// differ in the last bits.
void requireEqual(const runtime::Tensor &tensor, unsigned field, const int32_t *elements, int64_t count);
void requireEqual(const runtime::Tensor &tensor, unsigned field, const double *elements, int64_t count);

} // namespace tulle::bench
