#include "runtime/picture/Tree.h"
#include "runtime/tensor/Walk.h"
#include "support/Errors.h"
#include <cmath>
#include <fmt/printf.h>

namespace tulle::runtime {

static std::string valueText(ElementType type, const std::byte *value) {
  const Scalar v = loadScalar(type, value);
  if (isComplex(type))
    return fmt::sprintf("%.2g%+.2gi", v.f.real(), v.f.imag());
  return isFloat(type) ? fmt::sprintf("%.3g", v.f.real()) : std::to_string(v.i);
}

namespace {

/// Collects nodes as the walk enters them.
struct Collect {
  StorageTree &tree;
  const Tensor &tensor;
  const StoredValues &values;
  const std::vector<std::byte> fill;

  void enter(unsigned level, int64_t coordinate) {
    const size_t parent = level ? tree.levels[level - 1].size() - 1 : 0;
    tree.levels[level].push_back({std::to_string(coordinate), parent});
  }
  void operator()(const std::vector<int64_t> &coords, int64_t position) {
    bool padding = std::memcmp(values[position], fill.data(), fill.size()) == 0;
    for (size_t d = 0; d < coords.size(); ++d)
      padding |= coords[d] < 0 || coords[d] >= tensor.dims[d];
    auto &leaves = tree.levels.back();
    const size_t above = tree.levels.size() - 2;
    leaves.push_back({valueText(tensor.type, values[position]), tree.levels[above].size() - 1, 0, padding});
  }
};

} // namespace

/// Leaves and childless nodes stand side by side, in the order of the walk; others above the middle of
/// theirs.
static void layOut(StorageTree &tree) {
  std::vector<std::vector<std::vector<size_t>>> children(tree.levels.size());
  for (size_t l = 0; l < tree.levels.size(); ++l)
    children[l].resize(tree.levels[l].size());
  for (size_t l = 1; l < tree.levels.size(); ++l)
    for (size_t n = 0; n < tree.levels[l].size(); ++n)
      children[l - 1][tree.levels[l][n].parent].push_back(n);
  auto place = [&](auto &self, size_t l, size_t n) -> double {
    StorageTree::Node &node = tree.levels[l][n];
    if (children[l][n].empty())
      return node.at = double(tree.width++);
    double first = 0, last = 0;
    for (size_t child : children[l][n]) {
      last = self(self, l + 1, child);
      if (child == children[l][n].front())
        first = last;
    }
    return node.at = (first + last) / 2;
  };
  for (size_t n = 0; n < tree.levels[0].size(); ++n)
    place(place, 0, n);
}

std::optional<StorageTree> storageTree(const Tensor &tensor) {
  constexpr int64_t most = 48;
  const std::vector<LevelShape> shapes = levelShapes(tensor);
  for (unsigned l = 0; l <= shapes.size(); ++l)
    if (shapes.empty() || batchStarts(tensor, shapes, l).back() > most)
      return std::nullopt;
  StorageTree tree;
  tree.levels.resize(shapes.size() + 1);
  const StoredValues values(tensor);
  Walker<Collect>(tensor, true, Collect{tree, tensor, values, fillBytes(tensor.encoding, tensor.type)}).run();
  layOut(tree);
  return tree;
}

} // namespace tulle::runtime
