// Binsparse: a JSON text in the attribute `binsparse` says which of the datasets values, indices_<l> and
// pointers_to_<l> there are, and what they mean.
#include "runtime/io/CompressedArrays.h"
#include "runtime/io/H5.h"
#include "runtime/io/H5Custom.h"
#include "runtime/io/H5Extract.h"
#include "runtime/io/Mtx.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <nlohmann/json.hpp>

namespace tulle::runtime::io {

namespace {

using Json = nlohmann::json;

/// The type of a values array: `iso[complex[float64]]` and parts of it.
struct ValueType {
  std::string base;
  bool iso = false, complex = false;
};

class Reader {
public:
  Reader(const std::string &name, const ExtractedFile &file) : name(name), file(file) {}
  FileContents read();

private:
  template <class... Args> [[noreturn]] void fail(fmt::format_string<Args...> message, Args &&...args) const {
    throwFileError(name, message, std::forward<Args>(args)...);
  }
  void parseDescriptor();
  const Json &key(const char *key, bool (Json::*is)() const, const char *what) const;
  Tensor dataset(const std::string &dataset) const;
  NamedArray array(const std::string &dataset) const { return {dataset, this->dataset(dataset)}; }
  NamedArray valuesFor(int64_t count) const;
  FileContents dense(const std::string &format) const;
  FileContents matrix(const std::string &format) const;
  FileContents compressed(const std::string &format) const;
  FileContents levels() const;
  void requireCount(const FileContents &contents) const;
  void mirror(FileContents &contents) const;

  const std::string &name;
  const ExtractedFile &file;
  Json descriptor;
  std::vector<int64_t> dims;
  ValueType type;
};

const Json &Reader::key(const char *key, bool (Json::*is)() const, const char *what) const {
  auto found = descriptor.find(key);
  if (found == descriptor.end() || !((*found).*is)())
    fail("the description in 'binsparse' lacks '{}', {}", key, what);
  return *found;
}

void Reader::parseDescriptor() {
  const std::string &text = file.text;
  descriptor = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (descriptor.is_object() && descriptor.contains("binsparse"))
    descriptor = Json(descriptor["binsparse"]);
  if (!descriptor.is_object())
    fail("the attribute 'binsparse' holds no JSON object: '{}'", io::quoted(text));
  for (const Json &size : key("shape", &Json::is_array, "a list of sizes")) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() >= uint64_t(INT64_MAX))
      fail("'shape' holds {}, expected sizes between 0 and 2^63 - 2", io::quoted(size.dump()));
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

Tensor Reader::dataset(const std::string &dataset) const {
  auto found = file.arrays.find(dataset);
  if (found == file.arrays.end())
    fail("the dataset '{}' is missing, which the format in 'binsparse' has", dataset);
  if (!found->second.error.empty())
    fail("the dataset '{}' {}", dataset, found->second.error);
  return found->second.elements;
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
      fail("'values' has {} elements, expected 1, since the type says iso", data.storedCount());
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
    fail("'shape' has {} sizes, expected {} for {}", dims.size(), vector ? 1 : 2, format);
  const int64_t count = checkedProduct(dims, name);
  const Tensor values = valuesFor(count).data;
  if (values.storedCount() != count)
    fail("'values' has {} elements, but 'shape' says {}", values.storedCount(), count);
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
    fail("'shape' has {} sizes, expected {} for {}", dims.size(), vector ? 1 : 2, format);
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

FileContents Reader::levels() const {
  auto found = descriptor.find("custom");
  if (found == descriptor.end())
    fail("the description in 'binsparse' lacks 'custom', the levels of the format");
  const format::Encoding encoding = encodingOf(name, *found, dims.size());
  // Positions and coordinates by level, checked where their width is chosen: validate() sees the rest.
  std::vector<std::vector<int64_t>> positions(dims.size()), coordinates(dims.size());
  size_t longest = 0;
  for (size_t l = 0; l < dims.size(); ++l) {
    const format::LevelKind kind = encoding.levels[l].format.kind;
    if (kind == format::LevelKind::Dense)
      continue;
    const int64_t size = dims[size_t(encoding.levels[l].expr->value)];
    coordinates[l] = indexList(name, array(fmt::format("indices_{}", l)));
    checkCoordinates(name, fmt::format("indices_{}", l), coordinates[l], size);
    longest = std::max(longest, coordinates[l].size());
    if (kind == format::LevelKind::Compressed)
      positions[l] = l == 0 ? std::vector<int64_t>{0, int64_t(coordinates[l].size())}
                            : indexList(name, array(fmt::format("pointers_to_{}", l)));
    for (int64_t position : positions[l])
      if (position < 0 || position > int64_t(coordinates[l].size()))
        fail("'pointers_to_{}' holds {}, outside 0 to {}, the number of indices", l, position,
             coordinates[l].size());
  }
  FileContents contents;
  Tensor &stored = contents.stored;
  stored.encoding =
      format::resolveWidths(encoding, *std::max_element(dims.begin(), dims.end()), int64_t(longest));
  stored.layout = format::layout(stored.encoding);
  stored.dims = dims;
  for (const format::Field &field : stored.layout.fields)
    if (field.kind != format::FieldKind::Values)
      stored.buffers.push_back(indexBuffer<int64_t>(
          field.kind == format::FieldKind::Positions ? positions[field.level] : coordinates[field.level],
          field.width, "an index array"));
  // With one value for all, as many as are promised.
  auto promised = descriptor.find("number_of_stored_values");
  const bool known = promised != descriptor.end() && promised->is_number_unsigned() &&
                     promised->get<uint64_t>() < uint64_t(INT64_MAX);
  const Tensor values = valuesFor(known ? promised->get<int64_t>() : int64_t(longest)).data;
  stored.type = values.type;
  stored.buffers.push_back(values.buffers.back());
  try {
    validate(stored);
  } catch (const Error &error) {
    fail("{}", error.what());
  }
  contents.isStored = true;
  contents.suggested = format::printBody(encoding);
  if (const std::string preset = format::displayName(encoding); preset.find('(') == std::string::npos)
    contents.suggested = preset;
  return contents;
}

void Reader::requireCount(const FileContents &contents) const {
  auto promised = descriptor.find("number_of_stored_values");
  const int64_t count = contents.isStored ? contents.stored.storedCount() : contents.entries.count();
  if (promised != descriptor.end() && *promised != count)
    fail("'number_of_stored_values' is {}, but the arrays hold {}", io::quoted(promised->dump()), count);
}

/// Adds the triangle that a structure leaves out.
void Reader::mirror(FileContents &contents) const {
  auto found = descriptor.find("structure");
  if (found == descriptor.end() || *found == "general")
    return;
  const std::string structure = found->is_string() ? found->get<std::string>() : found->dump();
  const bool lower = structure.ends_with("_lower");
  const MtxSymmetry symmetry = structure.starts_with("hermitian_")        ? MtxSymmetry::Hermitian
                               : structure.starts_with("skew_symmetric_") ? MtxSymmetry::Skew
                               : structure.starts_with("symmetric_")      ? MtxSymmetry::Symmetric
                                                                          : MtxSymmetry::General;
  if ((!lower && !structure.ends_with("_upper")) || symmetry == MtxSymmetry::General)
    fail("the structure '{}' is unknown; symmetric, hermitian and skew_symmetric are, each with _lower or "
         "_upper",
         io::quoted(structure));
  if (dims.size() != 2 || dims[0] != dims[1])
    fail("a matrix with the structure '{}' must be square", structure);
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
      fail("entry ({}, {}) lies outside the triangle of the structure '{}'", i, j, structure);
    if (i == j)
      continue;
    const Scalar value = mirrored(symmetry, loadScalar(entries.type, entries.values.data() + k * width));
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
  if (format != "custom" && std::find(std::begin(known), std::end(known), format) == std::end(known))
    fail("the format '{}' is not read; CSR, CSC, DCSR, DCSC, COO, COOC, CVEC, DVEC, DMATR, DMATC and custom "
         "are",
         io::quoted(format));
  const bool isDense = format == "DVEC" || format.starts_with("DMAT");
  FileContents contents = format == "custom" ? levels() : isDense ? dense(format) : matrix(format);
  requireCount(contents);
  mirror(contents);
  return contents;
}

/// Every dataset that some format of the specification has.
std::vector<std::string> datasetNames() {
  std::vector<std::string> names = {"values", "fill_value"};
  for (size_t l = 0; l < mostLevels; ++l) {
    names.push_back(fmt::format("indices_{}", l));
    names.push_back(fmt::format("pointers_to_{}", l));
  }
  return names;
}
const std::vector<std::string> datasets = datasetNames();

} // namespace

FileContents readH5File(const std::string &path) {
  return Reader(path, extractH5(path, datasets, nullptr)).read();
}

FileContents readH5(const Text &text) {
  if (text.bytes.empty())
    throwFileError(text.name, "the file is empty; expected HDF5");
  return Reader(text.name, extractH5(text.name, datasets, &text.bytes)).read();
}

} // namespace tulle::runtime::io
