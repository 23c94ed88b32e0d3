// Assembly of a tensor from entries, level by level. See Layout.h for the meaning of the buffers.
#include "runtime/tensor/Decode.h"
#include "runtime/tensor/Memory.h"
#include "runtime/tensor/Order.h"
#include "runtime/tensor/Sum.h"
#include "tulle/error.h"
#include <fmt/format.h>

namespace tulle::runtime {

using format::LevelKind;

namespace {

/// The level formats that this file assembles; conversions generate the code for all others.
std::vector<LevelShape> packable(const format::Encoding &encoding, const std::vector<int64_t> &dims) {
  std::vector<LevelShape> shapes = levelShapes(encoding, dims);
  for (const LevelShape &s : shapes)
    if (s.kind > LevelKind::Structured || s.padded || !s.ordered || !format::digits(encoding))
      throw Error(fmt::format("entries are not packed into {} at once: store them as COO, then convert",
                              format::displayName(encoding)));
  return shapes;
}

class Packer {
public:
  Packer(const Entries &entries, const format::Encoding &encoding)
      : entries(entries), shapes(packable(encoding, entries.dims)), ordered(check(entries), shapes),
        count(ordered.count()), first(ordered.firstDifference()) {
    tensor.type = entries.type;
    tensor.dims = entries.dims;
    label = fmt::format("the {} tensor in format {}", shapeText(tensor.dims), format::displayName(encoding));
    batch = batches(shapes);
    tensor.encoding = encoding;
    countNodes();
    for (unsigned l = 0; l < shapes.size(); ++l)
      if (shapes[l].kind == LevelKind::Structured)
        checkGroups(l);
    plan(encoding);
    checkCoordinateWidths();
  }

  Tensor run() {
    for (unsigned l = 0; l < shapes.size(); ++l)
      assemble(l);
    storeValues();
    return std::move(tensor);
  }

private:
  static const Entries &check(const Entries &entries);
  const std::string &what() const { return label; }
  void countNodes();
  void plan(const format::Encoding &encoding);
  void checkCoordinateWidths() const;

  void assemble(unsigned l);
  void dense(unsigned l);
  void compressed(unsigned l);
  void loose(unsigned l);
  void structured(unsigned l);
  void checkGroups(unsigned l) const;
  [[noreturn]] void refuseGroup(unsigned l, const std::vector<int64_t> &coords, int64_t has) const;
  void padGroups(unsigned l, int64_t from, int64_t to);
  template <class OnNode> void numberNodes(unsigned l, OnNode onNode);
  template <class T> void storeCoordinates(unsigned l);
  void storeValues();

  /// Position of entry `e` at the level reached.
  int64_t at(int64_t e) const {
    switch (positions) {
    case Positions::Root:
      return 0;
    case Positions::LevelZero: // below a dense level 0: its coordinate
      return ordered.coordinate(0, e);
    case Positions::Entry: // every entry has its own
      return e;
    default:
      return static_cast<const int64_t *>(memory.data)[e];
    }
  }
  /// Stores next(e), which may use at(e) and what follows, as the position of every entry.
  template <class Next> void remember(Next next) {
    if (!memory.data)
      memory = Buffer::allocate(count, count * 8, false, what());
    auto *out = static_cast<int64_t *>(memory.data);
    for (int64_t e = 0; e < count; ++e)
      out[e] = next(e);
    positions = Positions::Memory;
  }

  /// Entry `e` starts a new position at level l.
  bool starts(unsigned l, int64_t e) const { return first[e] <= shapes[l].runEnd; }
  int64_t batchOf(int64_t e) const {
    int64_t b = 0;
    for (unsigned l = 0; l < batch.levels; ++l)
      b = b * shapes[l].size + ordered.coordinate(l, e);
    return b;
  }

  const Entries &entries;
  std::vector<LevelShape> shapes;
  OrderedEntries ordered;
  int64_t count;
  const uint8_t *first;
  Tensor tensor;
  std::string label; ///< what is stored, for errors about memory
  Batches batch;
  std::vector<int64_t> nodes; ///< per level: positions a compressed level at it has
  /// Where the entries' positions at the level reached are; most formats never need them in memory.
  enum class Positions { Root, LevelZero, Entry, Memory } positions = Positions::Root;
  Buffer memory;
  int64_t parents = 1; ///< number of positions at the level reached
};

const Entries &Packer::check(const Entries &entries) {
  if (entries.coords.size() != entries.dims.size())
    throw Error(fmt::format("entries have coordinates for {} dimensions, their tensor has {}",
                            entries.coords.size(), entries.dims.size()));
  for (size_t d = 0; d < entries.coords.size(); ++d)
    if (entries.coords[d].size() != entries.coords[0].size())
      throw Error(fmt::format("entries have {} coordinates for dimension 0 and {} for dimension {}",
                              entries.coords[0].size(), entries.coords[d].size(), d));
  if (entries.values.size() != size_t(entries.count()) * byteWidth(entries.type))
    throw Error(fmt::format("{} entries of type {} need {} bytes of values, got {}", entries.count(),
                            name(entries.type), entries.count() * byteWidth(entries.type),
                            entries.values.size()));
  return entries;
}

void Packer::countNodes() {
  std::vector<int64_t> histogram(shapes.size() + 1, 0);
  for (int64_t e = 0; e < count; ++e)
    ++histogram[first[e]];
  nodes.resize(shapes.size());
  for (unsigned l = 0; l < shapes.size(); ++l)
    for (unsigned d = 0; d <= shapes[l].runEnd; ++d)
      nodes[l] += histogram[d];
}

/// Chooses widths, computes the size of every buffer, and compares the sum with the memory there is.
void Packer::plan(const format::Encoding &encoding) {
  int64_t maxCoordinate = 0, maxPosition = 0;
  for (unsigned l = 0; l < shapes.size(); ++l) {
    if (!shapes[l].full())
      maxCoordinate = std::max(maxCoordinate, shapes[l].size - 1);
    if (shapes[l].kind == LevelKind::Compressed || shapes[l].kind == LevelKind::LooseCompressed)
      maxPosition = std::max(maxPosition, nodes[l]);
  }
  tensor.encoding = format::resolveWidths(encoding, maxCoordinate, maxPosition);
  tensor.layout = format::layout(tensor.encoding);
  tensor.buffers.resize(tensor.layout.fields.size());
  std::vector<int64_t> counts(tensor.layout.fields.size(), 0);
  int64_t size = 1;
  for (unsigned l = 0; l < shapes.size(); ++l) {
    const LevelShape &s = shapes[l];
    int64_t before = size;
    if (s.full())
      size = checkedMul(size, s.size, what());
    else if (s.kind == LevelKind::Structured)
      size = checkedMul(size, s.n, what());
    else if (s.kind != LevelKind::Singleton)
      size = nodes[l];
    if (auto field = tensor.layout.positions[l]) {
      counts[*field] = s.kind == LevelKind::LooseCompressed ? checkedMul(before, 2, what())
                                                            : checkedAdd(before, batch.count, what());
      unsigned width = tensor.layout.fields[*field].width;
      if (uint64_t(nodes[l]) > widthLimit(width))
        throw Error(fmt::format(
            "{}: position {} does not fit posWidth = {} (largest {}); use a wider posWidth, or 0 to "
            "let it be chosen",
            s.text, nodes[l], width, widthLimit(width)));
    }
    if (auto ref = tensor.layout.coordinates[l])
      counts[ref->field] = checkedMul(size, ref->stride, what());
  }
  counts.back() = size;
  int64_t total = 0;
  for (size_t f = 0; f < counts.size(); ++f) {
    int64_t bytes = f + 1 == counts.size() ? checkedMul(size, byteWidth(tensor.type), what())
                                           : fieldBytes(counts[f], tensor.layout.fields[f].width, what());
    tensor.buffers[f] = {nullptr, nullptr, counts[f], bytes};
    total = checkedAdd(total, bytes, what());
  }
  requireMemory(total, what());
  for (size_t f = 0; f < counts.size(); ++f) {
    bool packed = tensor.layout.fields[f].width == 2; // written bit by bit
    tensor.buffers[f] = Buffer::allocate(counts[f], tensor.buffers[f].bytes, packed, what());
  }
}

void Packer::checkCoordinateWidths() const {
  for (unsigned l = 0; l < shapes.size(); ++l) {
    auto ref = tensor.layout.coordinates[l];
    if (!ref)
      continue;
    unsigned width = tensor.layout.fields[ref->field].width;
    uint64_t limit = widthLimit(width);
    if (uint64_t(std::max<int64_t>(shapes[l].size, 1) - 1) <= limit)
      continue;
    int64_t largest = 0;
    for (int64_t e = 0; e < count; ++e)
      largest = std::max(largest, ordered.coordinate(l, e));
    if (uint64_t(largest) > limit)
      throw Error(fmt::format(
          "{}: coordinate {} does not fit crdWidth = {} (largest {}); use a wider crdWidth, or 0 to "
          "let it be chosen",
          shapes[l].text, largest, width, limit));
  }
}

void Packer::assemble(unsigned l) {
  switch (shapes[l].kind) {
  case LevelKind::Compressed:
    compressed(l);
    break;
  case LevelKind::LooseCompressed:
    loose(l);
    break;
  case LevelKind::Singleton: // its positions are those of the level that starts its run
    break;
  case LevelKind::Structured:
    structured(l);
    break;
  default: // dense, batch; levelShapes refuses what cannot hold data
    dense(l);
    return;
  }
  const format::CoordinateRef &ref = *tensor.layout.coordinates[l];
  unsigned width = tensor.layout.fields[ref.field].width;
  if (width == 2) {
    auto *out = static_cast<uint8_t *>(tensor.buffers[ref.field].data);
    for (int64_t e = 0; e < count; ++e) {
      int64_t i = at(e) * ref.stride + ref.offset;
      out[i >> 2] |= ordered.coordinate(l, e) << ((i & 3) * 2);
    }
  } else {
    withWidth(width, [&](auto zero) { storeCoordinates<decltype(zero)>(l); });
  }
}

template <class T> void Packer::storeCoordinates(unsigned l) {
  const format::CoordinateRef ref = *tensor.layout.coordinates[l];
  auto *out = static_cast<T *>(tensor.buffers[ref.field].data) + ref.offset;
  if (ref.stride == 1)
    for (int64_t e = 0; e < count; ++e)
      out[at(e)] = T(ordered.coordinate(l, e));
  else
    for (int64_t e = 0; e < count; ++e)
      out[at(e) * ref.stride] = T(ordered.coordinate(l, e));
}

void Packer::dense(unsigned l) {
  const int64_t size = shapes[l].size;
  if (l == 0)
    positions = Positions::LevelZero;
  else
    remember([&](int64_t e) { return at(e) * size + ordered.coordinate(l, e); });
  parents *= size;
}

/// Replaces every entry's position by the running number of its node; onNode(e, number) sees each node's
/// first entry while at(e) still is the parent's position.
template <class OnNode> void Packer::numberNodes(unsigned l, OnNode onNode) {
  if (nodes[l] == count) {
    for (int64_t e = 0; e < count; ++e)
      onNode(e, e);
    positions = Positions::Entry;
  } else {
    int64_t number = -1;
    remember([&](int64_t e) {
      if (starts(l, e))
        onNode(e, ++number);
      return number;
    });
  }
  parents = nodes[l];
}

void Packer::compressed(unsigned l) {
  const Buffer &field = tensor.buffers[*tensor.layout.positions[l]];
  withWidth(tensor.layout.fields[*tensor.layout.positions[l]].width, [&](auto zero) {
    using T = decltype(zero);
    T *pos = static_cast<T *>(field.data);
    int64_t done = -1; // pos[0..done] are written
    numberNodes(l, [&](int64_t e, int64_t number) {
      // Each batch has one entry more than it has parents, so its number shifts the index.
      int64_t segment = at(e) + (batch.count > 1 ? batchOf(e) : 0);
      while (done < segment)
        pos[++done] = T(number);
    });
    while (done < field.count - 1)
      pos[++done] = T(nodes[l]);
  });
}

void Packer::loose(unsigned l) {
  const Buffer &field = tensor.buffers[*tensor.layout.positions[l]];
  withWidth(tensor.layout.fields[*tensor.layout.positions[l]].width, [&](auto zero) {
    using T = decltype(zero);
    T *pos = static_cast<T *>(field.data);
    int64_t done = -1; // pos[0..done] are written
    numberNodes(l, [&](int64_t e, int64_t number) {
      while (done < 2 * at(e))
        pos[++done] = T(number);
    });
    while (done < field.count - 1)
      pos[++done] = T(nodes[l]);
  });
}

void Packer::refuseGroup(unsigned l, const std::vector<int64_t> &coords, int64_t has) const {
  const LevelShape &s = shapes[l];
  throw Error(
      fmt::format("{}: group {} has {} entr{}, structured[{},{}] needs exactly {}; use compressed instead",
                  s.text, placeText(tensor, shapes, coords), has, has == 1 ? "y" : "ies", s.n, s.m, s.n));
}

/// Every group that has entries has n different ones. This comes before any memory is asked for: data that is
/// not structured at all needs far more than it should, and deserves the better error.
void Packer::checkGroups(unsigned l) const {
  const int64_t n = shapes[l].n;
  int64_t groups =
      1; // where only dense levels lie above, their number is known, and groups without entries show
  bool numbered = true;
  for (unsigned k = 0; k < l; ++k)
    numbered &= shapes[k].full() && !__builtin_mul_overflow(groups, shapes[k].size, &groups);
  auto refuseMissing = [&](int64_t group) {
    std::vector<int64_t> coords = decodeParent(tensor, shapes, l, group);
    if (!beyondTensor(tensor, shapes, coords))
      refuseGroup(l, coords, 0);
  };
  int64_t next = 0;
  for (int64_t e = 0; e < count;) {
    std::vector<int64_t> coords(l);
    int64_t group = 0, has = 1;
    for (unsigned k = 0; k < l; ++k) {
      coords[k] = ordered.coordinate(k, e);
      group = numbered ? group * shapes[k].size + coords[k] : 0;
    }
    if (numbered && group > next)
      refuseMissing(next);
    next = group + 1;
    for (++e; e < count && first[e] >= l; ++e)
      has += starts(l, e);
    if (has != n)
      refuseGroup(l, coords, has);
  }
  if (numbered && next < groups)
    refuseMissing(next);
}

/// Groups without entries are only right where block padding put them outside the tensor; those get
/// coordinates 0..n-1.
void Packer::padGroups(unsigned l, int64_t from, int64_t to) {
  const LevelShape &s = shapes[l];
  const format::CoordinateRef ref = *tensor.layout.coordinates[l];
  unsigned width = tensor.layout.fields[ref.field].width;
  for (int64_t group = from; group < to; ++group) {
    std::vector<int64_t> coords = decodeParent(tensor, shapes, l, group);
    if (!beyondTensor(tensor, shapes, coords))
      refuseGroup(l, coords, 0);
    for (int64_t k = 0; k < s.n; ++k)
      storeIndex(tensor.buffers[ref.field].data, width, group * s.n + k, k);
  }
}

void Packer::structured(unsigned l) {
  const LevelShape &s = shapes[l];
  int64_t parent = -1, slot = -1;
  remember([&](int64_t e) {
    if (int64_t group = at(e); group != parent) {
      padGroups(l, parent + 1, group);
      parent = group;
      slot = -1;
    }
    slot += starts(l, e);
    return parent * s.n + slot;
  });
  padGroups(l, parent + 1, parents);
  parents *= s.n;
}

void Packer::storeValues() {
  const int64_t width = byteWidth(tensor.type);
  auto *out = static_cast<std::byte *>(tensor.values());
  bool duplicates = false;
  for (int64_t e = 0; e < count && !duplicates; ++e)
    duplicates = first[e] == shapes.size() && (e > 0 || shapes.empty());
  const bool everySlot = parents == count && !duplicates;
  if (positions == Positions::Entry && everySlot && ordered.isIdentity() && count > 0) {
    std::memcpy(out, entries.values.data(), count * width);
    return;
  }
  if (!everySlot)
    fillBuffer(out, parents, fillBytes(tensor.encoding, tensor.type));
  scatterValues(
      tensor.type, out, everySlot ? Scatter::Assign : Scatter::Sum, fillBytes(tensor.encoding, tensor.type),
      entries.values.data(), count, [&](int64_t e) { return at(e); },
      [&](int64_t e) { return ordered.source(e); });
}

} // namespace

Tensor pack(const Entries &entries, const format::Encoding &encoding) {
  return Packer(entries, encoding).run();
}

} // namespace tulle::runtime
