// NumPy arrays (numpy.lib.format): versions 1 to 3, row- and column-major, both byte orders.
#include "runtime/io/Text.h"
#include "support/Errors.h"
#include <algorithm>
#include <bit>
#include <charconv>

namespace tulle::runtime::io {

static_assert(std::endian::native == std::endian::little, "element bytes are copied as they are");

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr size_t maxOrder = 32;
/// NumPy's own limit on headers it reads is 10,000 characters; structured types may be longer but are refused
/// anyway.
constexpr size_t maxHeader = 1 << 20;

/// NumPy's name of a type, and ours: the next wider signed one holds every value of an unsigned one, but for
/// uint64, of which each value is checked.
struct NumpyType {
  std::string_view name;
  unsigned width; ///< bytes of an element
  ElementType type;
};
constexpr NumpyType numpyTypes[] = {
    {"b1", 1, ElementType::Bool},   {"i1", 1, ElementType::I8},  {"i2", 2, ElementType::I16},
    {"i4", 4, ElementType::I32},    {"i8", 8, ElementType::I64}, {"f2", 2, ElementType::F16},
    {"f4", 4, ElementType::F32},    {"f8", 8, ElementType::F64}, {"c8", 8, ElementType::C64},
    {"c16", 16, ElementType::C128}, {"u1", 1, ElementType::I16}, {"u2", 2, ElementType::I32},
    {"u4", 4, ElementType::I64},    {"u8", 8, ElementType::I64}, {"?", 1, ElementType::Bool}};

struct Array {
  NumpyType type = {};
  bool isText = false; ///< of so many bytes
  bool swap = false, columnMajor = false;
  std::vector<int64_t> dims;

  bool isUnsigned() const { return type.name.starts_with('u'); }
};

/// A line and column say nothing in a binary file; the byte does.
template <class... Args>
[[noreturn]] void failAt(const Text &text, const char *at, fmt::format_string<Args...> message,
                         Args &&...args) {
  throwFileError(text.name, "{} (byte {})", fmt::format(message, std::forward<Args>(args)...),
                 at - text.begin());
}

/// Reads the Python dictionary literal `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
class HeaderParser {
public:
  HeaderParser(const Text &text, const char *begin, const char *end, bool textAllowed)
      : text(text), p(begin), end(end), textAllowed(textAllowed) {}

  Array parse() {
    std::vector<std::string_view> seen;
    expect('{');
    while (!accept('}')) {
      skip();
      const char *at = p;
      std::string_view key = string();
      expect(':');
      skip();
      const bool again = std::ranges::count(seen, key) > 0;
      seen.push_back(key);
      if (key == "descr" && !again)
        parseType();
      else if (key == "fortran_order" && !again)
        array.columnMajor = boolean();
      else if (key == "shape" && !again)
        parseShape();
      else
        failAt(text, at,
               "unexpected key '{}' in the .npy header; it holds descr, fortran_order and shape, once each",
               quoted(key));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (p != end)
      failAt(text, p, "unexpected text after the .npy header's closing brace");
    if (seen.size() != 3)
      failAt(text, end, "the .npy header lacks one of descr, fortran_order and shape");
    return array;
  }

private:
  void skip() {
    while (p != end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
      ++p;
  }
  bool accept(char c) {
    skip();
    if (p == end || *p != c)
      return false;
    ++p;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      failAt(text, p, "expected '{}' in the .npy header", c);
  }
  std::string_view string() {
    skip();
    if (p == end || (*p != '\'' && *p != '"'))
      failAt(text, p, "expected a quoted word in the .npy header");
    const char quote = *p, *start = p + 1;
    const char *stop = std::find(start, end, quote);
    if (stop == end)
      failAt(text, p, "the quote in the .npy header does not end");
    p = stop + 1;
    return {start, size_t(stop - start)};
  }
  bool boolean() {
    std::string_view rest(p, size_t(end - p));
    if (rest.substr(0, 4) == "True")
      return p += 4, true;
    if (rest.substr(0, 5) == "False")
      return p += 5, false;
    failAt(text, p, "expected True or False for fortran_order");
  }
  void parseType() {
    const char *at = p;
    if (p != end && *p == '[')
      failAt(text, at, "arrays of records are not supported; save one field: numpy.save(file, a['field'])");
    std::string_view type = string();
    std::string_view rest = type;
    if (!rest.empty() && (rest[0] == '<' || rest[0] == '>' || rest[0] == '=' || rest[0] == '|')) {
      array.swap = rest[0] == '>';
      rest.remove_prefix(1);
    }
    if (const char *digits = rest.data() + 1;
        textAllowed && rest.size() > 1 && rest.size() < 5 && (rest[0] == 'S' || rest[0] == 'U')) {
      // NumPy's U holds four bytes a character.
      unsigned length = 0;
      if (std::from_chars(digits, rest.data() + rest.size(), length).ptr == rest.data() + rest.size()) {
        array.isText = true;
        array.type.width = rest[0] == 'U' ? 4 * length : length;
        return;
      }
    }
    const auto *known = std::ranges::find(numpyTypes, rest, &NumpyType::name);
    if (known == std::end(numpyTypes))
      failAt(text, at,
             "elements of type '{}' are not supported; convert with a.astype() to bool, int8 to int64, uint8 "
             "to uint64, float16 to float64, complex64 or complex128",
             quoted(type));
    array.type = *known;
  }
  void parseShape() {
    expect('(');
    while (!accept(')')) {
      skip();
      const char *at = p;
      int64_t size = 0;
      auto [stop, error] = std::from_chars(at, end, size);
      if (error == std::errc::result_out_of_range)
        failAt(text, at, "the size of a dimension does not fit a signed 64-bit integer");
      if (stop != at && *at == '-')
        failAt(text, at, "the size {} of a dimension is negative; sizes are 0 or more",
               quoted({at, size_t(stop - at)}));
      p = stop;
      if (p == at)
        failAt(text, at, "expected the size of a dimension (an unsigned integer)");
      if (array.dims.size() == maxOrder)
        failAt(text, at, "more than {} dimensions", maxOrder);
      array.dims.push_back(size);
      if (p != end && *p == 'L') // Python 2 wrote long integers so
        ++p;
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  const Text &text;
  const char *p, *end;
  bool textAllowed;
  Array array;
};

/// Copies element `from` of the file to `target`, swapped and widened as the header says.
void copyElement(const Text &text, const Array &array, const char *from, std::byte *target) {
  const unsigned width = array.type.width, part = isComplex(array.type.type) ? width / 2 : width;
  unsigned char bytes[16];
  std::memcpy(bytes, from, width);
  for (unsigned k = 0; array.swap && k < width; k += part)
    std::reverse(bytes + k, bytes + k + part);
  if (array.type.type == ElementType::Bool)
    bytes[0] = bytes[0] != 0;
  if (!array.isUnsigned()) {
    std::memcpy(target, bytes, width);
    return;
  }
  uint64_t value = 0;
  std::memcpy(&value, bytes, width);
  if (value > uint64_t(INT64_MAX))
    failAt(text, from,
           "the element is {}, which does not fit a signed 64-bit integer; save the array as float64", value);
  std::memcpy(target, &value, byteWidth(array.type.type));
}

/// True when the file's bytes are the tensor's as they stand.
bool copiesWhole(const Array &array) {
  const bool byteOrder = !array.swap || array.type.width == 1;
  return byteOrder && !array.isUnsigned() && array.type.type != ElementType::Bool &&
         (!array.columnMajor || array.dims.size() < 2);
}

void copyElements(const Text &text, const Array &array, const char *data, int64_t count, Tensor &dense) {
  if (count == 0)
    return;
  std::byte *target = static_cast<std::byte *>(dense.values());
  const unsigned width = byteWidth(dense.type);
  if (copiesWhole(array)) {
    std::memcpy(target, data, size_t(count) * width);
    return;
  }
  // In the target's row-major order; `from` is the element's number in the file.
  const size_t order = array.dims.size();
  std::vector<int64_t> stride(order, 1), index(order, 0);
  for (size_t d = 1; array.columnMajor && d < order; ++d)
    stride[d] = stride[d - 1] * array.dims[d - 1];
  for (size_t d = order; !array.columnMajor && d-- > 1;)
    stride[d - 1] = stride[d] * array.dims[d];
  int64_t from = 0;
  for (int64_t k = 0; k < count; ++k) {
    copyElement(text, array, data + from * array.type.width, target + k * width);
    for (size_t d = order; d-- > 0;) {
      from += stride[d];
      if (++index[d] < array.dims[d])
        break;
      from -= stride[d] * array.dims[d];
      index[d] = 0;
    }
    if (k % reportEvery == 0)
      text.report(data + from * array.type.width);
  }
}

struct Header {
  Array array;
  const char *data = nullptr; ///< the elements, all present
  int64_t count = 0;
};

/// Reads and checks everything but the elements.
Header readHeader(const Text &text, bool textAllowed) {
  if (text.bytes.empty())
    failAt(text, text.begin(), "the file is empty; expected a NumPy array");
  if (text.bytes.substr(0, magic.size()) != magic || text.bytes.size() < 10)
    failAt(text, text.begin(), "not a NumPy array: the file does not start with \\x93NUMPY and a version");
  auto byte = [&](size_t k) { return size_t(static_cast<unsigned char>(text.bytes[k])); };
  const size_t version = byte(6), prefix = version == 1 ? 10 : 12;
  if (version < 1 || version > 3)
    failAt(text, text.begin() + 6, "version {}.{} of the .npy format is unknown; versions 1 to 3 are",
           version, byte(7));
  if (text.bytes.size() < prefix)
    failAt(text, text.end(), "the .npy header is cut short; copy the file again");
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1)
    length |= byte(10) << 16 | byte(11) << 24;
  if (length > text.bytes.size() - prefix)
    failAt(text, text.begin() + 8,
           "the .npy header should have {} bytes, but only {} follow; the file is truncated", length,
           text.bytes.size() - prefix);
  if (length > maxHeader)
    failAt(text, text.begin() + 8, "the .npy header has {} bytes, more than the {} any plain array needs",
           length, maxHeader);
  Header header;
  const char *data = header.data = text.begin() + prefix + length;
  Array array = header.array = HeaderParser(text, text.begin() + prefix, data, textAllowed).parse();

  // A dimension of size 0 makes the array empty whatever the others are.
  bool empty = std::find(array.dims.begin(), array.dims.end(), 0) != array.dims.end();
  int64_t &count = header.count = empty ? 0 : 1;
  int64_t bytes = 0;
  bool fits = true;
  for (size_t d = 0; d < array.dims.size() && !empty; ++d)
    fits = fits && !__builtin_mul_overflow(count, array.dims[d], &count);
  fits = fits && !__builtin_mul_overflow(count, array.type.width, &bytes);
  const int64_t present = text.end() - data;
  if (!fits || bytes > present)
    throwFileError(text.name, "the .npy header promises {}, but {} after the header; the file is truncated",
                   fits ? counted(bytes, "byte", "bytes") + " of data" : "more data than memory can hold",
                   counted(present, "byte follows", "bytes follow"));
  if (bytes < present)
    throwFileError(text.name, "{} after the array's {}; a file holds one array",
                   counted(present - bytes, "byte follows", "bytes follow"), counted(bytes, "byte", "bytes"));
  return header;
}

} // namespace

FileContents readNpy(const Text &text) {
  const Header header = readHeader(text, /*textAllowed=*/false);
  Tensor dense = makeDense(header.array.type.type, header.array.dims, /*zeroed=*/false);
  copyElements(text, header.array, header.data, header.count, dense);
  return {std::move(dense), "dense"};
}

std::string readNpyText(const Text &text) {
  const Header header = readHeader(text, /*textAllowed=*/true);
  if (!header.array.isText || header.count != 1)
    failAt(text, text.begin(), "expected one text, such as numpy.array('csr')");
  // The text ends at its first zero; wide characters are ASCII with three zeros each.
  std::string word;
  for (unsigned k = 0; k < header.array.type.width; ++k)
    if (header.data[k] != '\0')
      word += header.data[k];
  return word;
}

std::string npyHeader(ElementType type, const std::vector<int64_t> &dims) {
  const auto *numpy = std::ranges::find(numpyTypes, type, &NumpyType::type);
  if (numpy == std::end(numpyTypes))
    throw Error("NumPy has no bf16; convert the tensor to f32 or write .mtx or .tns");
  std::string shape;
  for (int64_t size : dims)
    shape += fmt::format("{}{}", size, dims.size() == 1 ? "," : ", ");
  if (dims.size() > 1)
    shape.resize(shape.size() - 2);
  std::string dictionary = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                       numpy->width == 1 ? '|' : '<', numpy->name, shape);
  const size_t prefix = 10;
  dictionary.append((64 - (prefix + dictionary.size() + 1) % 64) % 64, ' ');
  dictionary += '\n';
  // 32 dimensions of 19 digits fit version 1's 65,535 bytes.
  std::string header(magic);
  header += {'\x01', '\x00', char(dictionary.size() & 0xff), char(dictionary.size() >> 8)};
  return header + dictionary;
}

} // namespace tulle::runtime::io
