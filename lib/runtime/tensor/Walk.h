// The one traversal of stored positions, for every format.
#pragma once
#include "runtime/tensor/DeclaredLevel.h"

namespace tulle::runtime {

/// Visits every stored slot in storage order as f(dimension coordinates, value position), those of block
/// padding included when `padding`; empty slots hold nothing and are left out. Where f has a member
/// `enter(level, coordinate)`, it is called for each coordinate on the way. The tensor must be valid.
template <class F> class Walker {
public:
  Walker(const Tensor &tensor, bool padding, F f)
      : tensor(tensor), shapes(levelShapes(tensor)), dims(tensor.dims), coords(tensor.dims.size(), 0),
        levelCoords(shapes.size(), 0), padding(padding), slots(tensor.storedCount()), f(std::move(f)) {
    isDigits = format::digits(tensor.encoding).has_value();
    if (!isDigits)
      inverse = *format::inverseMap(tensor.encoding);
    for (unsigned l = 0; l < shapes.size(); ++l) {
      fields.push_back(levelFields(tensor, l));
      bool offset = shapes[l].kind == format::LevelKind::Offset;
      offsets.push_back(offset ? format::offsetCoordinate(tensor.encoding, l) : nullptr);
      if (tensor.layout().permutation[l])
        permutation = static_cast<const int64_t *>(tensor.buffers[*tensor.layout().permutation[l]].data);
    }
    batchLevels = batches(shapes).levels;
  }

  void run() {
    if (slots > 0) // an empty dimension may lie below a huge dense one
      descend(0, 0, 0);
  }

private:
  using K = format::LevelKind;

  void descend(unsigned l, int64_t parent, int64_t batch) {
    if (l == shapes.size())
      return visit(parent);
    const LevelShape &s = shapes[l];
    const LevelFields &field = fields[l];
    auto stored = [&](int64_t p) { return field.coordinate(p); };
    auto implied = [&](int64_t first) { return [first](int64_t p) { return p - first; }; };
    switch (s.kind) {
    case K::Compressed:
      return each(l, field.position(parent + batch), field.position(parent + batch + 1), batch, stored);
    case K::LooseCompressed:
      return each(l, field.position(2 * parent), field.position(2 * parent + 1), batch, stored);
    case K::Singleton:
      return each(l, parent, parent + 1, batch, stored);
    case K::Structured:
    case K::Fixed:
      return each(l, parent * s.n, parent * s.n + s.n, batch, stored);
    case K::Hashed:
      return each(l, field.position(parent), field.position(parent + 1), batch, stored);
    case K::Ragged: {
      int64_t begin = field.position(parent);
      return each(l, begin, field.position(parent + 1), batch, implied(begin));
    }
    case K::Jagged: {
      int64_t begin = field.position(2 * parent);
      return each(l, begin, field.position(2 * parent + 1), batch, implied(begin));
    }
    case K::Banded: {
      int64_t begin = field.position(parent);
      return each(l, begin, field.position(parent + 1), batch, implied(begin - field.coordinate(parent)));
    }
    case K::Squeezed: {
      int64_t begin = parent * s.n;
      return each(l, begin, begin + s.n, batch, [&](int64_t p) { return field.coordinate(p - begin); });
    }
    case K::Offset: {
      format::Bindings none;
      int64_t c = *format::evaluate(offsets[l], {}, levelCoords, none);
      if (s.contains(c))
        each(l, parent, parent + 1, batch, [c](int64_t) { return c; });
      return;
    }
    case K::Bitmap:
      return each(l, parent * s.size, parent * s.size + s.size, batch, implied(parent * s.size));
    case K::Declared: {
      const DeclaredLevel level(s, field);
      const auto [begin, end] = level.positions(parent);
      return each(l, begin, end, batch, [&](int64_t p) { return level.coordinate(parent, p); });
    }
    case K::Dense:
    case K::Batch:
      return full(l, parent, batch);
    }
  }

  void full(unsigned l, int64_t parent, int64_t batch) {
    const LevelShape &s = shapes[l];
    int64_t *c = isDigits ? &coords[s.digit.dim] : nullptr;
    const int64_t saved = c ? *c : 0;
    for (int64_t i = 0; i < s.size; ++i) {
      if (c) {
        *c = saved + i * s.digit.stride;
        if (*c >= dims[s.digit.dim] && !padding)
          break; // later coordinates only grow
      }
      levelCoords[l] = i;
      entered(l);
      descend(l + 1, parent * s.size + i, l < batchLevels ? batch * s.size + i : batch);
    }
    if (c)
      *c = saved;
  }

  void entered(unsigned l) {
    if constexpr (requires { f.enter(l, levelCoords[l]); })
      f.enter(l, levelCoords[l]);
  }

  bool isEmpty(unsigned l, int64_t p) const {
    if (shapes[l].kind == K::Bitmap)
      return !fields[l].bit(p);
    return shapes[l].marksEmpty() && fields[l].empty(p);
  }

  template <class Coordinate>
  void each(unsigned l, int64_t begin, int64_t end, int64_t batch, Coordinate coordinate) {
    int64_t *c = isDigits ? &coords[shapes[l].digit.dim] : nullptr;
    const int64_t saved = c ? *c : 0, stride = shapes[l].digit.stride;
    const bool last = l + 1 == shapes.size();
    for (int64_t p = begin; p < end; ++p) {
      if (isEmpty(l, p))
        continue;
      levelCoords[l] = coordinate(p);
      entered(l);
      if (c)
        *c = saved + levelCoords[l] * stride;
      last ? visit(p) : descend(l + 1, p, batch);
    }
    if (c)
      *c = saved;
  }

  /// The dimension's coordinate by the inverse map; that of a missing rank lies beyond the end.
  int64_t invert(unsigned d) const {
    format::Bindings none;
    bool ranked = inverse[d]->kind == format::ExprKind::Unrank;
    int64_t c = *format::evaluate(ranked ? inverse[d]->lhs : inverse[d], {}, levelCoords, none);
    return ranked && c >= 0 && c < dims[d] ? permutation[c] : c;
  }

  void visit(int64_t position) {
    for (unsigned d = 0; !isDigits && d < dims.size(); ++d)
      coords[d] = invert(d);
    if (!padding)
      for (size_t d = 0; d < dims.size(); ++d)
        if (coords[d] < 0 || coords[d] >= dims[d])
          return;
    f(coords, position);
  }

  const Tensor &tensor;
  std::vector<LevelShape> shapes;
  std::vector<LevelFields> fields;
  std::vector<format::Expr> inverse, offsets;
  const int64_t *permutation = nullptr;
  const std::vector<int64_t> &dims;
  std::vector<int64_t> coords, levelCoords; ///< per dimension, per level
  unsigned batchLevels = 0;
  bool padding, isDigits = true;
  int64_t slots;
  F f;
};

/// Of a slice, only the slots at its coordinates.
template <class F> void walk(const Tensor &tensor, bool padding, F f) {
  if (tensor.wholeDims.empty())
    return Walker<F>(tensor, padding, std::move(f)).run();
  const Tensor all = whole(tensor);
  std::vector<int64_t> own;
  auto inside = [&](const std::vector<int64_t> &coords, int64_t position) {
    own = coords;
    if (toSlice(tensor, own))
      f(own, position);
  };
  Walker<decltype(inside)>(all, false, inside).run();
}

} // namespace tulle::runtime
