// From a position back to where it lies in the tensor: for errors, and for padding.
#pragma once
#include "runtime/tensor/Levels.h"

namespace tulle::runtime {

/// Coordinates of the levels above `level` for the position `parent` they lead to; their buffers must be
/// filled.
std::vector<int64_t> decodeParent(const Tensor &tensor, const std::vector<LevelShape> &shapes, unsigned level,
                                  int64_t parent);

/// `(i = 3, j = 4..7)`: what the levels above `level` say about each dimension.
std::string placeText(const Tensor &tensor, const std::vector<LevelShape> &shapes, unsigned level,
                      int64_t parent);

/// Everything below that parent lies outside the tensor (block padding).
bool beyondTensor(const Tensor &tensor, const std::vector<LevelShape> &shapes, unsigned level,
                  int64_t parent);

} // namespace tulle::runtime
