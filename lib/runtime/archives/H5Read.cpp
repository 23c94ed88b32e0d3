// Binsparse: a JSON text in the attribute `binsparse` says which of the datasets values, indices_<l> and
// pointers_to_<l> there are, and what they mean.
#include "runtime/archives/H5.h"
#include "runtime/io/CompressedArrays.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include <fmt/ranges.h>
#include <numeric>

namespace tulle::runtime::io {

namespace {

using Json = nlohmann::json;

/// The type of a values array: `iso[complex[float64]]` and parts of it.
struct ValueType {
  std::string base;
  bool iso = false, complex = false;
};

class Reader : NamesFile {
public:
  Reader(const std::string &name, const ExtractedFile &extracted) : NamesFile{name}, extracted(extracted) {}

  FileContents read() {
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
      fail("the format '{}' is not read; {} and custom are", io::quoted(format), fmt::join(known, ", "));
    FileContents contents = format == "custom" ? levels() : predefined(format);
    requireCount(contents);
    mirror(contents);
    return contents;
  }

private:
  const Json &key(const char *key, bool (Json::*is)() const, const char *what) const {
    auto found = descriptor.find(key);
    if (found == descriptor.end() || !((*found).*is)())
      fail("the description in 'binsparse' lacks '{}', {}", key, what);
    return *found;
  }

  void parseDescriptor() {
    const std::string &text = extracted.text;
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

  Tensor dataset(const std::string &dataset) const {
    auto found = extracted.arrays.find(dataset);
    if (found == extracted.arrays.end())
      fail("the dataset '{}' is missing, which the format in 'binsparse' has", dataset);
    if (!found->second.error.empty())
      fail("the dataset '{}' {}", dataset, found->second.error);
    return found->second.elements;
  }

  /// The values of `count` stored elements, in the type the description names.
  NamedArray valuesFor(int64_t count) const {
    NamedArray values = array("values");
    Tensor &data = values.data;
    if (type.base == "bint8") {
      Tensor bits = makeDense(ElementType::Bool, data.dims, false);
      for (int64_t k = 0; k < data.storedCount(); ++k)
        static_cast<uint8_t *>(bits.values())[k] = loadScalar(data.type, data.value(k)).i != 0;
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
      fillBuffer(all.values(), count, {data.value(0), data.value(1)});
      data = all;
    }
    return values;
  }

  FileContents compressed(const std::string &format) const {
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
    return compressedContents(file, arrays);
  }

  FileContents predefined(const std::string &format) const {
    const bool isVector = format.ends_with("VEC"), byColumns = !isVector && format.ends_with("C");
    if (dims.size() != (isVector ? 1 : 2))
      fail("'shape' has {} sizes, expected {} for {}", dims.size(), isVector ? 1 : 2, format);
    if (format == "DVEC" || format.starts_with("DMAT")) {
      const int64_t count = checkedProduct(dims, file);
      const Tensor values = valuesFor(count).data;
      if (values.storedCount() != count)
        fail("'values' has {} elements, but 'shape' says {}", values.storedCount(), count);
      const char *preset = byColumns ? "denseColMajor" : "dense";
      Tensor stored(format::resolveWidths(format::parseFormat(preset, dims.size()), 0, 0), values.type, dims);
      stored.buffers = values.buffers;
      return {std::move(stored), preset};
    }
    if (format != "CVEC" && !format.starts_with("COO"))
      return compressed(format);
    std::vector<NamedArray> coordinates = {array("indices_0")};
    if (!isVector)
      coordinates.push_back(array("indices_1"));
    NamedArray values = valuesFor(coordinates[0].data.storedCount());
    if (byColumns)
      std::swap(coordinates[0], coordinates[1]);
    FileContents contents = coordinateContents(file, dims, coordinates, values);
    if (isVector)
      contents.suggested = "(i) -> (i : compressed)";
    return contents;
  }

  //===--- "custom": levels nested in each other ---===//

  const Json &child(const Json &parent, const char *key) const {
    if (!parent.is_object() || !parent.contains(key))
      fail("a level of 'custom' lacks '{}'", key);
    return parent[key];
  }
  std::string kindOf(const Json &level) const {
    const Json &kind = child(level, "level_desc");
    return kind.is_string() ? kind.get<std::string>() : kind.dump();
  }

  /// The dimension of each level.
  std::vector<size_t> transpose(const Json &custom) const {
    std::vector<size_t> straight(dims.size());
    std::iota(straight.begin(), straight.end(), size_t(0));
    auto found = custom.find("transpose");
    if (found == custom.end() || found->is_null())
      return straight;
    if (found->is_array() &&
        std::ranges::all_of(*found, [](const Json &d) { return d.is_number_unsigned(); }))
      if (auto given = found->get<std::vector<size_t>>(); std::ranges::is_permutation(given, straight))
        return given;
    fail("'transpose' is {}, expected each of 0 to {} once", io::quoted(found->dump()), dims.size() - 1);
  }

  /// The encoding that the levels mean: runs keep one array for each level.
  format::Encoding encodingOf(const Json &custom) const {
    const size_t order = dims.size();
    if (order == 0 || order > mostLevels)
      fail("'shape' has {} sizes, expected 1 to {} for levels", order, mostLevels);
    const std::vector<size_t> dimensions = transpose(custom);
    std::vector<std::string> levels;
    const Json *level = &child(custom, "level");
    for (std::string kind; (kind = kindOf(*level)) != "element"; level = &child(*level, "level")) {
      const Json &rank = child(*level, "rank");
      const size_t left = order - levels.size();
      if (!rank.is_number_unsigned() || rank.get<uint64_t>() < 1 || rank.get<uint64_t>() > left)
        fail("the rank of a level of 'custom' is {}; {} dimensions are left", io::quoted(rank.dump()), left);
      const size_t count = rank.get<uint64_t>();
      if (kind != "dense" && kind != "sparse")
        fail("the level '{}' of 'custom' is unknown; dense, sparse and element are", io::quoted(kind));
      for (size_t k = 0; k < count; ++k) {
        const bool last = k + 1 == count;
        levels.push_back(kind == "dense" ? "dense"
                         : k == 0        ? last ? "compressed" : "compressed(nonunique)"
                         : last          ? "singleton(soa)"
                                         : "singleton(nonunique, soa)");
      }
    }
    if (levels.size() != order)
      fail("the levels of 'custom' have {} dimensions, but 'shape' has {}", levels.size(), order);
    for (size_t l = 0; l < order; ++l)
      levels[l] = fmt::format("d{} : {}", dimensions[l], levels[l]);
    std::vector<size_t> all(order);
    std::iota(all.begin(), all.end(), size_t(0));
    return format::parseEncoding(
        fmt::format("(d{}) -> ({})", fmt::join(all, ", d"), fmt::join(levels, ", ")));
  }

  FileContents levels() const {
    auto found = descriptor.find("custom");
    if (found == descriptor.end())
      fail("the description in 'binsparse' lacks 'custom', the levels of the format");
    const format::Encoding encoding = encodingOf(*found);
    // Positions and coordinates by level, checked where their width is chosen: validate() sees the rest.
    std::vector<std::vector<int64_t>> positions(dims.size()), coordinates(dims.size());
    size_t longest = 0;
    for (size_t l = 0; l < dims.size(); ++l) {
      const format::LevelKind kind = encoding.levels[l].format.kind;
      if (kind == format::LevelKind::Dense)
        continue;
      const int64_t size = dims[size_t(encoding.levels[l].expr->value)];
      coordinates[l] = indexList(file, array(fmt::format("indices_{}", l)));
      checkCoordinates(file, fmt::format("indices_{}", l), coordinates[l], size);
      longest = std::max(longest, coordinates[l].size());
      if (kind == format::LevelKind::Compressed)
        positions[l] = l == 0 ? std::vector<int64_t>{0, int64_t(coordinates[l].size())}
                              : indexList(file, array(fmt::format("pointers_to_{}", l)));
      for (int64_t position : positions[l])
        if (position < 0 || position > int64_t(coordinates[l].size()))
          fail("'pointers_to_{}' holds {}, outside 0 to {}, the number of indices", l, position,
               coordinates[l].size());
    }
    // With one value for all, as many as are promised.
    auto promised = descriptor.find("number_of_stored_values");
    const bool known = promised != descriptor.end() && promised->is_number_unsigned() &&
                       promised->get<uint64_t>() < uint64_t(INT64_MAX);
    const Tensor values = valuesFor(known ? promised->get<int64_t>() : int64_t(longest)).data;
    Tensor stored(
        format::resolveWidths(encoding, *std::max_element(dims.begin(), dims.end()), int64_t(longest)),
        values.type, dims);
    for (const format::Field &field : stored.layout().fields)
      stored.buffers.push_back(field.kind == format::FieldKind::Values
                                   ? values.buffers.back()
                                   : indexBuffer<int64_t>(field.kind == format::FieldKind::Positions
                                                              ? positions[field.level]
                                                              : coordinates[field.level],
                                                          field.width, "an index array"));
    try {
      validate(stored);
    } catch (const Error &error) {
      fail("{}", error.what());
    }
    const std::string preset = format::displayName(encoding);
    return {std::move(stored), preset.find('(') == std::string::npos ? preset : format::printBody(encoding)};
  }

  void requireCount(const FileContents &contents) const {
    auto promised = descriptor.find("number_of_stored_values");
    const int64_t count = contents.isStored ? contents.stored.storedCount() : contents.entries.count();
    if (promised != descriptor.end() && *promised != count)
      fail("'number_of_stored_values' is {}, but the arrays hold {}", io::quoted(promised->dump()), count);
  }

  /// Adds the triangle that a structure leaves out.
  void mirror(FileContents &contents) const {
    auto found = descriptor.find("structure");
    if (found == descriptor.end() || *found == "general")
      return;
    const std::string structure = found->is_string() ? found->get<std::string>() : found->dump();
    const bool lower = structure.ends_with("_lower");
    const Symmetry symmetry = structure.starts_with("hermitian_")        ? Symmetry::Hermitian
                              : structure.starts_with("skew_symmetric_") ? Symmetry::Skew
                              : structure.starts_with("symmetric_")      ? Symmetry::Symmetric
                                                                         : Symmetry::General;
    if ((!lower && !structure.ends_with("_upper")) || symmetry == Symmetry::General)
      fail("the structure '{}' is unknown; symmetric, hermitian and skew_symmetric are, each with _lower or "
           "_upper",
           io::quoted(structure));
    if (dims.size() != 2 || dims[0] != dims[1])
      fail("a matrix with the structure '{}' must be square", structure);
    if (contents.isStored)
      contents = {unpack(contents.stored),
                  format::isAllDense(contents.stored.encoding) ? "CSR" : contents.suggested};
    Entries &entries = contents.entries;
    for (size_t k = 0; k < entries.coords[0].size(); ++k) {
      const int64_t i = entries.coords[0][k], j = entries.coords[1][k];
      if (lower ? i < j : i > j)
        fail("entry ({}, {}) lies outside the triangle of the structure '{}'", i, j, structure);
    }
    appendMirrored(entries, symmetry);
  }

  NamedArray array(const std::string &dataset) const { return {dataset, this->dataset(dataset)}; }

  const ExtractedFile &extracted;
  Json descriptor;
  std::vector<int64_t> dims;
  ValueType type;
};

FileContents readArrays(const std::string &path, const std::string_view *image) {
  // Every dataset that some format of the specification has.
  std::vector<std::string> names = {"values", "fill_value"};
  for (size_t l = 0; l < mostLevels; ++l) {
    names.push_back(fmt::format("indices_{}", l));
    names.push_back(fmt::format("pointers_to_{}", l));
  }
  return Reader(path, extractH5(path, names, image)).read();
}

} // namespace

FileContents readH5File(const std::string &path) { return readArrays(path, nullptr); }

FileContents readH5(const Text &text) {
  if (text.bytes.empty())
    throwFileError(text.name, "the file is empty; expected HDF5");
  return readArrays(text.name, &text.bytes);
}

} // namespace tulle::runtime::io
