// Tensors over the buffers of others, which they keep: no entry is moved. (RFC on structured codegen beyond
// rectangular arrays: gather, concat and reshape as views.) Each is nullopt where levels do not allow it.
#pragma once
#include "runtime/tensor/Tensor.h"

namespace tulle::runtime {

/// The tensor whose dimension d is dimension `order[d]`. Throws Error unless these are all dimensions once.
Tensor permuted(const Tensor &tensor, const std::vector<unsigned> &order);
/// The coordinates of a dimension counted from its end. Throws Error for a dimension that it does not have.
std::optional<Tensor> mirrored(const Tensor &tensor, unsigned dimension);
/// The same elements in row-major order in other dimensions. Throws Error where the numbers of elements
/// differ.
std::optional<Tensor> reshaped(const Tensor &tensor, const std::vector<int64_t> &dims);
/// Row r is row `rows[r]` of the tensor, a coordinate of its first dimension; one may occur several times.
/// Takes the time of reading `rows`. Throws Error for a number that is no row.
std::optional<Tensor> gathered(const Tensor &tensor, std::span<const int64_t> rows);
/// The rows of all tensors one below the other: dense ones, or those over the same buffers, whatever rows
/// they have; dimensions behind the first have the size of the largest. Throws Error where types, fills or
/// numbers of dimensions differ, or sizes of dimensions whose levels are full.
std::optional<Tensor> concatenated(const std::vector<Tensor> &tensors);
/// Row r is the whole tensor r: dense ones of one type, with sizes that agree behind the first dimension.
std::optional<Tensor> stacked(const std::vector<Tensor> &tensors);
/// The tensor in the simplest of the formats that its buffers are: rows that follow on each other are
/// `ragged`
/// (`compressed`), those of full length at equal distances `dense`. Reads the positions of the rows.
Tensor canonical(const Tensor &tensor);

} // namespace tulle::runtime
