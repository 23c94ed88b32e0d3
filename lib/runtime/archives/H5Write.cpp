// Writes binsparse .h5 files: one group with the descriptor as JSON, and a dataset for each array.
#include "runtime/archives/H5.h"
#include "runtime/io/TemporaryFile.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/MemoryLimits.h"
#include <algorithm>
#include <cstring>
#include <numeric>

namespace tulle::runtime::io {

using format::LevelKind;

namespace {

/// The library's type of an element of a file, and binsparse's name of it.
struct FileType {
  hid_t type = -1;
  std::string name;
};

FileType unsignedType(unsigned width) {
  return {width == 8    ? H5T_STD_U8LE
          : width == 16 ? H5T_STD_U16LE
          : width == 32 ? H5T_STD_U32LE
                        : H5T_STD_U64LE,
          fmt::format("uint{}", width)};
}

/// How many levels from `l` are one of binsparse: 0 where it has none like it.
size_t levelsFrom(const format::Encoding &encoding, size_t l) {
  const format::LevelFormat &first = encoding.levels[l].format;
  if (first.kind == LevelKind::Dense)
    return 1;
  if (first.kind != LevelKind::Compressed)
    return 0;
  size_t end = l + 1;
  while (end < encoding.levels.size() && encoding.levels[end].format.kind == LevelKind::Singleton)
    ++end;
  for (size_t k = l; k < end; ++k) {
    const format::LevelFormat &level = encoding.levels[k].format;
    if (!level.ordered || level.padded || level.unique != (k + 1 == end))
      return 0;
  }
  return end - l;
}

/// `{"level": …, "transpose": …}` for an encoding whose levels are dense, compressed, or runs of coordinates,
/// each of a whole dimension, ordered and without repeats; nullopt for any other. Arrays are named by level:
/// `pointers_to_<l>`, `indices_<l>`.
std::optional<nlohmann::ordered_json> levelsOf(const format::Encoding &encoding) {
  const size_t order = encoding.order();
  if (encoding.levels.size() != order || order == 0 || order > mostLevels)
    return std::nullopt;
  std::vector<int64_t> dimensions;
  bool moved = false;
  for (size_t l = 0; l < order; ++l) {
    const format::Expr &e = encoding.levels[l].expr;
    if (e->kind != format::ExprKind::Dim)
      return std::nullopt;
    dimensions.push_back(e->value);
    moved |= e->value != int64_t(l);
  }
  std::vector<std::pair<const char *, size_t>> parts;
  for (size_t l = 0; l < order; l += parts.back().second) {
    const size_t count = levelsFrom(encoding, l);
    if (count == 0)
      return std::nullopt;
    parts.emplace_back(encoding.levels[l].format.kind == LevelKind::Dense ? "dense" : "sparse", count);
  }
  nlohmann::ordered_json level = {{"level_desc", "element"}};
  for (size_t p = parts.size(); p-- > 0;)
    level = {{"level_desc", parts[p].first}, {"rank", parts[p].second}, {"level", level}};
  nlohmann::ordered_json custom = {{"level", level}};
  if (moved)
    custom["transpose"] = dimensions;
  return custom;
}

class Writer : NamesFile {
public:
  Writer(const std::string &path, const Tensor &tensor) : NamesFile{path}, tensor(tensor) {}

  std::string write() {
    const std::string format = chooseFormat();
    std::vector<int64_t> shape = tensor.dims;
    if (format.starts_with("DMAT"))
      shape.resize(2, 1); // a scalar, as in .mtx
    if (format == "CVEC")
      shape.resize(1, 1);
    descriptor["version"] = "0.1";
    descriptor["format"] = format == "entries" ? "custom" : format;
    descriptor["shape"] = shape;
    valueType();
    TemporaryFile target(file);
    // In memory first: the library wants a name, and the file has none until it is whole.
    requireMemory(tensor.bytes(), "the file " + file);
    Handle inMemory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    check(H5Pset_fapl_core(inMemory, size_t(1) << 20, /*backing_store=*/false) >= 0);
    root = Handle(H5Fcreate("tulle", H5F_ACC_TRUNC, H5P_DEFAULT, inMemory), H5Fclose);
    check(root >= 0);
    arrays(format);
    attribute();
    check(H5Fflush(root, H5F_SCOPE_LOCAL) >= 0);
    void *image = nullptr;
    hsize_t size = 0;
    check(H5Fget_vfd_handle(root, inMemory, &image) >= 0 && H5Fget_filesize(root, &size) >= 0);
    target.write({*static_cast<const char **>(image), size});
    root = Handle();
    target.commit();
    return note;
  }

private:
  void check(bool done) const {
    if (!done)
      fail("cannot write the file ({})", lastH5Error());
  }

  FileType valueType() const {
    const FileType types[] = {{H5T_STD_U8LE, "bint8"},
                              {H5T_STD_I8LE, "int8"},
                              {H5T_STD_I16LE, "int16"},
                              {H5T_STD_I32LE, "int32"},
                              {H5T_STD_I64LE, "int64"},
                              {}, // bf16
                              {},
                              {H5T_IEEE_F32LE, "float32"},
                              {H5T_IEEE_F64LE, "float64"},
                              {H5T_IEEE_F32LE, "complex[float32]"},
                              {H5T_IEEE_F64LE, "complex[float64]"}};
    const FileType &found = types[size_t(tensor.type)];
    if (found.type < 0)
      fail("the binsparse format has no {}; convert the tensor to f32", name(tensor.type));
    return found;
  }

  std::string chooseFormat() {
    const size_t order = tensor.dims.size();
    const std::string name = format::displayName(tensor.encoding);
    if (order > mostLevels)
      fail("binsparse .h5 files are written for up to {} dimensions, but the tensor has {}; write .tns "
           "instead",
           mostLevels, order);
    if (!format::hasZeroFill(tensor.encoding))
      fail("binsparse .h5 files mean 0 where nothing is stored, but this tensor's fill is {}; convert it to "
           "dense",
           tensor.encoding->fill.value_or("not 0"));
    if (format::isAllDense(tensor.encoding) && order <= 2)
      return order == 1 ? "DVEC" : name == "denseColMajor" && order == 2 ? "DMATC" : "DMATR";
    if (name == "CSR" || name == "CSC" || name == "DCSR" || name == "DCSC")
      return name;
    if (order <= 1)
      return "CVEC";
    if (levelsOf(tensor.encoding)) // lists of coordinates have a name
      return order == 2 && tensor.encoding->levels[1].format.kind == LevelKind::Singleton ? "COO" : "custom";
    note = fmt::format("{}: binsparse has no {}; the entries are written as COO", file, name);
    return order == 2 ? "COO" : "entries";
  }

  void dataset(const std::string &name, const FileType &type, const void *data, int64_t count) {
    descriptor["data_types"][name] = type.name;
    const hsize_t extent = hsize_t(count);
    Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    // Without times equal tensors give equal files.
    Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation, false);
    Handle set(H5Dcreate2(root, name.c_str(), type.type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
               H5Dclose);
    check(set >= 0);
    check(count == 0 || H5Dwrite(set, type.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  }

  void field(const std::string &name, unsigned number) {
    const Buffer &buffer = tensor.buffers[number];
    dataset(name, unsignedType(tensor.layout().fields[number].width), buffer.data, buffer.count);
  }

  void values(const void *data, int64_t count) {
    descriptor["number_of_stored_values"] = count;
    dataset("values", valueType(), data, isComplex(tensor.type) ? 2 * count : count);
  }

  /// COO and CVEC: sorted by coordinates, and unique, as the specification asks.
  void coordinates() {
    const Entries entries = unpack(tensor);
    const unsigned width = byteWidth(tensor.type);
    auto before = [&](int64_t a, int64_t b) {
      for (const auto &list : entries.coords)
        if (list[size_t(a)] != list[size_t(b)])
          return list[size_t(a)] < list[size_t(b)];
      return false;
    };
    std::vector<int64_t> order(size_t(entries.count()));
    std::iota(order.begin(), order.end(), int64_t(0));
    if (!std::is_sorted(order.begin(), order.end(), before))
      std::stable_sort(order.begin(), order.end(), before);
    if (auto twice = std::adjacent_find(order.begin(), order.end(),
                                        [&](int64_t a, int64_t b) { return !before(a, b); });
        twice != order.end())
      fail("the tensor stores a coordinate twice, which the binsparse format forbids; convert it to CSR");
    std::vector<int64_t> sorted(order.size());
    for (size_t d = 0; d < entries.coords.size(); ++d) {
      for (size_t k = 0; k < order.size(); ++k)
        sorted[k] = entries.coords[d][size_t(order[k])];
      dataset(fmt::format("indices_{}", d), unsignedType(64), sorted.data(), int64_t(sorted.size()));
    }
    std::vector<std::byte> list(order.size() * width);
    for (size_t k = 0; k < order.size(); ++k)
      std::memcpy(list.data() + k * width, entries.values.data() + size_t(order[k]) * width, width);
    values(list.data(), int64_t(order.size()));
  }

  /// The coordinates of one level, where they may be interleaved with those of others.
  void indices(unsigned l) {
    const format::CoordinateRef ref = *tensor.layout().coordinates[l];
    const std::string name = fmt::format("indices_{}", l);
    if (ref.stride == 1)
      return field(name, ref.field);
    const Buffer &all = tensor.buffers[ref.field];
    const unsigned width = tensor.layout().fields[ref.field].width / 8;
    const int64_t count = all.count / ref.stride;
    std::vector<std::byte> list(size_t(count) * width);
    for (int64_t q = 0; q < count; ++q)
      std::memcpy(list.data() + q * width,
                  static_cast<const std::byte *>(all.data) + (q * ref.stride + ref.offset) * width, width);
    dataset(name, unsignedType(8 * width), list.data(), count);
  }

  void levels() {
    for (unsigned l = 0; l < tensor.encoding->levels.size(); ++l) {
      if (l > 0 && tensor.layout().positions[l])
        field(fmt::format("pointers_to_{}", l), *tensor.layout().positions[l]);
      if (tensor.layout().coordinates[l])
        indices(l);
    }
    values(tensor.values(), tensor.storedCount());
  }

  void arrays(const std::string &format) {
    if (format == "custom")
      descriptor["custom"] = *levelsOf(tensor.encoding);
    if (format == "entries")
      descriptor["custom"] = *levelsOf(format::parseFormat("COO", unsigned(tensor.dims.size())));
    if (format == "COO" || format == "CVEC" || format == "entries")
      return coordinates();
    if (format == "DMATR" || format == "DVEC") {
      const Tensor dense = toDense(tensor);
      return values(dense.values(), dense.storedCount());
    }
    levels();
  }

  void attribute() {
    nlohmann::ordered_json whole;
    whole["binsparse"] = descriptor;
    const std::string text = whole.dump(2);
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, text.size());
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    Handle attribute(H5Acreate2(root, "binsparse", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(attribute >= 0 && H5Awrite(attribute, type, text.data()) >= 0);
  }

  const Tensor &tensor;
  std::string note;
  LibraryUse use; // released after the file is closed
  Handle root;
  nlohmann::ordered_json descriptor;
};

} // namespace

std::string writeH5(const std::string &path, const Tensor &tensor) { return Writer(path, tensor).write(); }

} // namespace tulle::runtime::io
