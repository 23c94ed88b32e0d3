// The tree of coordinates that a format stores, laid out for drawing.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <string>

namespace tulle::runtime {

struct StorageTree {
  struct Node {
    std::string text;
    size_t parent = 0; ///< in the level above
    double at = 0;     ///< columns from the left
    bool isPadding = false;
  };
  std::vector<std::vector<Node>> levels; ///< level by level, values last
  size_t width = 0;                      ///< columns
};

/// Nothing for tensors whose tree is too large to be read.
std::optional<StorageTree> storageTree(const Tensor &tensor);

} // namespace tulle::runtime
