// From a position back to where it lies in the tensor: for errors, and for padding.
#pragma once
#include "runtime/tensor/Levels.h"

namespace tulle::runtime {

/// Coordinates of the levels above `level` for the position `parent` they lead to. The buffers of those
/// levels must be filled; dense and batch levels have none.
std::vector<int64_t> decodeParent(const Tensor &tensor, const std::vector<LevelShape> &shapes, unsigned level,
                                  int64_t parent);

/// `(i = 3, j = 4..7)`: what coordinates of the first levels say about each dimension.
std::string placeText(const Tensor &tensor, const std::vector<LevelShape> &shapes,
                      const std::vector<int64_t> &coords);

/// Everything below coordinates of the first levels lies outside the tensor (block padding).
bool beyondTensor(const Tensor &tensor, const std::vector<LevelShape> &shapes,
                  const std::vector<int64_t> &coords);

} // namespace tulle::runtime
