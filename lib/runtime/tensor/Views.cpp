// A view is an encoding over the same buffers, and for rows that lie anywhere a new buffer of where each
// begins and ends, counted in positions from the lowest address that one has.
#include "runtime/tensor/Views.h"
#include "format/LevelKinds.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <limits>
#include <numeric>

namespace tulle::runtime {

using format::LevelKind;

namespace {

Tensor withEncoding(const Tensor &tensor, format::Encoding encoding, std::vector<int64_t> dims) {
  Tensor made(std::move(encoding), tensor.type, std::move(dims));
  made.buffers = tensor.buffers;
  made.pickedSlots = tensor.pickedSlots;
  return made;
}

//===--- Dimensions that are digits of others ---===//

/// Dimensions of one tensor, and those of another that have as many elements.
struct Group {
  std::vector<unsigned> from, to;
};

/// Nullopt where a size is 0: it has no digits.
std::optional<std::vector<Group>> groups(const std::vector<int64_t> &from, const std::vector<int64_t> &to) {
  if (std::ranges::count(from, 0) > 0 || std::ranges::count(to, 0) > 0)
    return std::nullopt;
  std::vector<Group> made;
  size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    Group group;
    __int128 have = 1, want = 1;
    // Sizes of 1 that come last belong to the last group.
    do {
      const bool takeFrom = f < from.size() && (have <= want || t == to.size());
      if (takeFrom)
        have *= from[f], group.from.push_back(unsigned(f++));
      else if (t < to.size())
        want *= to[t], group.to.push_back(unsigned(t++));
    } while ((have != want || group.from.empty() || group.to.empty()) && (f < from.size() || t < to.size()));
    if (!made.empty() && (group.from.empty() || group.to.empty())) {
      made.back().from.insert(made.back().from.end(), group.from.begin(), group.from.end());
      made.back().to.insert(made.back().to.end(), group.to.begin(), group.to.end());
    } else {
      made.push_back(std::move(group));
    }
  }
  return made;
}

/// What `dims` of one group are of its dimension number `group`, row-major.
void addDigits(std::vector<format::Digit> &digits, unsigned group, const std::vector<unsigned> &dims,
               const std::vector<int64_t> &sizes) {
  int64_t stride = 1;
  for (size_t k = dims.size(); k-- > 0;) {
    digits[dims[k]] = {group, stride, k == 0 ? 0 : sizes[dims[k]]};
    stride *= sizes[dims[k]];
  }
}

//===--- Rows that lie anywhere ---===//

/// The number of values in one position of the second level, where all levels below it are dense.
std::optional<int64_t> valuesOfEach(const Tensor &tensor) {
  const std::optional<std::vector<format::Digit>> digits = format::digits(tensor.encoding);
  int64_t count = 1;
  for (size_t l = 2; l < tensor.encoding->levels.size(); ++l) {
    if (!digits || tensor.encoding->levels[l].format.kind != LevelKind::Dense)
      return std::nullopt;
    count = checkedMul(count, format::levelSize((*digits)[l], tensor.dims), "the values of a row");
  }
  return count;
}

/// Where the rows of a tensor begin and end among the positions of its second level.
class Rows {
public:
  explicit Rows(const Tensor &tensor)
      : kind(tensor.encoding->levels[1].format.kind), fields(levelFields(tensor, 1)) {
    if (!fields.pos)
      size = format::levelSize((*format::digits(tensor.encoding))[1], tensor.dims);
  }

  std::pair<int64_t, int64_t> operator[](int64_t row) const {
    if (!fields.pos)
      return {row * size, row * size + size};
    const int64_t at = format::storesEnds(kind) ? 2 * row : row;
    return {fields.position(at), fields.position(at + 1)};
  }

private:
  LevelKind kind;
  LevelFields fields;
  int64_t size = 0;
};

/// An element of a buffer of positions, which have 32 or 64 bits.
void storeIndex(void *data, unsigned width, int64_t at, int64_t value) {
  if (width == 64)
    static_cast<int64_t *>(data)[at] = value;
  else
    static_cast<uint32_t *>(data)[at] = uint32_t(value);
}

using Ends = std::vector<std::pair<int64_t, int64_t>>;

/// Begins and ends of rows, as the buffer of positions of that width.
Buffer endsBuffer(const Ends &ends, unsigned width) {
  const int64_t count = checkedMul(int64_t(ends.size()), 2, "the positions of a view");
  Buffer made = Buffer::allocate(count, checkedMul(count, width / 8, "the positions of a view"), false,
                                 "the positions of a view");
  for (size_t r = 0; r < ends.size(); ++r) {
    storeIndex(made.data, width, int64_t(2 * r), ends[r].first);
    storeIndex(made.data, width, int64_t(2 * r + 1), ends[r].second);
  }
  return made;
}

/// The slots of rows, each of so many values.
int64_t slotsOf(const Ends &ends, int64_t each) {
  int64_t count = 0;
  for (auto [begin, end] : ends)
    count = checkedAdd(count, end - begin, "the rows of a view");
  return checkedMul(count, each, "the rows of a view");
}

/// The rows `ends` of a tensor in the encoding of its rows anywhere. How far jagged ones are apart differs
/// from one to the next, and kernels are compiled for a width.
Tensor pick(const Tensor &tensor, format::Encoding encoding, const Ends &ends, int64_t each) {
  int64_t last = 0;
  for (auto [begin, end] : ends)
    last = std::max(last, end);
  const bool isJagged = encoding.levels[1].format.kind == LevelKind::Jagged;
  encoding.posWidth = isJagged || last > std::numeric_limits<int32_t>::max() ? 64 : 32;
  std::vector<int64_t> dims = tensor.dims;
  dims[0] = int64_t(ends.size());
  Tensor made(std::move(encoding), tensor.type, std::move(dims));
  made.pickedSlots = slotsOf(ends, each);
  // Of a dense level the positions are new, else they replace its own, which come first.
  const auto kept = tensor.buffers.begin() + (tensor.layout().positions[1] ? 1 : 0);
  made.buffers.push_back(endsBuffer(ends, made.encoding->posWidth));
  made.buffers.insert(made.buffers.end(), kept, tensor.buffers.end());
  return made;
}

/// Whether the rows of both are of the same buffers.
bool sharesRows(const Tensor &a, const Tensor &b) {
  auto from = [](const Tensor &t) { return t.buffers.begin() + (t.layout().positions[1] ? 1 : 0); };
  return std::equal(from(a), a.buffers.end(), from(b), b.buffers.end(),
                    [](const Buffer &x, const Buffer &y) { return x.data == y.data; });
}

//===--- Rows of several tensors ---===//

/// Levels that are the dimensions, in order.
bool isPlainNest(const format::Encoding &encoding) {
  if (encoding.levels.size() != encoding.order())
    return false;
  for (size_t l = 0; l < encoding.levels.size(); ++l)
    if (encoding.levels[l].expr->kind != format::ExprKind::Dim ||
        encoding.levels[l].expr->value != int64_t(l))
      return false;
  return true;
}

/// Memory that several tensors keep.
std::shared_ptr<void> ownersOf(const std::vector<Tensor> &tensors) {
  auto owners = std::make_shared<std::vector<std::shared_ptr<void>>>();
  for (const Tensor &tensor : tensors)
    for (const Buffer &buffer : tensor.buffers)
      owners->push_back(buffer.owner);
  return owners;
}

/// The values of dense rows in several allocations as one buffer from the lowest address on, and how many
/// rows' elements each tensor begins behind it.
struct Anchored {
  Buffer values;
  std::vector<int64_t> begins; ///< in units of `each` elements
};

std::optional<Anchored> anchor(const std::vector<Tensor> &tensors, int64_t each) {
  const int64_t unit = each * byteWidth(tensors[0].type);
  auto addressOf = [](const Tensor &tensor) { return reinterpret_cast<uintptr_t>(tensor.values()); };
  uintptr_t lowest = std::numeric_limits<uintptr_t>::max(), end = 0;
  Anchored made;
  for (const Tensor &tensor : tensors)
    if (tensor.storedCount() > 0) {
      lowest = std::min(lowest, addressOf(tensor));
      end = std::max(end, addressOf(tensor) + uintptr_t(tensor.storedCount()) * byteWidth(tensor.type));
      made.values.bytes += tensor.buffers.back().bytes;
    }
  for (const Tensor &tensor : tensors) {
    const bool stores = tensor.storedCount() > 0;
    const uintptr_t distance = stores ? addressOf(tensor) - lowest : 0;
    if (distance % uintptr_t(unit) != 0)
      return std::nullopt;
    made.begins.push_back(int64_t(distance / uintptr_t(unit)));
  }
  made.values.owner = ownersOf(tensors);
  made.values.isApart = std::ranges::any_of(tensors, [&](const Tensor &tensor) {
    return tensor.buffers.back().isApart || tensor.values() != tensors[0].values();
  });
  made.values.data = end ? reinterpret_cast<void *>(lowest) : nullptr;
  made.values.count = end ? int64_t((end - lowest) / byteWidth(tensors[0].type)) : 0;
  return made;
}

void requireAlike(const std::vector<Tensor> &tensors, size_t firstDim, const char *what) {
  if (tensors.empty())
    throwError("{} of no tensors: it would have no sizes", what);
  const Tensor &first = tensors[0];
  for (size_t t = 1; t < tensors.size(); ++t) {
    const Tensor &other = tensors[t];
    if (other.type != first.type)
      throwError("{}: tensor {} has elements of type {}, tensor 0 of type {}", what, t, name(other.type),
                 name(first.type));
    if (other.dims.size() != first.dims.size())
      throwError("{}: tensor {} has {} dimensions, tensor 0 has {}", what, t, other.dims.size(),
                 first.dims.size());
    for (size_t d = firstDim; d < first.dims.size(); ++d)
      if (other.dims[d] != first.dims[d])
        throwError("{}: dimension {} of tensor {} has size {}, that of tensor 0 has size {}", what, d, t,
                   other.dims[d], first.dims[d]);
  }
}

bool isRowMajor(const Tensor &tensor) {
  return tensor.wholeDims.empty() && format::isAllDense(tensor.encoding) && isPlainNest(tensor.encoding);
}

} // namespace

//===--- Changes of the map ---===//

Tensor permuted(const Tensor &tensor, const std::vector<unsigned> &order) {
  std::vector<bool> seen(tensor.dims.size(), false);
  for (unsigned d : order)
    if (d < seen.size())
      seen[d] = true;
  if (order.size() != seen.size() || std::ranges::count(seen, false) > 0)
    throwError("transpose({}): expected the dimensions 0 to {}, each once", fmt::join(order, ", "),
               int64_t(seen.size()) - 1);
  auto inOrder = [&](const std::vector<int64_t> &sizes) {
    std::vector<int64_t> made;
    for (size_t d = 0; d < sizes.size(); ++d)
      made.push_back(sizes[order[d]]);
    return made;
  };
  Tensor made = withEncoding(tensor, format::permuted(tensor.encoding, order), inOrder(tensor.dims));
  made.wholeDims = inOrder(tensor.wholeDims);
  return made;
}

std::optional<Tensor> mirrored(const Tensor &tensor, unsigned dimension) {
  if (dimension >= tensor.dims.size())
    throwError("reverse({}) of a tensor with {} dimensions; they are counted from 0", dimension,
               tensor.dims.size());
  if (tensor.dims[dimension] == 0 || !tensor.wholeDims.empty())
    return std::nullopt;
  std::optional<format::Encoding> encoding =
      format::mirrored(tensor.encoding, dimension, tensor.dims[dimension]);
  if (!encoding)
    return std::nullopt;
  return withEncoding(tensor, std::move(*encoding), tensor.dims);
}

std::optional<Tensor> reshaped(const Tensor &tensor, const std::vector<int64_t> &dims) {
  const std::string what = fmt::format("reshape({})", fmt::join(dims, ", "));
  for (int64_t size : dims)
    if (size < 0)
      throwError("{}: sizes are 0 or more", what);
  if (int64_t have = checkedProduct(tensor.dims, what), want = checkedProduct(dims, what); have != want)
    throwError("{} has {} elements, the tensor of {} has {}", what, want, shapeText(tensor.dims), have);
  const std::optional<std::vector<Group>> all = groups(tensor.dims, dims);
  if (!all || !tensor.wholeDims.empty() || tensor.dims.empty() || dims.empty())
    return std::nullopt;
  std::vector<format::Digit> from(tensor.dims.size()), to(dims.size());
  std::vector<int64_t> collapsed;
  for (unsigned g = 0; g < all->size(); ++g) {
    addDigits(from, g, (*all)[g].from, tensor.dims);
    addDigits(to, g, (*all)[g].to, dims);
  }
  std::optional<format::Encoding> encoding = format::reshaped(tensor.encoding, from, unsigned(all->size()));
  if (encoding)
    encoding = format::expanded(*encoding, to);
  if (!encoding || !format::whyNotExecutable(*encoding).empty())
    return std::nullopt;
  return withEncoding(tensor, std::move(*encoding), dims);
}

//===--- Rows ---===//

std::optional<Tensor> gathered(const Tensor &tensor, std::span<const int64_t> rows) {
  if (tensor.dims.empty())
    throwError("gather of a tensor without dimensions: it has no rows");
  for (size_t r = 0; r < rows.size(); ++r)
    if (rows[r] < 0 || rows[r] >= tensor.dims[0])
      throwError("gather: number {}, counted from 0, is {}, and the rows are 0 to {}", r, rows[r],
                 tensor.dims[0] - 1);
  std::optional<format::Encoding> encoding = format::withRowsAnywhere(tensor.encoding);
  const std::optional<int64_t> each = encoding ? valuesOfEach(tensor) : std::nullopt;
  if (!each)
    return std::nullopt;
  const Rows own(tensor);
  Ends ends;
  for (int64_t row : rows)
    ends.push_back(own[row]);
  return pick(tensor, std::move(*encoding), ends, *each);
}

std::optional<Tensor> concatenated(const std::vector<Tensor> &tensors) {
  requireAlike(tensors, 1, "concat");
  const std::optional<format::Encoding> encoding = format::withRowsAnywhere(tensors[0].encoding);
  const std::optional<int64_t> each = encoding ? valuesOfEach(tensors[0]) : std::nullopt;
  if (!each)
    return std::nullopt;
  std::vector<Rows> own;
  for (const Tensor &tensor : tensors) {
    if (!(tensor.encoding == tensors[0].encoding)) {
      std::optional<format::Encoding> other = format::withRowsAnywhere(tensor.encoding);
      if (!other)
        return std::nullopt;
      other->posWidth = encoding->posWidth;
      if (!(*encoding == *other))
        return std::nullopt;
    }
    own.emplace_back(tensor);
  }
  // Rows that are values only may come from several allocations.
  const bool isJagged = *each > 0 && encoding->levels[1].format.kind == LevelKind::Jagged;
  const std::optional<Anchored> at = isJagged ? anchor(tensors, *each) : std::nullopt;
  if (isJagged ? !at
               : !std::ranges::all_of(tensors, [&](const Tensor &t) { return sharesRows(t, tensors[0]); }))
    return std::nullopt;
  Ends ends;
  for (size_t t = 0; t < tensors.size(); ++t)
    for (int64_t r = 0; r < tensors[t].dims[0]; ++r) {
      const auto [begin, end] = own[t][r];
      const int64_t from = at ? at->begins[t] : 0;
      ends.push_back({from + begin, from + end});
    }
  Tensor made = pick(tensors[0], *encoding, ends, *each);
  if (at)
    made.buffers.back() = at->values;
  return made;
}

std::optional<Tensor> stacked(const std::vector<Tensor> &tensors) {
  requireAlike(tensors, 1, "stack");
  if (tensors[0].dims.empty() || !std::ranges::all_of(tensors, isRowMajor))
    return std::nullopt;
  std::vector<int64_t> dims = tensors[0].dims;
  int64_t each = 1;
  for (size_t d = 1; d < dims.size(); ++d)
    each = checkedMul(each, dims[d], "the elements of a row");
  const std::optional<Anchored> at = each == 0 ? std::nullopt : anchor(tensors, each);
  if (!at)
    return std::nullopt;
  Ends ends;
  for (size_t t = 0; t < tensors.size(); ++t) {
    ends.push_back({at->begins[t], at->begins[t] + tensors[t].dims[0]});
    dims[0] = std::max(dims[0], tensors[t].dims[0]);
  }
  dims.insert(dims.begin(), int64_t(tensors.size()));
  format::Encoding encoding = format::denseEncoding(unsigned(dims.size()));
  encoding.levels[1].format.kind = LevelKind::Jagged;
  encoding.posWidth = 64;
  Tensor made(format::resolveWidths(encoding, 0, 0), tensors[0].type, std::move(dims));
  made.buffers = {endsBuffer(ends, made.encoding->posWidth), at->values};
  made.pickedSlots = slotsOf(ends, each);
  return made;
}

//===--- Simpler formats ---===//

/// The buffer without its first elements, of `count` that remain, all of which are rows'.
static Buffer behind(Buffer buffer, int64_t elements, int64_t count, int64_t width) {
  buffer.data = static_cast<std::byte *>(buffer.data) + elements * width;
  buffer.count = count;
  buffer.bytes = count * width;
  buffer.isApart = false;
  return buffer;
}

/// Rows of equal lengths at equal distances: the first, or the last, columns of a dense tensor.
static std::optional<Tensor> asDense(const Tensor &tensor, const Ends &ends, int64_t each) {
  if (!isPlainNest(tensor.encoding) || ends.empty())
    return std::nullopt;
  const int64_t size = tensor.dims[1], rows = int64_t(ends.size()), first = ends.front().first;
  const int64_t distance = rows > 1 ? ends[1].first - first : size;
  for (int64_t r = 0; r < rows; ++r)
    if (ends[size_t(r)].first != first + r * distance ||
        ends[size_t(r)].second - ends[size_t(r)].first != size)
      return std::nullopt;
  const Buffer &values = tensor.buffers.back();
  const int64_t rest = distance - size, end = first + rows * distance;
  // Whole rows of the dense tensor lie in memory, which nobody's does between allocations.
  const bool before = end * each > values.count;
  if (rest < 0 || (rest > 0 && (values.isApart || (before && first < rest))))
    return std::nullopt;
  std::vector<int64_t> dims = tensor.dims;
  dims[1] = distance;
  const format::Encoding dense = format::denseEncoding(unsigned(dims.size()));
  Tensor made(format::resolveWidths(dense, 0, 0), tensor.type, std::move(dims));
  const int64_t begin = before ? first - rest : first;
  made.buffers = {behind(values, begin * each, rows * distance * each, byteWidth(tensor.type))};
  return rest == 0 ? made : slice(made, 1, before ? rest : 0, size);
}

Tensor canonical(const Tensor &tensor) {
  if (!tensor.pickedSlots || !format::withRowsAnywhere(tensor.encoding))
    return tensor;
  const Rows own(tensor);
  Ends ends;
  bool follow = true;
  for (int64_t r = 0; r < tensor.dims[0]; ++r) {
    ends.push_back(own[r]);
    follow &= r == 0 || ends[size_t(r)].first == ends[size_t(r) - 1].second;
  }
  const std::optional<int64_t> each = valuesOfEach(tensor);
  if (!each || ends.empty())
    return tensor;
  const bool isJagged = tensor.encoding->levels[1].format.kind == LevelKind::Jagged;
  if (isJagged)
    if (std::optional<Tensor> dense = asDense(tensor, ends, *each))
      return *dense;
  const unsigned crdWidth = tensor.layout().coordinates[1] ? levelFields(tensor, 1).crdWidth : 8;
  if (!follow || crdWidth < 8 || tensor.buffers.size() != size_t(isJagged ? 2 : 3))
    return tensor;
  format::Encoding encoding = tensor.encoding;
  encoding.levels[1].format.kind = isJagged ? LevelKind::Ragged : LevelKind::Compressed;
  Tensor made(std::move(encoding), tensor.type, tensor.dims);
  const int64_t first = ends[0].first, count = ends.back().second - first;
  Buffer positions =
      Buffer::allocate(tensor.dims[0] + 1, (tensor.dims[0] + 1) * (made.encoding->posWidth / 8), true,
                       "the positions of a view");
  for (int64_t r = 0; r < tensor.dims[0]; ++r)
    storeIndex(positions.data, made.encoding->posWidth, r + 1, ends[size_t(r)].second - first);
  made.buffers.push_back(std::move(positions));
  if (!isJagged)
    made.buffers.push_back(behind(tensor.buffers[1], first, count, crdWidth / 8));
  made.buffers.push_back(behind(tensor.buffers.back(), first * *each, count * *each, byteWidth(tensor.type)));
  return made;
}

} // namespace tulle::runtime
