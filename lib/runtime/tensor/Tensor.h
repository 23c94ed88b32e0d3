// A tensor in memory: its format and its buffers, owned or borrowed.
#pragma once
#include "format/Layout.h"
#include "support/ElementType.h"
#include <algorithm>
#include <functional>
#include <memory>
#include <span>

namespace tulle::runtime {

/// A block of memory: owned through `owner`, or borrowed from the user (owner keeps nothing, or the user's
/// handle).
struct Buffer {
  std::shared_ptr<void> owner;
  void *data = nullptr;
  int64_t count = 0; ///< elements (2-bit coordinates: of packed entries)
  int64_t bytes = 0;
  bool own = false;     ///< only tensors reach this memory, so that those that hold the same can share it
  bool isApart = false; ///< several allocations, from the lowest address on; `bytes` are theirs

  /// 64-byte aligned, uninitialized or zeroed. Throws Error ("out of memory: … needs N bytes") instead of
  /// bad_alloc.
  static Buffer allocate(int64_t count, int64_t bytes, bool zeroed, std::string_view what);
  /// The same, where the text takes longer than the allocation.
  static Buffer allocate(int64_t count, int64_t bytes, bool zeroed, const std::function<std::string()> &what);
  static Buffer copyOf(const void *data, int64_t count, int64_t bytes, std::string_view what);
  static Buffer copyOf(const Buffer &buffer, std::string_view what) {
    return copyOf(buffer.data, buffer.count, buffer.bytes, what);
  }
  static Buffer borrow(void *data, int64_t count, int64_t bytes, std::shared_ptr<void> keepAlive = {});
};

/// An encoding that copies of a tensor have in common, with its layout: a call of a kernel makes several, and
/// the two have nine lists.
class SharedEncoding {
public:
  SharedEncoding(); ///< of no dimension
  SharedEncoding(format::Encoding encoding);

  const format::Encoding *operator->() const { return &held->encoding; }
  const format::Encoding &operator*() const { return held->encoding; }
  operator const format::Encoding &() const { return held->encoding; }
  const format::Layout &layout() const { return held->layout; }
  bool operator==(const format::Encoding &other) const {
    return &held->encoding == &other || held->encoding == other;
  }
  bool operator==(const SharedEncoding &other) const { return *this == *other; }

private:
  struct Parts {
    format::Encoding encoding;
    format::Layout layout;
  };
  std::shared_ptr<const Parts> held;
};

/// A tensor of any format. Copies share buffers. Dense tensors are encodings with dense levels only.
struct Tensor {
  Tensor() = default;
  /// Without its buffers; the encoding's widths are resolved.
  Tensor(SharedEncoding encoding, ElementType type, std::vector<int64_t> dims)
      : encoding(std::move(encoding)), type(type), dims(std::move(dims)) {}

  SharedEncoding encoding; ///< widths resolved
  ElementType type = ElementType::F64;
  std::vector<int64_t> dims;      ///< size of each dimension, of a slice those of the slice
  std::vector<int64_t> wholeDims; ///< of a slice: the sizes of the tensor that was cut; else empty
  std::vector<Buffer> buffers;    ///< one per field of the layout
  /// Where its rows are parts of others' (Views.h), the value slots of all rows together. They may overlap,
  /// or lie in several allocations, so that only what levels lead to may be read, and nothing is written.
  /// Whoever needs more makes `engine::compact` of it.
  std::optional<int64_t> pickedSlots;

  const format::Layout &layout() const { return encoding.layout(); }
  /// Null where the format has `explicitVal`: StoredValues reads the values of any tensor.
  void *values() const { return buffers.back().data; }
  std::byte *value(int64_t position) const {
    return static_cast<std::byte *>(values()) + position * byteWidth(type);
  }
  /// Number of value slots (stored entries, block padding included); where rows are picked, up to the last
  /// one.
  int64_t storedCount() const { return buffers.back().count; }
  /// No fewer than there are in all rows, each of which may be picked several times.
  int64_t mostSlots() const { return std::max(storedCount(), pickedSlots.value_or(0)); }
  int64_t bytes() const; ///< of all buffers
};

/// The values of a tensor by position, those its format has instead of a buffer included.
class StoredValues {
public:
  explicit StoredValues(const Tensor &tensor);
  StoredValues(const StoredValues &) = delete;
  const std::byte *operator[](int64_t position) const { return first + position * step; }

private:
  std::byte same[16] = {};
  const std::byte *first;
  int64_t step; ///< bytes
};

/// The tensor with a buffer of values: itself where it has one.
Tensor withStoredValues(const Tensor &tensor);
/// The tensor, whose values are stored, in the encoding that has `explicitVal` instead: it shares the other
/// buffers. Throws Error naming an entry that has another value.
Tensor withExplicitValue(const Tensor &tensor, const format::Encoding &encoding);

/// Coordinates and values, dimension by dimension: what files and generators produce, in any order.
struct Entries {
  ElementType type = ElementType::F64;
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> coords; ///< [dimension][entry], 0-based
  std::vector<std::byte> values;            ///< count() * byteWidth(type)
  int64_t count() const {
    return coords.empty() ? int64_t(values.size() / byteWidth(type)) : int64_t(coords[0].size());
  }
};

/// Entries (of at least one dimension) as a tensor of a coordinate format over their own arrays: 64-bit
/// coordinates, nonunique, and ordered by dimensions or by dimensions in reverse only where they are. Throws
/// Error for coordinates outside their dimension and arrays of different lengths.
Tensor borrowEntries(std::shared_ptr<const Entries> entries);

/// A dense tensor over `dims` in row-major order, all elements zero or uninitialized.
Tensor makeDense(ElementType type, std::vector<int64_t> dims, bool zeroed = true);
/// A dense row-major tensor that borrows `data`.
Tensor borrowDense(ElementType type, std::vector<int64_t> dims, void *data,
                   std::shared_ptr<void> keepAlive = {});
/// The same tensor in buffers of its own.
Tensor copyOf(const Tensor &tensor);
/// New values buffer (zeroed), everything else shared: the result of an operation that keeps a pattern.
Tensor likePattern(const Tensor &pattern, ElementType type);
/// The same in an encoding that has the pattern's structure (format::sharesStructure), which may have dense
/// levels below the pattern's, or its outer ones only: `dims` are its sizes.
Tensor likePattern(const Tensor &pattern, ElementType type, const format::Encoding &encoding,
                   std::vector<int64_t> dims, bool zeroed = true);
/// The number of values that such a tensor has.
int64_t likeCount(const Tensor &pattern, const std::vector<int64_t> &dims);
/// Whether the tensor has the very positions and coordinates of the other, as far as it has levels.
bool hasBuffersOf(const Tensor &tensor, const Tensor &pattern);
/// The tensor with the positions and coordinates of `pattern`, whose structure its encoding has. Throws Error
/// naming the first coordinates that only one of them stores.
Tensor shareStructure(const Tensor &tensor, const Tensor &pattern);
/// A dense row-major tensor's values in the structure of `pattern`, in an encoding that has it: of sizes
/// `dims` those at the coordinates that the pattern stores, or one row for each of its value slots, in
/// storage order. Throws Error for other sizes, and for a value elsewhere.
Tensor valuesInStructure(const Tensor &values, const Tensor &pattern, const format::Encoding &encoding,
                         std::vector<int64_t> dims);

/// The tensor of coordinates offset, offset + stride, … of a dimension, `size` of them. It shares all
/// buffers, and its encoding has the slice; a slice may be cut again. Throws Error for numbers that leave the
/// dimension.
Tensor slice(const Tensor &tensor, unsigned dimension, int64_t offset, int64_t size, int64_t stride = 1);
/// The part of a tensor that the slices of `encoding` show. Throws Error as `slice` does, and for a '?'.
Tensor cut(const Tensor &tensor, const format::Encoding &encoding);
/// The tensor that a slice was cut from, over the same buffers; what is no slice, as it is.
Tensor whole(const Tensor &tensor);

/// Calls `visit(dimension coordinates, value position)` for every stored slot that lies within the
/// dimensions, in storage order. Explicit zeros and block fill count as stored.
void forEachStored(const Tensor &tensor, const std::function<void(std::span<const int64_t>, int64_t)> &visit);

/// All stored slots within the dimensions as entries.
Entries unpack(const Tensor &tensor);
/// Dense row-major copy; where nothing is stored it holds the encoding's fill, or 0. Duplicates are summed.
Tensor toDense(const Tensor &tensor);

/// Checks every invariant a kernel relies on: buffer sizes, positions monotone and in range, coordinates in
/// range, ordered and unique where the format says so. Throws Error naming buffer, index and value.
void validate(const Tensor &tensor);

/// What MLIR's sparse_tensor.print writes: nse, dim, lvl, pos[l], crd[l], values. The tensor must be valid.
/// Of a slice, `dim` is its own, and everything else that of the tensor that was cut. Batch levels nest
/// brackets, and their positions count from the start of the batch, as they do there.
std::string printStorage(const Tensor &tensor);

} // namespace tulle::runtime
