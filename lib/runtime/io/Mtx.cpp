// Matrix Market exchange files (https://math.nist.gov/MatrixMarket/formats.html): coordinate and array.
#include "runtime/io/CompressedArrays.h"
#include "runtime/io/Text.h"
#include <algorithm>
#include <limits>

namespace tulle::runtime::io {

namespace {

enum class MtxField : uint8_t { Real, Integer, Complex, Pattern };

struct MtxHeader {
  bool array = false;
  MtxField field = MtxField::Real;
  Symmetry symmetry = Symmetry::General;
  int64_t rows = 0, cols = 0;
  int64_t entries = 0; ///< lines after the header: of an array, the elements it stores
};

constexpr std::string_view symmetryNames[] = {"general", "symmetric", "skew-symmetric", "hermitian"};

ElementType elementType(MtxField field) {
  return field == MtxField::Integer   ? ElementType::I64
         : field == MtxField::Complex ? ElementType::C128
                                      : ElementType::F64;
}

bool equalsLower(std::string_view word, std::string_view lower) {
  return std::ranges::equal(word, lower, {}, [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
}

/// The words of the first line.
struct Banner {
  static constexpr std::string_view example = "%%MatrixMarket matrix coordinate real general";
  const Text &text;
  const char *end; ///< of the line
  std::vector<std::string_view> words;

  Banner(const Text &text, Scanner &scan) : text(text) {
    for (scan.skipSpaces(); !scan.atLineEnd(); scan.skipSpaces()) {
      words.push_back(scan.word(scan.p));
      scan.p += words.back().size();
    }
    end = scan.p;
  }

  /// What word k means; `choices` says which there are.
  template <class Value>
  Value choose(size_t k, std::string_view what, std::string_view choices,
               std::initializer_list<std::pair<std::string_view, Value>> values) const {
    for (const auto &[name, value] : values)
      if (k < words.size() && equalsLower(words[k], name))
        return value;
    text.fail(k < words.size() ? words[k].data() : end,
              "expected the {} ({}), found {}; a whole banner reads '{}'", what, choices,
              k < words.size() ? fmt::format("'{}'", quoted(words[k])) : "the end of the line", example);
  }
};

MtxHeader readBanner(const Text &text, Scanner &scan) {
  using enum MtxField;
  using enum Symmetry;
  if (text.bytes.empty())
    text.fail(text.begin(), "the file is empty; a Matrix Market file starts with '{}'", Banner::example);
  const Banner banner(text, scan);
  const auto &words = banner.words;
  if (words.empty() || !equalsLower(words[0], "%%matrixmarket"))
    text.fail(text.begin(), "expected the banner '{}' on the first line", Banner::example);
  banner.choose<bool>(1, "object", "matrix", {{"matrix", true}});
  MtxHeader header;
  header.array =
      banner.choose<bool>(2, "layout", "coordinate or array", {{"coordinate", false}, {"array", true}});
  header.field = banner.choose<MtxField>(3, "field", "real, integer, complex or pattern",
                                         {{"real", Real},
                                          {"double", Real},
                                          {"integer", Integer},
                                          {"unsigned-integer", Integer},
                                          {"complex", Complex},
                                          {"pattern", Pattern}});
  header.symmetry = banner.choose<Symmetry>(
      4, "symmetry", "general, symmetric, skew-symmetric or hermitian",
      {{"general", General}, {"symmetric", Symmetric}, {"skew-symmetric", Skew}, {"hermitian", Hermitian}});
  if (words.size() > 5)
    text.fail(words[5].data(), "unexpected '{}' after the banner's five words", quoted(words[5]));
  if (header.field == Pattern && header.array)
    text.fail(words[3].data(), "an array has no pattern; its field is real, integer or complex");
  if (header.field == Pattern && header.symmetry == Skew)
    text.fail(words[4].data(), "a pattern has no signs to be skew-symmetric; say symmetric or general");
  if (header.symmetry == Hermitian && header.field != Complex)
    text.fail(words[4].data(), "a hermitian matrix has field complex; for other fields say symmetric");
  scan.skipLine();
  return header;
}

/// The entries that the rest of the file could hold, were they all as short as possible: digits, each with a
/// space or line end behind it.
int64_t mostEntries(const Text &text, const Scanner &scan, const MtxHeader &header) {
  int64_t numbers = (header.array ? 0 : 2) + (header.field == MtxField::Pattern ? 0 : 1) +
                    (header.field == MtxField::Complex ? 1 : 0);
  return (text.end() - scan.p + 1) / (2 * numbers);
}

void readSizes(const Text &text, Scanner &scan, MtxHeader &header) {
  if (!scan.nextLine("%"))
    text.fail(scan.p, "expected the size line ({}), found the end of the file",
              header.array ? "rows columns" : "rows columns entries");
  const char *line = scan.p;
  header.rows = scan.unsignedInteger("number of rows");
  header.cols = scan.unsignedInteger("number of columns");
  if (!header.array)
    header.entries = scan.unsignedInteger("number of entries");
  scan.finishLine(header.array ? "the size line of an array is 'rows columns'"
                               : "the size line is 'rows columns entries'");
  if (header.symmetry != Symmetry::General && header.rows != header.cols)
    text.fail(line, "a {} matrix is square, but this one is {} by {}", symmetryNames[size_t(header.symmetry)],
              header.rows, header.cols);
  if (!header.array)
    return;
  int64_t all = 0, bytes = 0;
  if (__builtin_mul_overflow(header.rows, header.cols, &all) || __builtin_mul_overflow(all, 16, &bytes))
    text.fail(line, "an array of {} by {} elements does not fit in memory", header.rows, header.cols);
  // Of each column a file stores all, or the part from the diagonal (skew-symmetric: from below it) down.
  header.entries = header.symmetry == Symmetry::General ? all
                   : header.symmetry == Symmetry::Skew  ? (all - header.rows) / 2
                                                        : (all + header.rows) / 2;
  int64_t most = mostEntries(text, scan, header);
  if (header.entries > most)
    text.fail(line,
              "the header promises {}, but the rest of the file ({}) holds at most {}; the file is truncated "
              "or the header wrong",
              counted(header.entries, "value", "values"), counted(text.end() - scan.p, "byte", "bytes"),
              most);
}

/// Reads entry `k`'s value; a pattern's is 1.
template <MtxField field> void readValue(Scanner &scan, std::byte *values, int64_t k) {
  if constexpr (field == MtxField::Integer) {
    reinterpret_cast<int64_t *>(values)[k] = scan.signedInteger("value");
  } else if constexpr (field == MtxField::Complex) {
    reinterpret_cast<double *>(values)[2 * k] = scan.real("real part");
    reinterpret_cast<double *>(values)[2 * k + 1] = scan.real("imaginary part");
  } else {
    reinterpret_cast<double *>(values)[k] = field == MtxField::Pattern ? 1 : scan.real("value");
  }
}

std::string_view entryCure(const MtxHeader &header) {
  return header.array ? "an array file holds one value per line, column after column"
         : header.field == MtxField::Pattern
             ? "an entry of a pattern is 'row column'; name the field real to keep values"
         : header.field == MtxField::Complex
             ? "an entry of a complex matrix is 'row column real imaginary'"
             : "an entry is 'row column value'; name the field complex for two values";
}

int64_t readIndex(Scanner &scan, std::string_view what, int64_t size) {
  int64_t index = scan.unsignedInteger(what);
  if (uint64_t(index) - 1 >= uint64_t(size)) {
    const char *at = scan.p;
    while (at != scan.text.begin() && at[-1] != ' ' && at[-1] != '\t' && at[-1] != '\n')
      --at;
    if (index == 0)
      scan.text.fail(at, "the {} is 0; Matrix Market counts from 1", what);
    scan.text.fail(at, "the {} {} is beyond the matrix's size {}", what, index, size);
  }
  return index - 1;
}

//===--- The half of a matrix that its file leaves out ---===//

/// Why a value cannot be that of an entry of such a matrix; empty where it can.
std::string_view whyNotMirrored(Symmetry symmetry, const Scalar &value, bool onDiagonal) {
  const bool skew = symmetry == Symmetry::Skew;
  if (skew && !onDiagonal && value.i == std::numeric_limits<int64_t>::min())
    return "the negative of this entry's integer does not fit 64 bits; make the field real";
  if (symmetry == Symmetry::Hermitian && onDiagonal && !(value.f.imag() == 0))
    return "the diagonal of a hermitian matrix is real, but this entry has an imaginary part; say symmetric "
           "or "
           "general in the banner";
  if (skew && onDiagonal && !(value.i == 0 && value.f == 0.0))
    return "the diagonal of a skew-symmetric matrix is zero, but this entry is not; say symmetric or general "
           "in the banner";
  return "";
}

/// The line of entry `k`: only errors need it, so it is found by reading again.
const char *findEntry(const Text &text, const char *body, int64_t k) {
  Scanner scan(text);
  scan.p = body;
  while (scan.nextLine("%") && k-- > 0)
    scan.skipLine();
  return scan.p;
}

int64_t lineNumber(const Text &text, const char *at) { return 1 + std::count(text.begin(), at, '\n'); }

/// Refuses a file that stores an entry on both sides of the diagonal.
void refuseBothTriangles(const Text &text, const char *body, const MtxHeader &header,
                         const Entries &entries) {
  const auto &rows = entries.coords[0], &cols = entries.coords[1];
  struct Upper {
    int64_t row, col, entry;
    auto operator<=>(const Upper &) const = default;
  };
  std::vector<Upper> upper;
  int64_t below = 0;
  for (size_t k = 0; k < rows.size(); ++k) {
    below += rows[k] > cols[k];
    if (rows[k] < cols[k])
      upper.push_back({rows[k], cols[k], int64_t(k)});
  }
  if (upper.empty() || below == 0)
    return;
  std::sort(upper.begin(), upper.end());
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] <= cols[k])
      continue;
    auto found = std::lower_bound(upper.begin(), upper.end(), Upper{cols[k], rows[k], 0});
    if (found == upper.end() || found->row != cols[k] || found->col != rows[k])
      continue;
    const char *here = findEntry(text, body, int64_t(k)), *there = findEntry(text, body, found->entry);
    text.fail(std::max(here, there),
              "the entries ({0}, {1}) and ({1}, {0}) are both stored (the first on line {2}), but a {3} file "
              "stores one half; say general in the banner if the file holds the whole matrix, else remove "
              "one of each pair",
              std::max(rows[k], cols[k]) + 1, std::min(rows[k], cols[k]) + 1,
              lineNumber(text, std::min(here, there)), symmetryNames[size_t(header.symmetry)]);
  }
}

/// Entries may lie on either side of the diagonal; one that is stored on both is refused, since the sum would
/// be twice what was meant. `body` is where the entries' lines begin.
void expandEntries(const Text &text, const char *body, const MtxHeader &header, Entries &entries) {
  refuseBothTriangles(text, body, header, entries);
  const unsigned width = byteWidth(entries.type);
  for (int64_t k = 0; header.symmetry != Symmetry::Symmetric && k < entries.count(); ++k) {
    const bool onDiagonal = entries.coords[0][size_t(k)] == entries.coords[1][size_t(k)];
    const Scalar value = loadScalar(entries.type, entries.values.data() + k * width);
    if (std::string_view why = whyNotMirrored(header.symmetry, value, onDiagonal); !why.empty())
      text.fail(findEntry(text, body, k), "{}", why);
  }
  appendMirrored(entries, header.symmetry);
}

//===--- Both layouts ---===//

template <MtxField field> Entries readCoordinate(const Text &text, Scanner &scan, const MtxHeader &header) {
  Entries entries{elementType(field), {header.rows, header.cols}, {{}, {}}, {}};
  // A header may promise anything: memory is reserved for what the file can hold, the last line perhaps cut
  // short. Mirroring appends at most as many entries again.
  size_t stored = size_t(std::min(header.entries, mostEntries(text, scan, header) + 1));
  size_t all = header.symmetry == Symmetry::General ? stored : 2 * stored;
  for (auto &coords : entries.coords) {
    reserveLarge(coords, all);
    coords.resize(stored);
  }
  reserveLarge(entries.values, all * byteWidth(entries.type));
  entries.values.resize(stored * byteWidth(entries.type));
  int64_t *rows = entries.coords[0].data(), *cols = entries.coords[1].data();
  std::byte *values = entries.values.data();
  const char *body = scan.p;
  forEachLine(scan, "%", header.entries, entryCure(header), [&](int64_t k) {
    rows[k] = readIndex(scan, "row index", header.rows);
    cols[k] = readIndex(scan, "column index", header.cols);
    readValue<field>(scan, values, k);
  });
  if (header.symmetry != Symmetry::General)
    expandEntries(text, body, header, entries);
  return entries;
}

template <MtxField field> Tensor readArray(const Text &text, Scanner &scan, const MtxHeader &header) {
  const int64_t rows = header.rows, cols = header.cols;
  Tensor dense = makeDense(elementType(field), {rows, cols});
  std::byte *values = dense.value(0);
  const bool general = header.symmetry == Symmetry::General;
  const int64_t below = header.symmetry == Symmetry::Skew ? 1 : 0;
  int64_t i = general ? 0 : below, j = 0;
  forEachLine(scan, "%", header.entries, entryCure(header), [&](int64_t) {
    const char *at = scan.p;
    readValue<field>(scan, values, i * cols + j);
    if (!general) {
      const Scalar value = loadScalar(dense.type, dense.value(i * cols + j));
      if (std::string_view why = whyNotMirrored(header.symmetry, value, i == j); !why.empty())
        text.fail(at, "{}", why);
      if (i != j)
        storeScalar(dense.type, dense.value(j * cols + i), mirrored(header.symmetry, value));
    }
    if (++i == rows) // the next column, from the diagonal on where only half is stored
      i = general ? (++j, 0) : ++j + below;
  });
  return dense;
}

template <MtxField field> FileContents readField(const Text &text, Scanner &scan, const MtxHeader &header) {
  if (header.array)
    return {readArray<field>(text, scan, header), "dense"};
  return {readCoordinate<field>(text, scan, header), "CSR"};
}

} // namespace

FileContents readMtx(const Text &text) {
  Scanner scan(text);
  MtxHeader header = readBanner(text, scan);
  readSizes(text, scan, header);
  constexpr decltype(&readField<MtxField::Real>) readers[] = {
      readField<MtxField::Real>, readField<MtxField::Integer>, readField<MtxField::Complex>,
      readField<MtxField::Pattern>};
  return readers[size_t(header.field)](text, scan, header);
}

} // namespace tulle::runtime::io
