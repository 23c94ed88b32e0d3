// FROSTT tensor files (http://frostt.io/tensors/file-formats.html): one entry per line, 1-based coordinates,
// then the value.
//
// Lines that start with #, % or ; are comments; three say something:
//   # extended FROSTT format   the two lines that follow are 'order entries' and the sizes (MLIR's files)
//   # dims: 10 20 30           the sizes; without them a dimension ends at its largest coordinate
//   # type: i64                the type of the values; without it f64
#include "runtime/io/Text.h"
#include <algorithm>
#include <cmath>
#include <optional>

namespace tulle::runtime::io {

namespace {

constexpr std::string_view comments = "#%;";
/// More dimensions than any format stores: a line with more numbers is not an entry.
constexpr unsigned maxOrder = 32;

struct Header {
  std::optional<std::vector<int64_t>> dims;
  std::optional<int64_t> entries;
  ElementType type = ElementType::F64;
};

unsigned valueColumns(ElementType type) { return isComplex(type) ? 2 : 1; }

/// The sizes on the rest of the line.
std::vector<int64_t> readSizes(const Text &text, Scanner &scan) {
  std::vector<int64_t> dims;
  for (scan.skipSpaces(); !scan.atLineEnd(); scan.skipSpaces()) {
    if (dims.size() == maxOrder)
      text.fail(scan.p, "more than {} dimensions", maxOrder);
    dims.push_back(scan.unsignedInteger("size of a dimension"));
  }
  return dims;
}

/// The two lines of MLIR's header.
void readExtendedHeader(const Text &text, Scanner &scan, Header &header) {
  if (!scan.nextLine(comments))
    text.fail(scan.p,
              "expected the line 'order entries' of an extended FROSTT header, found the end of the file");
  const char *line = scan.p;
  int64_t order = scan.unsignedInteger("order");
  header.entries = scan.unsignedInteger("number of entries");
  scan.finishLine("this line of the header is 'order entries'");
  if (order > maxOrder)
    text.fail(line, "a tensor of order {}: at most {} dimensions are possible", order, maxOrder);
  if (!scan.nextLine(comments))
    text.fail(scan.p, "expected the line of sizes, found the end of the file");
  line = scan.p;
  header.dims = readSizes(text, scan);
  if (int64_t(header.dims->size()) != order)
    text.fail(line, "the header says order {}, but this line has {}", order,
              counted(int64_t(header.dims->size()), "size", "sizes"));
}

/// Reads the comments before the first entry; leaves the scanner there.
Header readHeader(const Text &text, Scanner &scan) {
  Header header;
  for (;; scan.skipLine()) {
    scan.skipSpaces();
    if (scan.atEnd() || (*scan.p != '\n' && comments.find(*scan.p) == std::string_view::npos))
      return header;
    if (*scan.p == '\n')
      continue;
    ++scan.p;
    scan.skipSpaces();
    std::string_view rest(scan.p, size_t(text.end() - scan.p));
    auto starts = [&](std::string_view word) {
      bool yes = rest.substr(0, word.size()) == word;
      scan.p += yes ? word.size() : 0;
      return yes;
    };
    if (starts("extended FROSTT format")) {
      scan.skipLine();
      readExtendedHeader(text, scan, header);
      return header;
    }
    if (starts("dims:")) {
      header.dims = readSizes(text, scan);
    } else if (starts("type:")) {
      scan.skipSpaces();
      auto type = parseElementType(scan.word(scan.p));
      if (!type)
        text.fail(scan.p, "unknown type '{}'; the types are bool i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128",
                  quoted(scan.word(scan.p)));
      header.type = *type;
    }
  }
}

unsigned countColumns(Scanner scan) {
  unsigned columns = 0;
  for (scan.skipSpaces(); !scan.atLineEnd() && columns <= maxOrder + 2; scan.skipSpaces(), ++columns)
    scan.p += scan.word(scan.p).size();
  return columns;
}

/// The tensor's order, and whether lines end in a value.
struct Shape {
  unsigned order = 0;
  bool values = true;
};

/// Sizes in the file say what a line holds. The order a caller expects only decides between a value and none:
/// that a file is of another order is for the caller to say, who knows the expression.
Shape findShape(const Text &text, const Scanner &scan, const Header &header) {
  unsigned named = header.dims ? unsigned(header.dims->size()) : text.order;
  if (scan.atEnd()) {
    if (!header.dims)
      text.fail(
          scan.p,
          "the file has no entries, so the sizes are unknown; a line such as '# dims: 10 20 30' names them");
    return {named, true};
  }
  unsigned columns = countColumns(scan), width = valueColumns(header.type);
  if (columns == named && named != 0)
    return {named, false};
  if (header.dims && columns != named + width)
    text.fail(scan.p, "this line has {}, but an entry of a tensor with {} has {} and at most {}",
              counted(columns, "number", "numbers"), counted(named, "size", "sizes"),
              counted(named, "coordinate", "coordinates"), counted(width, "value", "values"));
  if (columns < width)
    text.fail(scan.p, "this line has {}, but a {} value has {}", counted(columns, "number", "numbers"),
              name(header.type), width);
  if (columns - width > maxOrder)
    text.fail(scan.p, "this line has more than {} coordinates; an entry is 'i j k … value'", maxOrder);
  return {columns - width, true};
}

/// Reserves memory for as many entries as the file has if its other lines are like its first ones.
void reserveEntries(const Text &text, const Scanner &scan, Entries &entries) {
  std::string_view rest(scan.p, size_t(text.end() - scan.p));
  std::string_view sample = rest.substr(0, 1 << 16);
  size_t lines = size_t(std::count(sample.begin(), sample.end(), '\n')) + 1;
  size_t all = rest.size() / (sample.size() / lines + 1) + 1;
  // A sample of blank lines must not promise more than entries can be.
  all = std::min(all + all / 16, rest.size() / (2 * (entries.coords.size() + 1)) + 1);
  for (auto &coords : entries.coords)
    reserveLarge(coords, all);
  reserveLarge(entries.values, all * byteWidth(entries.type));
}

void append(std::vector<std::byte> &values, double value) {
  const auto *bytes = reinterpret_cast<const std::byte *>(&value);
  values.insert(values.end(), bytes, bytes + sizeof value);
}

void appendValue(Scanner &scan, ElementType type, std::vector<std::byte> &values) {
  scan.skipSpaces();
  const char *start = scan.p;
  Scalar value;
  if (isFloat(type) || isComplex(type)) {
    double real = scan.real("value");
    value.f = {real, isComplex(type) ? scan.real("imaginary part") : 0.0};
  } else {
    value.i = scan.signedInteger("value");
    int64_t most = type == ElementType::Bool ? 1 : INT64_MAX >> (64 - 8 * byteWidth(type));
    int64_t least = type == ElementType::Bool ? 0 : -most - 1;
    if (value.i < least || value.i > most)
      scan.text.fail(start, "the value {} does not fit the file's type {}", value.i, name(type));
  }
  size_t at = values.size();
  values.resize(at + byteWidth(type));
  storeScalar(type, values.data() + at, value);
  std::complex<double> stored = loadScalar(type, values.data() + at).f;
  auto overflows = [](double given, double kept) { return std::isinf(kept) && !std::isinf(given); };
  if (overflows(value.f.real(), stored.real()) || overflows(value.f.imag(), stored.imag()))
    scan.text.fail(start, "the value is beyond the range of the file's type {}", name(type));
}

/// Coordinates out of their size are only known to be so with a header; without one the sizes grow.
void readEntries(const Text &text, Scanner &scan, const Header &header, const Shape &shape,
                 Entries &entries) {
  const bool plain = header.type == ElementType::F64;
  std::string cure = fmt::format("an entry here is {}{}", counted(shape.order, "coordinate", "coordinates"),
                                 shape.values ? " and a value" : " without a value");
  reserveEntries(text, scan, entries);
  forEachLine(scan, comments, header.entries, cure, [&](int64_t k) {
    if (shape.order == 0 && k == 1)
      text.fail(scan.p, "a scalar file holds one value");
    for (unsigned d = 0; d < shape.order; ++d) {
      scan.skipSpaces();
      const char *at = scan.p;
      int64_t coordinate = scan.unsignedInteger("coordinate");
      if (coordinate == 0)
        text.fail(at, "coordinate {} is 0; .tns files count from 1", d + 1);
      if (header.dims && coordinate > entries.dims[d])
        text.fail(at, "coordinate {} is {}, beyond the size {} in the header", d + 1, coordinate,
                  entries.dims[d]);
      entries.dims[d] = std::max(entries.dims[d], coordinate);
      entries.coords[d].push_back(coordinate - 1);
    }
    if (!shape.values)
      append(entries.values, 1);
    else if (plain)
      append(entries.values, scan.real("value"));
    else
      appendValue(scan, header.type, entries.values);
  });
}

} // namespace

FileContents readTns(const Text &text) {
  if (text.bytes.empty())
    text.fail(text.begin(), "the file is empty; a .tns file holds lines 'i j k … value', coordinates from 1");
  Scanner scan(text);
  Header header = readHeader(text, scan);
  scan.nextLine(comments);
  Shape shape = findShape(text, scan, header);
  if (!shape.values)
    header.type = ElementType::F64;
  Entries entries;
  entries.type = header.type;
  entries.coords.resize(shape.order);
  entries.dims = header.dims ? *header.dims : std::vector<int64_t>(shape.order, 0);
  readEntries(text, scan, header, shape, entries);
  return {std::move(entries), "CSF"};
}

} // namespace tulle::runtime::io
