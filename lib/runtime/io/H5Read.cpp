// Binsparse: a JSON text in the attribute `binsparse` says which of the datasets values, indices_0, indices_1
// and pointers_to_1 there are, and what they mean.
#include "runtime/io/Compressed.h"
#include "runtime/io/H5.h"
#include "runtime/io/H5Library.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/Memory.h"
#include "tulle/error.h"
#include <nlohmann/json.hpp>

namespace tulle::runtime::io {

namespace {

using Json = nlohmann::json;

/// Longer than any descriptor; attributes beyond 64 KiB are rare.
constexpr size_t maxDescriptor = 1 << 20;
/// No deflate stream is more than 1032 times smaller than what it holds.
constexpr uint64_t maxRatio = 1032;

/// The type of a values array: `iso[complex[float64]]` and parts of it.
struct ValueType {
  std::string base;
  bool iso = false, complex = false;
};

class Reader {
public:
  Reader(const std::string &name, hid_t file) : name(name), file(file) {}
  FileContents read();

private:
  [[noreturn]] void fail(const std::string &message) const {
    throw Error(fmt::format("{}: error: {}", name, message));
  }
  std::string attribute() const;
  void parseDescriptor();
  const Json &key(const char *key, bool (Json::*is)() const, const char *what) const;
  Tensor dataset(const std::string &dataset) const;
  Tensor elements(hid_t set, hid_t type, const std::string &dataset, int64_t count) const;
  NamedArray array(const std::string &dataset) const { return {dataset, this->dataset(dataset)}; }
  NamedArray valuesFor(int64_t count) const;
  FileContents dense(const std::string &format) const;
  FileContents matrix(const std::string &format) const;
  FileContents compressed(const std::string &format) const;
  void requireCount(const FileContents &contents) const;
  void mirror(FileContents &contents) const;

  const std::string &name;
  hid_t file;
  Json descriptor;
  std::vector<int64_t> dims;
  ValueType type;
};

std::string Reader::attribute() const {
  if (H5Aexists(file, "binsparse") <= 0)
    fail("the file has no attribute 'binsparse'; only matrices in the binsparse format are read, from the "
         "root of "
         "the file");
  Handle attribute(H5Aopen(file, "binsparse", H5P_DEFAULT), H5Aclose);
  Handle stored(attribute < 0 ? -1 : H5Aget_type(attribute), H5Tclose);
  Handle space(stored < 0 ? -1 : H5Aget_space(attribute), H5Sclose);
  if (space < 0)
    fail(fmt::format("the attribute 'binsparse' cannot be read ({})", lastH5Error()));
  const size_t size = H5Tget_size(stored);
  if (H5Tget_class(stored) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1 || size > maxDescriptor)
    fail("the attribute 'binsparse' is not one text; the binsparse format stores its description in it as "
         "JSON");
  if (H5Tis_variable_str(stored) > 0) {
    char *text = nullptr;
    Handle memory(H5Tcopy(stored), H5Tclose);
    if (H5Aread(attribute, memory, &text) < 0 || !text)
      fail(fmt::format("the attribute 'binsparse' cannot be read ({})", lastH5Error()));
    std::string copy(text, strnlen(text, maxDescriptor));
    H5free_memory(text);
    return copy;
  }
  std::string text(size, '\0');
  if (H5Aread(attribute, stored, text.data()) < 0)
    fail(fmt::format("the attribute 'binsparse' cannot be read ({})", lastH5Error()));
  text.resize(strnlen(text.data(), size));
  return text;
}

const Json &Reader::key(const char *key, bool (Json::*is)() const, const char *what) const {
  auto found = descriptor.find(key);
  if (found == descriptor.end() || !((*found).*is)())
    fail(fmt::format("the description in 'binsparse' lacks '{}', {}", key, what));
  return *found;
}

void Reader::parseDescriptor() {
  const std::string text = attribute();
  descriptor = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (descriptor.is_object() && descriptor.contains("binsparse"))
    descriptor = Json(descriptor["binsparse"]);
  if (!descriptor.is_object())
    fail(fmt::format("the attribute 'binsparse' holds no JSON object: '{}'", io::quoted(text)));
  for (const Json &size : key("shape", &Json::is_array, "a list of sizes")) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() >= uint64_t(INT64_MAX))
      fail(fmt::format("'shape' holds {}, expected sizes between 0 and 2^63 - 2", io::quoted(size.dump())));
    dims.push_back(size.get<int64_t>());
  }
  if (auto fill = descriptor.find("fill"); fill != descriptor.end() && *fill != false) {
    const Tensor value = dataset("fill_value");
    if (value.storedCount() != 1 || loadScalar(value.type, value.values()).i != 0 ||
        loadScalar(value.type, value.values()).f != 0.0)
      fail("'fill_value' is not 0; only matrices that mean 0 where nothing is stored are read");
  }
  const Json &types = key("data_types", &Json::is_object, "the types of the arrays");
  auto values = types.find("values");
  if (values == types.end() || !values->is_string())
    fail("'data_types' lacks the type of 'values'");
  type.base = values->get<std::string>();
  auto unwrap = [&](std::string_view wrapper) {
    if (!type.base.starts_with(wrapper) || !type.base.ends_with("]"))
      return false;
    type.base = type.base.substr(wrapper.size(), type.base.size() - wrapper.size() - 1);
    return true;
  };
  type.iso = unwrap("iso[");
  type.complex = unwrap("complex[");
}

/// The library's type that `type` is read as, and ours; unsigned integers become the next wider signed type.
std::pair<hid_t, ElementType> memoryType(hid_t type) {
  const size_t size = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_INTEGER && size <= 8) {
    if (H5Tget_sign(type) == H5T_SGN_NONE)
      return size == 1   ? std::pair(H5T_NATIVE_INT16, ElementType::I16)
             : size == 2 ? std::pair(H5T_NATIVE_INT32, ElementType::I32)
             : size <= 4 ? std::pair(H5T_NATIVE_INT64, ElementType::I64)
                         : std::pair(H5T_NATIVE_UINT64, ElementType::I64);
    return size == 1   ? std::pair(H5T_NATIVE_INT8, ElementType::I8)
           : size == 2 ? std::pair(H5T_NATIVE_INT16, ElementType::I16)
           : size <= 4 ? std::pair(H5T_NATIVE_INT32, ElementType::I32)
                       : std::pair(H5T_NATIVE_INT64, ElementType::I64);
  }
  if (H5Tget_class(type) == H5T_FLOAT && size <= 8)
    return size <= 4 ? std::pair(H5T_NATIVE_FLOAT, ElementType::F32)
                     : std::pair(H5T_NATIVE_DOUBLE, ElementType::F64);
  return {-1, ElementType::F64};
}

Tensor Reader::elements(hid_t set, hid_t stored, const std::string &dataset, int64_t count) const {
  auto [memory, element] = memoryType(stored);
  if (memory < 0)
    fail(fmt::format("the dataset '{}' holds neither integers nor floating-point numbers of up to 64 bits",
                     dataset));
  Tensor tensor = makeDense(element, {count}, /*zeroed=*/false);
  if (count > 0 && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.values()) < 0)
    fail(fmt::format("the dataset '{}' cannot be read ({}); copy the file again", dataset, lastH5Error()));
  if (H5Tequal(memory, H5T_NATIVE_UINT64) > 0)
    for (int64_t k = 0; k < count; ++k)
      if (static_cast<const int64_t *>(tensor.values())[k] < 0)
        fail(fmt::format("'{}'[{}] is {}, which does not fit a signed 64-bit integer", dataset, k,
                         static_cast<const uint64_t *>(tensor.values())[k]));
  return tensor;
}

Tensor Reader::dataset(const std::string &dataset) const {
  if (H5Lexists(file, dataset.c_str(), H5P_DEFAULT) <= 0)
    fail(fmt::format("the dataset '{}' is missing, which the format in 'binsparse' has", dataset));
  Handle set(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  Handle space(set < 0 ? -1 : H5Dget_space(set), H5Sclose);
  Handle stored(space < 0 ? -1 : H5Dget_type(set), H5Tclose);
  Handle creation(stored < 0 ? -1 : H5Dget_create_plist(set), H5Pclose);
  if (creation < 0)
    fail(fmt::format("the dataset '{}' cannot be opened ({})", dataset, lastH5Error()));
  if (H5Pget_external_count(creation) != 0 || H5Pget_layout(creation) == H5D_VIRTUAL)
    fail(fmt::format("the dataset '{}' lies in other files; copy it into this one", dataset));
  if (H5Sget_simple_extent_ndims(space) > 1)
    fail(fmt::format("the dataset '{}' has {} dimensions, expected 1", dataset,
                     H5Sget_simple_extent_ndims(space)));
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const size_t size = H5Tget_size(stored);
  const uint64_t held = H5Dget_storage_size(set);
  if (count < 0 || size == 0 || uint64_t(count) / maxRatio > held / size + 1)
    fail(fmt::format(
        "the dataset '{}' promises {} elements of {} bytes, but holds {} bytes; the file is damaged", dataset,
        count, size, held));
  requireMemory(checkedMul(count, 8, dataset), fmt::format("the dataset '{}' of {}", dataset, name));
  return elements(set, stored, dataset, count);
}

/// The values of `count` stored elements, in the type the description names.
NamedArray Reader::valuesFor(int64_t count) const {
  NamedArray values = array("values");
  Tensor &data = values.data;
  if (type.base == "bint8") {
    Tensor bits = makeDense(ElementType::Bool, data.dims, false);
    for (int64_t k = 0; k < data.storedCount(); ++k)
      static_cast<uint8_t *>(bits.values())[k] =
          loadScalar(data.type, static_cast<const std::byte *>(data.values()) + k * byteWidth(data.type)).i !=
          0;
    data = bits;
  }
  if (type.complex) {
    if (!isFloat(data.type) || data.storedCount() % 2 != 0)
      fail("'values' is said to be complex, but is not made of pairs of floating-point numbers");
    data.type = data.type == ElementType::F32 ? ElementType::C64 : ElementType::C128;
    data = borrowDense(data.type, {data.storedCount() / 2}, data.values(), data.buffers.back().owner);
  }
  if (type.iso) {
    if (data.storedCount() != 1)
      fail(fmt::format("'values' has {} elements, expected 1, since the type says iso", data.storedCount()));
    Tensor all = makeDense(data.type, {count}, false);
    const unsigned width = byteWidth(data.type);
    for (int64_t k = 0; k < count; ++k)
      std::memcpy(static_cast<std::byte *>(all.values()) + k * width, data.values(), width);
    data = all;
  }
  return values;
}

FileContents Reader::dense(const std::string &format) const {
  const bool vector = format == "DVEC", columns = format == "DMATC";
  if (dims.size() != (vector ? 1 : 2))
    fail(fmt::format("'shape' has {} sizes, expected {} for {}", dims.size(), vector ? 1 : 2, format));
  int64_t count = 1;
  for (int64_t size : dims)
    count = checkedMul(count, size, name);
  const Tensor values = valuesFor(count).data;
  if (values.storedCount() != count)
    fail(fmt::format("'values' has {} elements, but 'shape' says {}", values.storedCount(), count));
  FileContents contents;
  contents.isStored = true;
  contents.suggested = columns ? "denseColMajor" : "dense";
  contents.stored = borrowDense(values.type, dims, values.values(), values.buffers.back().owner);
  if (columns) {
    contents.stored.encoding = format::resolveWidths(format::parseFormat("denseColMajor", 2), 0, 0);
    contents.stored.layout = format::layout(contents.stored.encoding);
  }
  return contents;
}

FileContents Reader::compressed(const std::string &format) const {
  CompressedArrays arrays;
  arrays.format = format;
  arrays.dims = dims;
  arrays.positions = array("pointers_to_1");
  arrays.coordinates = array("indices_1");
  arrays.values = valuesFor(arrays.coordinates.data.storedCount());
  if (format.ends_with("C"))
    arrays.segmentFirst = {1, 0};
  if (format.starts_with("D"))
    arrays.segments = array("indices_0");
  return compressedContents(name, arrays);
}

FileContents Reader::matrix(const std::string &format) const {
  const bool vector = format == "CVEC";
  if (dims.size() != (vector ? 1 : 2))
    fail(fmt::format("'shape' has {} sizes, expected {} for {}", dims.size(), vector ? 1 : 2, format));
  if (vector) {
    NamedArray at = array("indices_0");
    NamedArray values = valuesFor(at.data.storedCount());
    FileContents contents = coordinateContents(name, dims, {at}, values);
    contents.suggested = "(i) -> (i : compressed)";
    return contents;
  }
  if (!format.starts_with("COO"))
    return compressed(format);
  NamedArray first = array("indices_0"), second = array("indices_1");
  NamedArray values = valuesFor(first.data.storedCount());
  if (format == "COOC")
    std::swap(first, second);
  return coordinateContents(name, dims, {first, second}, values);
}

void Reader::requireCount(const FileContents &contents) const {
  auto promised = descriptor.find("number_of_stored_values");
  const int64_t count = contents.isStored ? contents.stored.storedCount() : contents.entries.count();
  if (promised != descriptor.end() && *promised != count)
    fail(fmt::format("'number_of_stored_values' is {}, but the arrays hold {}", io::quoted(promised->dump()),
                     count));
}

/// Adds the triangle that a structure leaves out.
void Reader::mirror(FileContents &contents) const {
  auto found = descriptor.find("structure");
  if (found == descriptor.end() || *found == "general")
    return;
  const std::string structure = found->is_string() ? found->get<std::string>() : found->dump();
  const bool lower = structure.ends_with("_lower"), hermitian = structure.starts_with("hermitian_"),
             skew = structure.starts_with("skew_symmetric_");
  if ((!lower && !structure.ends_with("_upper")) ||
      (!hermitian && !skew && !structure.starts_with("symmetric_")))
    fail(fmt::format(
        "the structure '{}' is unknown; symmetric, hermitian and skew_symmetric are, each with _lower "
        "or _upper",
        io::quoted(structure)));
  if (dims.size() != 2 || dims[0] != dims[1])
    fail(fmt::format("a matrix with the structure '{}' must be square", structure));
  if (contents.isStored) {
    contents.suggested = format::isAllDense(contents.stored.encoding) ? "CSR" : contents.suggested;
    contents.entries = unpack(contents.stored);
    contents.stored = {};
    contents.isStored = false;
  }
  Entries &entries = contents.entries;
  const unsigned width = byteWidth(entries.type);
  const int64_t count = entries.count();
  for (int64_t k = 0; k < count; ++k) {
    const int64_t i = entries.coords[0][size_t(k)], j = entries.coords[1][size_t(k)];
    if (lower ? i < j : i > j)
      fail(fmt::format("entry ({}, {}) lies outside the triangle of the structure '{}'", i, j, structure));
    if (i == j)
      continue;
    Scalar value = loadScalar(entries.type, entries.values.data() + k * width);
    if (hermitian)
      value.f = std::conj(value.f);
    if (skew)
      value = {int64_t(-uint64_t(value.i)), -value.f};
    entries.coords[0].push_back(j);
    entries.coords[1].push_back(i);
    entries.values.resize(entries.values.size() + width);
    storeScalar(entries.type, entries.values.data() + entries.values.size() - width, value);
  }
}

FileContents Reader::read() {
  parseDescriptor();
  std::string format = key("format", &Json::is_string, "one of the names of the binsparse specification");
  static const std::pair<std::string_view, std::string_view> aliases[] = {
      {"COOR", "COO"}, {"VEC", "CVEC"}, {"DMAT", "DMATR"}};
  for (auto [alias, meant] : aliases)
    if (format == alias)
      format = meant;
  static constexpr std::string_view known[] = {"CSR",  "CSC",  "DCSR", "DCSC",  "COO",
                                               "COOC", "CVEC", "DVEC", "DMATR", "DMATC"};
  if (std::find(std::begin(known), std::end(known), format) == std::end(known))
    fail(fmt::format(
        "the format '{}' is not read; CSR, CSC, DCSR, DCSC, COO, COOC, CVEC, DVEC, DMATR and DMATC are",
        io::quoted(format)));
  const bool isDense = format == "DVEC" || format.starts_with("DMAT");
  FileContents contents = isDense ? dense(format) : matrix(format);
  requireCount(contents);
  mirror(contents);
  return contents;
}

FileContents readOpened(const std::string &name, const Handle &file) {
  if (file < 0)
    throw Error(fmt::format("{}: error: not a whole HDF5 file ({}); copy it again if it was cut short", name,
                            lastH5Error()));
  return Reader(name, file).read();
}

} // namespace

FileContents readH5File(const std::string &path) {
  LibraryUse use;
  return readOpened(path, Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose));
}

FileContents readH5(const Text &text) {
  LibraryUse use;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, 1 << 16, /*backing_store=*/false);
  std::string bytes(text.bytes);
  if (bytes.empty() || H5Pset_file_image(access, bytes.data(), bytes.size()) < 0)
    throw Error(fmt::format("{}: error: the file is empty or does not fit in memory", text.name));
  return readOpened(text.name, Handle(H5Fopen(text.name.c_str(), H5F_ACC_RDONLY, access), H5Fclose));
}

} // namespace tulle::runtime::io
