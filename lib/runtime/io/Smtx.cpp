// Sparse masks of the deep learning matrix collection: 'rows, columns, entries', row offsets, column indices,
// all 0-based.
#include "runtime/io/Text.h"

namespace tulle::runtime::io {

namespace {

/// Numbers separated by spaces, line ends or single commas.
class NumberScanner : public Scanner {
public:
  explicit NumberScanner(const Text &text) : Scanner(text, /*commas=*/true) {}

  /// Where the next number starts; the end of the text when there is none.
  const char *skipBreaks() {
    while (!atEnd() && *p != ',' && isBreak(*p))
      ++p;
    return p;
  }
  int64_t number(std::string_view what) {
    skipBreaks();
    if (atEnd())
      text.fail(p, "expected the {}, found the end of the file; the file is truncated", what);
    const int64_t value = unsignedInteger(what);
    p += !atEnd() && *p == ',';
    return value;
  }
};

} // namespace

FileContents readSmtx(const Text &text) {
  if (text.bytes.empty())
    text.fail(text.begin(), "the file is empty; an .smtx file starts with 'rows, columns, entries'");
  NumberScanner scan(text);
  const char *at = scan.skipBreaks();
  int64_t rows = scan.number("number of rows"), cols = scan.number("number of columns");
  int64_t count = scan.number("number of entries");
  // rows + 1 offsets and `count` columns follow, each at least a digit and a separator.
  int64_t most = (text.end() - scan.p + 1) / 2;
  if (rows >= most || count > most - rows - 1)
    text.fail(at,
              "the header promises {} row offsets and {}, but the rest of the file ({}) holds at most {} "
              "numbers; the file is truncated or the header wrong",
              uint64_t(rows) + 1, counted(count, "entry", "entries"),
              counted(text.end() - scan.p, "byte", "bytes"), most);
  Entries entries;
  entries.dims = {rows, cols};
  entries.coords.assign(2, std::vector<int64_t>(size_t(count)));

  int64_t previous = 0;
  for (int64_t i = 0; i <= rows; ++i) {
    at = scan.skipBreaks();
    int64_t offset = scan.number("row offset");
    if (i == 0 && offset != 0)
      text.fail(at, "the first row offset is {}; offsets count from 0", offset);
    if (offset < previous || offset > count)
      text.fail(
          at, "row offset {} is {}; it must lie between the one before it, {}, and the number of entries, {}",
          i, offset, previous, count);
    for (int64_t k = previous; k < offset; ++k)
      entries.coords[0][size_t(k)] = i - 1;
    previous = offset;
  }
  if (previous != count)
    text.fail(at, "the last row offset is {}, but the header promises {}", previous,
              counted(count, "entry", "entries"));
  for (int64_t k = 0; k < count; ++k) {
    at = scan.skipBreaks();
    int64_t column = scan.number("column index");
    if (column >= cols)
      text.fail(at, "the column index {} is beyond the last column {}; .smtx files count from 0", column,
                cols - 1);
    entries.coords[1][size_t(k)] = column;
    if (k % reportEvery == 0)
      text.report(scan.p);
  }
  at = scan.skipBreaks();
  if (!scan.atEnd())
    text.fail(at, "unexpected '{}' after the {} the header promises", quoted(scan.word(at)),
              counted(count, "entry", "entries"));

  const double one = 1;
  entries.values.resize(size_t(count) * sizeof(double));
  for (int64_t k = 0; k < count; ++k)
    std::memcpy(entries.values.data() + k * sizeof(double), &one, sizeof(double));
  return {std::move(entries), "CSR"};
}

} // namespace tulle::runtime::io
