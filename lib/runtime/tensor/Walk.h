// The one traversal of stored positions, for every format.
#pragma once
#include "runtime/tensor/Levels.h"

namespace tulle::runtime {

/// Visits every stored slot in storage order as f(dimension coordinates, value position), block padding
/// included when `padding`. The tensor must be valid.
template <class F> class Walker {
public:
  Walker(const Tensor &tensor, bool padding, F f)
      : shapes(levelShapes(tensor.encoding, tensor.dims)), dims(tensor.dims), coords(tensor.dims.size(), 0),
        padding(padding), slots(tensor.storedCount()), f(std::move(f)) {
    for (unsigned l = 0; l < shapes.size(); ++l)
      fields.push_back(levelFields(tensor, l));
    batchLevels = batches(shapes).levels;
  }

  void run() {
    if (slots > 0) // an empty dimension may lie below a huge dense one
      descend(0, 0, 0);
  }

private:
  void descend(unsigned l, int64_t parent, int64_t batch) {
    if (l == shapes.size())
      return visit(parent);
    const LevelShape &s = shapes[l];
    const LevelFields &field = fields[l];
    switch (s.kind) {
    case format::LevelKind::Compressed:
      return stored(l, field.position(parent + batch), field.position(parent + batch + 1), batch);
    case format::LevelKind::LooseCompressed:
      return stored(l, field.position(2 * parent), field.position(2 * parent + 1), batch);
    case format::LevelKind::Singleton:
      return stored(l, parent, parent + 1, batch);
    case format::LevelKind::Structured:
      return stored(l, parent * s.n, parent * s.n + s.n, batch);
    default:
      break;
    }
    int64_t &c = coords[s.digit.dim];
    const int64_t saved = c;
    for (int64_t i = 0; i < s.size; ++i) {
      c = saved + i * s.digit.stride;
      if (c >= dims[s.digit.dim] && !padding)
        break; // later coordinates only grow
      descend(l + 1, parent * s.size + i, l < batchLevels ? batch * s.size + i : batch);
    }
    c = saved;
  }

  void stored(unsigned l, int64_t begin, int64_t end, int64_t batch) {
    int64_t &c = coords[shapes[l].digit.dim];
    const int64_t saved = c, stride = shapes[l].digit.stride;
    const bool last = l + 1 == shapes.size();
    for (int64_t p = begin; p < end; ++p) {
      c = saved + fields[l].coordinate(p) * stride;
      last ? visit(p) : descend(l + 1, p, batch);
    }
    c = saved;
  }

  void visit(int64_t position) {
    if (!padding)
      for (size_t d = 0; d < dims.size(); ++d)
        if (coords[d] >= dims[d])
          return;
    f(coords, position);
  }

  std::vector<LevelShape> shapes;
  std::vector<LevelFields> fields;
  const std::vector<int64_t> &dims;
  std::vector<int64_t> coords;
  unsigned batchLevels = 0;
  bool padding;
  int64_t slots;
  F f;
};

template <class F> void walk(const Tensor &tensor, bool padding, F f) {
  Walker<F>(tensor, padding, std::move(f)).run();
}

} // namespace tulle::runtime
