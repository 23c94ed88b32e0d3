// Scanning numbers out of a text that is whole in memory, errors that point into it, and the readers and
// writers of each format.
#pragma once
#include "runtime/io/Io.h"
#include "support/Errors.h"
#include <cmath>
#include <cstring>
#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>

namespace tulle::runtime::io {

using Progress = std::function<void(double)>;

/// The bytes of a file and what errors call it. Line and column are only computed once an error needs them,
/// so that scanning keeps no counters.
struct Text {
  std::string_view bytes;
  const std::string &name;
  Progress progress = {};
  unsigned order = 0; ///< of the tensor, where the caller knows it: see readFile

  const char *begin() const { return bytes.data(); }
  const char *end() const { return bytes.data() + bytes.size(); }

  /// Throws Error `name:line:column: error: message`, the line (shortened when long) and a caret under `at`.
  template <class... Args>
  [[noreturn]] void fail(const char *at, fmt::format_string<Args...> message, Args &&...args) const {
    failWith(at, fmt::format(message, std::forward<Args>(args)...));
  }
  [[noreturn]] void failWith(const char *at, const std::string &message) const;
  /// Reports `at` as a fraction of the whole.
  void report(const char *at) const {
    if (progress)
      progress(bytes.empty() ? 1.0 : double(at - begin()) / double(bytes.size()));
  }
};

/// Entries between two progress reports: rare enough to cost nothing, often enough to move.
inline constexpr int64_t reportEvery = int64_t(1) << 18;

/// `text` with everything outside printable ASCII written as \xNN, cut after 40 characters: safe in a
/// message.
std::string quoted(std::string_view text);

/// Takes a name's ending off, where it has that and more.
bool takeEnding(std::string_view &name, std::string_view ending);

/// 1 byte → "1 byte", 2 entries → "2 entries".
std::string counted(int64_t n, std::string_view one, std::string_view many);

/// A position in a Text. Spaces are blanks, tabs and carriage returns (so CRLF needs no case of its own).
class Scanner {
public:
  /// Behind a byte order mark, which some editors leave. `commas` end a number, too.
  explicit Scanner(const Text &text, bool commas = false)
      : p(text.begin() + (text.bytes.starts_with("\xef\xbb\xbf") ? 3 : 0)), text(text), end(text.end()),
        commas(commas) {}

  const char *p;
  const Text &text;

  bool atEnd() const { return p == end; }
  bool atLineEnd() const { return p == end || *p == '\n'; }

  void skipSpaces() {
    while (p != end && (*p == ' ' || *p == '\t' || *p == '\r'))
      ++p;
  }
  /// To the first byte of the next line.
  void skipLine() {
    const char *newline = p == end ? nullptr : static_cast<const char *>(std::memchr(p, '\n', end - p));
    p = newline ? newline + 1 : end;
  }
  /// To the first byte of a line's content that is neither blank nor a comment starting with one of `marks`;
  /// false at the end.
  bool nextLine(std::string_view marks) {
    for (;; skipLine()) {
      skipSpaces();
      if (p == end)
        return false;
      if (*p != '\n' && marks.find(*p) == std::string_view::npos)
        return true;
    }
  }
  /// After the last number of a line: only spaces may follow. `cure` ends the message.
  void finishLine(std::string_view cure) {
    skipSpaces();
    if (p != end && *p != '\n')
      text.fail(p, "unexpected '{}' after the end of the entry; {}", quoted(word(p)), cure);
    if (p != end)
      ++p;
  }

  /// The characters from `at` up to the next space or line end.
  std::string_view word(const char *at) const {
    const char *stop = at;
    while (stop != end && !isBreak(*stop))
      ++stop;
    return {at, size_t(stop - at)};
  }

  /// A non-negative integer at p (after spaces). `what` names it in errors ("row index").
  int64_t unsignedInteger(std::string_view what) { return integer<false>(what); }
  /// A signed integer that fits 64 bits.
  int64_t signedInteger(std::string_view what) { return integer<true>(what); }
  /// A floating-point number: decimal, nan, inf, a leading '+', Fortran's exponent letter d.
  double real(std::string_view what) {
    skipSpaces();
    double value = 0;
    auto [stop, error] = p == end ? fast_float::from_chars_result{p, std::errc::invalid_argument}
                                  : fast_float::from_chars(p, end, value);
    if (error != std::errc() || (stop != end && !isBreak(*stop)) || !std::isfinite(value))
      return slowReal(what);
    p = stop;
    return value;
  }

protected:
  bool isBreak(char c) const {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || (c == ',' && commas);
  }

private:
  template <bool allowNegative> int64_t integer(std::string_view what) {
    skipSpaces();
    const char *start = p;
    const bool negative = allowNegative && p != end && *p == '-';
    const char *digits = p += negative;
    uint64_t value = 0;
    while (p != end && unsigned(*p - '0') < 10)
      value = value * 10 + unsigned(*p++ - '0');
    // 18 digits always fit; anything unusual (sign, no digit, text after it, more digits) is parsed anew.
    if (p == digits || p - digits > 18 || (p != end && !isBreak(*p)))
      return slowInteger(start, what, allowNegative);
    return negative ? -int64_t(value) : int64_t(value);
  }
  /// The word at `start`, which has at least one character.
  std::string_view token(const char *start, std::string_view what) const;
  int64_t slowInteger(const char *start, std::string_view what, bool allowNegative);
  double slowReal(std::string_view what);

  const char *end;
  bool commas;
};

/// Calls `read(k)` at the start of each entry's line, which `cure` ends the errors about; lines that begin
/// with one of `comments` are none. The number of lines must be what a header promises, if it does.
template <typename Read>
void forEachLine(Scanner &scan, std::string_view comments, std::optional<int64_t> promised,
                 std::string_view cure, Read read) {
  int64_t k = 0;
  for (; scan.nextLine(comments); ++k) {
    if (promised && k == *promised)
      scan.text.fail(scan.p,
                     "more entries than the {} the header promises; correct the size line or remove the rest",
                     k);
    read(k);
    scan.finishLine(cure);
    if (k % reportEvery == 0)
      scan.text.report(scan.p);
  }
  if (promised && k < *promised)
    scan.text.fail(
        scan.p,
        "the file ends after {}, but the header promises {}; the file is truncated or the header wrong",
        counted(k, "entry", "entries"), *promised);
}

/// Reserves `capacity` elements, in large pages where the system has them: the kernel's work on 4 KiB pages
/// would take as long as the parsing.
template <typename T> void reserveLarge(std::vector<T> &array, size_t capacity) {
  array.reserve(capacity);
  constexpr uintptr_t page = uintptr_t(1) << 21;
  const size_t bytes = capacity * sizeof(T), lead = -reinterpret_cast<uintptr_t>(array.data()) & (page - 1);
  if (lead + page <= bytes)
    madvise(reinterpret_cast<char *>(array.data()) + lead, (bytes - lead) & ~(page - 1), MADV_HUGEPAGE);
}

/// For classes that read or write one file: their errors name it.
struct NamesFile {
  const std::string &file;

  template <class... Args> [[noreturn]] void fail(fmt::format_string<Args...> message, Args &&...args) const {
    throwFileError(file, message, std::forward<Args>(args)...);
  }
};

//===--- The formats ---===//

/// The parsers of each format, on a Text.
FileContents readMtx(const Text &text);
FileContents readTns(const Text &text);
FileContents readSmtx(const Text &text);
FileContents readNpy(const Text &text);
FileContents readNpz(const Text &text);
FileContents readH5(const Text &text);
/// The same for the file at `path`, of which the HDF5 library reads the parts that it needs.
FileContents readH5File(const std::string &path);
/// The text that a .npy file of NumPy's kinds S and U holds. Throws Error when it is no such file, or holds
/// several texts.
std::string readNpyText(const Text &text);

/// Magic, version and dictionary for a row-major little-endian array, padded so that the data is 64-byte
/// aligned. Throws Error for bf16, which NumPy cannot name.
std::string npyHeader(ElementType type, const std::vector<int64_t> &dims);
/// A member of an archive, made of pieces one after the other.
struct ZipMember {
  std::string name;
  std::vector<std::string_view> pieces;
};
/// Writes an archive whole or not at all. Time stamps are fixed, so equal members give equal files.
void writeZip(const std::string &path, const std::vector<ZipMember> &members);
/// Writes CSR, CSC, BCSR (where blocks divide the sizes) and DIA as SciPy's csr, csc, bsr and dia, a dense
/// tensor as one array, anything else as coo. Returns what writeFile does.
std::string writeNpz(const std::string &path, const Tensor &tensor);
/// Writes CSR, CSC, DCSR, DCSC as they are, dense vectors and matrices as DVEC, DMATR and DMATC, sparse
/// vectors as CVEC, other formats made of dense and compressed levels as "custom", and the entries of what is
/// left as COO. Returns what writeFile does.
std::string writeH5(const std::string &path, const Tensor &tensor);

} // namespace tulle::runtime::io
