// Checks arrays of a file in one pass over each, and borrows them as a tensor's buffers where that pass found
// them in the order that the format promises.
#include "runtime/io/CompressedArrays.h"
#include "runtime/io/Text.h"

namespace tulle::runtime::io {

namespace {

/// Calls `body` with the elements as a span of int32_t or int64_t.
template <typename Body> auto withElements(const Tensor &index, Body body) {
  const size_t count = size_t(index.storedCount());
  if (index.type == ElementType::I32)
    return body(std::span(static_cast<const int32_t *>(index.values()), count));
  return body(std::span(static_cast<const int64_t *>(index.values()), count));
}

class Compressed : NamesFile {
public:
  Compressed(const std::string &file, const CompressedArrays &arrays) : NamesFile{file}, arrays(arrays) {}

  FileContents run() {
    for (unsigned k : {0u, 1u})
      sizes[k] = arrays.dims[arrays.segmentFirst[k]] / arrays.block[arrays.segmentFirst[k]];
    positions = indexTensor(file, arrays.positions);
    coordinates = indexTensor(file, arrays.coordinates);
    checkPositions();
    checkValues();
    if (arrays.segments)
      checkSegments();
    withElements(positions, [&](auto pos) {
      withElements(coordinates, [&](auto crd) { checkCoordinatesOf(pos, crd); });
    });
    return canonical ? FileContents(storedTensor(), arrays.format)
                     : FileContents(unpack(storedTensor()), arrays.format);
  }

private:
  int64_t blockSize() const { return arrays.block[0] * arrays.block[1]; }

  void checkPositions() {
    const std::string &name = arrays.positions.name;
    stored = arrays.segments ? indexTensor(file, *arrays.segments).storedCount() : sizes[0];
    if (positions.storedCount() - 1 != stored)
      fail("'{}' has {} elements, expected {}: one more than there are {}", name, positions.storedCount(),
           stored + 1,
           arrays.segments               ? "elements of '" + arrays.segments->name + "'"
           : arrays.segmentFirst[0] == 0 ? "rows"
                                         : "columns");
    withElements(positions, [&](auto pos) {
      if (pos[0] != 0)
        fail("'{}'[0] is {}, expected 0", name, pos[0]);
      for (size_t k = 1; k < pos.size(); ++k) {
        if (pos[k] < pos[k - 1])
          fail("'{}'[{}] is {}, less than the {} before it; positions must not fall", name, k, pos[k],
               pos[k - 1]);
        canonical = canonical && !(arrays.segments && pos[k] == pos[k - 1]);
      }
      count = int64_t(pos.back());
    });
    if (count > coordinates.storedCount())
      fail("'{}' ends at {}, but '{}' has {} elements", name, count, arrays.coordinates.name,
           coordinates.storedCount());
  }

  void checkValues() {
    const Tensor &values = arrays.values.data;
    if (values.storedCount() / blockSize() < count)
      fail("'{}' has {} elements, but '{}' ends at {}{}", arrays.values.name, values.storedCount(),
           arrays.positions.name, count,
           blockSize() == 1 ? "" : fmt::format(" blocks of {} elements", blockSize()));
  }

  void checkSegments() {
    const std::vector<int64_t> segments = indexList(file, *arrays.segments);
    checkCoordinates(file, arrays.segments->name, segments, sizes[0]);
    for (size_t k = 1; k < segments.size(); ++k)
      canonical = canonical && segments[k] > segments[k - 1];
  }

  template <typename P, typename C> void checkCoordinatesOf(std::span<const P> pos, std::span<const C> crd) {
    for (size_t s = 0; s + 1 < pos.size(); ++s)
      for (int64_t p = pos[s]; p < int64_t(pos[s + 1]); ++p) {
        const int64_t c = crd[size_t(p)];
        if (c < 0 || c >= sizes[1])
          fail("'{}'[{}] is {}, outside 0 to {}", arrays.coordinates.name, p, c, sizes[1] - 1);
        canonical = canonical && (p == int64_t(pos[s]) || int64_t(crd[size_t(p - 1)]) < c);
      }
  }

  /// `used` elements in the width of the layout's field; the file's own buffer where that is the same.
  Buffer field(const Tensor &index, int64_t used, unsigned width) const {
    if (byteWidth(index.type) * 8 == width)
      return Buffer::borrow(index.values(), used, used * width / 8, index.buffers.back().owner);
    return withElements(index, [&](auto from) {
      return indexBuffer(from.first(size_t(used)), width, "an index array of " + file);
    });
  }

  Tensor storedTensor() const {
    const int64_t widest = arrays.segments ? std::max(sizes[0], sizes[1]) : sizes[1];
    Tensor tensor(
        format::resolveWidths(format::parseFormat(arrays.format, 2), widest - 1, std::max(count, stored)),
        arrays.values.data.type, arrays.dims);
    const unsigned posWidth = tensor.encoding->posWidth, crdWidth = tensor.encoding->crdWidth;
    if (arrays.segments) {
      const int64_t ends[] = {0, stored};
      tensor.buffers = {indexBuffer<int64_t>(ends, posWidth, "positions"),
                        field(indexTensor(file, *arrays.segments), stored, crdWidth)};
    }
    tensor.buffers.push_back(field(positions, stored + 1, posWidth));
    tensor.buffers.push_back(field(coordinates, count, crdWidth));
    const Buffer &values = arrays.values.data.buffers.back();
    tensor.buffers.push_back(Buffer::borrow(values.data, count * blockSize(),
                                            count * blockSize() * byteWidth(tensor.type), values.owner));
    return tensor;
  }

  const CompressedArrays &arrays;
  Tensor positions, coordinates;
  int64_t sizes[2] = {}; ///< of the level of segments, and of that of coordinates
  int64_t stored = 0;    ///< segments the positions tell of
  int64_t count = 0;     ///< coordinates in use
  bool canonical = true; ///< strictly ascending everywhere
};

} // namespace

Tensor indexTensor(const std::string &file, const NamedArray &array) {
  const Tensor &data = array.data;
  if (!isInteger(data.type) || data.dims.size() != 1)
    throwFileError(file, "'{}' holds {} in {} dimensions, expected a list of integers", array.name,
                   name(data.type), data.dims.size());
  if (data.type == ElementType::I32 || data.type == ElementType::I64)
    return data;
  Tensor wide = makeDense(ElementType::I32, data.dims, false);
  for (int64_t k = 0; k < data.storedCount(); ++k)
    static_cast<int32_t *>(wide.values())[k] = int32_t(loadScalar(data.type, data.value(k)).i);
  return wide;
}

std::vector<int64_t> indexList(const std::string &file, const NamedArray &array) {
  return withElements(indexTensor(file, array),
                      [](auto elements) { return std::vector<int64_t>(elements.begin(), elements.end()); });
}

void checkCoordinates(const std::string &file, const std::string &name, const std::vector<int64_t> &index,
                      int64_t size) {
  for (size_t k = 0; k < index.size(); ++k)
    if (index[k] < 0 || index[k] >= size)
      throwFileError(file, "'{}'[{}] is {}, outside 0 to {}", name, k, index[k], size - 1);
}

FileContents coordinateContents(const std::string &file, const std::vector<int64_t> &dims,
                                std::vector<NamedArray> coordinates, const NamedArray &values) {
  Entries out{values.data.type, dims, {}, {}};
  for (size_t d = 0; d < dims.size(); ++d) {
    out.coords.push_back(indexList(file, coordinates[d]));
    checkCoordinates(file, coordinates[d].name, out.coords[d], dims[d]);
    if (int64_t(out.coords[d].size()) != values.data.storedCount())
      throwFileError(file, "'{}' has {} elements, but '{}' has {}", coordinates[d].name, out.coords[d].size(),
                     values.name, values.data.storedCount());
  }
  out.values.assign(values.data.value(0), values.data.value(values.data.storedCount()));
  return {std::move(out), "COO"};
}

Scalar mirrored(Symmetry symmetry, const Scalar &value) {
  if (symmetry == Symmetry::Skew)
    return {int64_t(-uint64_t(value.i)), -value.f};
  return {value.i, symmetry == Symmetry::Hermitian ? std::conj(value.f) : value.f};
}

void appendMirrored(Entries &entries, Symmetry symmetry) {
  auto &rows = entries.coords[0], &cols = entries.coords[1];
  const size_t stored = rows.size(), width = byteWidth(entries.type);
  size_t next = stored;
  for (size_t k = 0; k < stored; ++k)
    next += rows[k] != cols[k];
  rows.resize(next);
  cols.resize(next);
  entries.values.resize(next * width);
  std::byte *values = entries.values.data();
  next = stored;
  for (size_t k = 0; k < stored; ++k) {
    if (rows[k] == cols[k])
      continue;
    const Scalar value = loadScalar(entries.type, values + k * width);
    storeScalar(entries.type, values + next * width, mirrored(symmetry, value));
    rows[next] = cols[k];
    cols[next++] = rows[k];
  }
}

FileContents compressedContents(const std::string &file, const CompressedArrays &arrays) {
  return Compressed(file, arrays).run();
}

} // namespace tulle::runtime::io
