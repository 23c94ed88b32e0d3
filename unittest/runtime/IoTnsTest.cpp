// FROSTT tensors and the masks of .smtx.
#include "io_support.h"

using namespace tulle;
using namespace tulle::runtime;
using namespace tulle::runtime::test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace {

using Sizes = std::vector<int64_t>;

Entries tns(std::string_view text, unsigned order = 0) {
  FileContents contents = parseFile(text, "t.tns", order);
  EXPECT_FALSE(contents.isStored);
  EXPECT_EQ(contents.suggested, "CSF");
  return contents.entries;
}

TEST(IoTns, EntriesWithValues) {
  Entries entries = tns("# a comment\n1 2 3 1.5\n\n  2 1\t1 -2\r\n% another\n; third\n1 2 4 7");
  EXPECT_EQ(entries.type, ElementType::F64);
  EXPECT_EQ(entries.dims, (Sizes{2, 2, 4}));
  EXPECT_EQ(values(entries), (Values{{{0, 1, 2}, 1.5}, {{1, 0, 0}, -2}, {{0, 1, 3}, 7}}));
  EXPECT_EQ(values(tns("3 9\n1 8\n")), (Values{{{2}, 9}, {{0}, 8}}));
  EXPECT_EQ(tns("3 9\n1 8\n").dims, (Sizes{3}));
}

TEST(IoTns, OrderDecidesWhetherThereIsAValueColumn) {
  Entries without = tns("1 2 3\n2 2 1\n", 3);
  EXPECT_EQ(without.dims, (Sizes{2, 2, 3}));
  EXPECT_EQ(values(without), (Values{{{0, 1, 2}, 1}, {{1, 1, 0}, 1}}));
  Entries with = tns("1 2 3\n2 2 1\n", 2);
  EXPECT_EQ(with.dims, (Sizes{2, 2}));
  EXPECT_EQ(values(with), (Values{{{0, 1}, 3}, {{1, 1}, 1}}));
  EXPECT_EQ(values(tns("1 2 3\n2 2 1\n")), values(with));
  // A file of another order is read as it is; who expects the order says so.
  EXPECT_EQ(tns("1 2 3\n2 2 1\n", 7).dims, (Sizes{2, 2}));
  EXPECT_EQ(tns("# dims: 4 5\n1 2 3\n", 3).dims, (Sizes{4, 5}));
  EXPECT_EQ(values(tns("# dims: 4 4 4\n1 2 3\n")), (Values{{{0, 1, 2}, 1}}));
}

TEST(IoTns, SizesAndTypesInComments) {
  Entries entries = tns("# dims: 4 5\n# type: i16\n1 2 -32768\n4 5 32767\n");
  EXPECT_EQ(entries.dims, (Sizes{4, 5}));
  EXPECT_EQ(entries.type, ElementType::I16);
  EXPECT_EQ(values(entries), (Values{{{0, 1}, -32768}, {{3, 4}, 32767}}));
  Entries complex = tns("# type: c64\n1 2 3 4\n");
  EXPECT_EQ(complex.dims, (Sizes{1, 2}));
  EXPECT_EQ(values(complex), (Values{{{0, 1}, {3, 4}}}));
  Entries wide = tns("# type: i64\n1 9223372036854775807\n2 -9223372036854775808\n");
  int64_t stored[2];
  std::memcpy(stored, wide.values.data(), sizeof stored);
  EXPECT_EQ(stored[0], INT64_MAX);
  EXPECT_EQ(stored[1], INT64_MIN);
  EXPECT_EQ(tns("# dims: 3 0\n").dims, (Sizes{3, 0}));
  EXPECT_EQ(tns("# dims: 3 7\n").count(), 0);
  EXPECT_EQ(values(tns("# dims:\n2.5\n")), (Values{{{}, 2.5}}));
}

TEST(IoTns, ExtendedHeader) {
  for (std::string_view mark : {"# ", "; "}) {
    Entries entries = tns(std::string(mark) + "extended FROSTT format\n2 2\n10 20\n1 1 5\n3 4 6\n");
    EXPECT_EQ(entries.dims, (Sizes{10, 20}));
    EXPECT_EQ(values(entries), (Values{{{0, 0}, 5}, {{2, 3}, 6}}));
  }
}

TEST(IoTns, Refusals) {
  struct {
    std::string text, place, reason;
  } refusals[] = {
      {"", "t.tns:1:1", "the file is empty"},
      {"# nothing\n\n", "t.tns:3:1", "the file has no entries, so the sizes are unknown"},
      {"0 1 1\n", "t.tns:1:1", "coordinate 1 is 0; .tns files count from 1"},
      {"1 1 1\n1 -1 1\n", "t.tns:2:3", "the coordinate -1 is negative"},
      {"1 9999999999999999999 1\n", "t.tns:1:3", "does not fit a signed 64-bit integer"},
      {"1 x 1\n", "t.tns:1:3", "expected the coordinate (an integer), found 'x'"},
      {"1 1.5 1\n", "t.tns:1:3", "found '1.5'"},
      {"1 1 one\n", "t.tns:1:5", "expected the value (a number), found 'one'"},
      {"1 1 1\n1 1 1 1\n", "t.tns:2:7", "an entry here is 2 coordinates and a value"},
      {"1 1 1\n1 1\n", "t.tns:2:4", "expected the value, found the end of the line"},
      {"# dims: 9 9\n1 1 1 1", "t.tns:2:1", "this line has 4 numbers, but an entry of a tensor with 2 sizes"},
      {"# dims: 9 9 9\n1 1", "t.tns:2:1", "has 3 coordinates and at most 1 value"},
      {"# dims: 2 2\n3 1 1\n", "t.tns:2:1", "coordinate 1 is 3, beyond the size 2 in the header"},
      {"# dims: 2 -2\n", "t.tns:1:11", "the size of a dimension -2 is negative"},
      {"# type: f8\n", "t.tns:1:9", "unknown type 'f8'"},
      {"# type: i8\n1 128\n", "t.tns:2:3", "the value 128 does not fit the file's type i8"},
      {"# type: f16\n1 65520\n", "t.tns:2:3", "the value is beyond the range of the file's type f16"},
      {"# type: bool\n1 2\n", "t.tns:2:3", "does not fit the file's type bool"},
      {"# type: c128\n1\n", "t.tns:2:1", "a c128 value has 2"},
      {"# dims:\n1\n2\n", "t.tns:3:1", "a scalar file holds one value"},
      {"# extended FROSTT format\n", "t.tns:2:1", "expected the line 'order entries'"},
      {"# extended FROSTT format\n2 1\n", "t.tns:3:1", "expected the line of sizes"},
      {"# extended FROSTT format\n2 1\n3 3 3\n", "t.tns:3:1",
       "the header says order 2, but this line has 3 sizes"},
      {"# extended FROSTT format\n99 1\n", "t.tns:2:1", "a tensor of order 99"},
      {"# extended FROSTT format\n2 1000000000000\n3 3\n1 1 1\n", "t.tns:5:1",
       "the file ends after 1 entry, but the header promises 1000000000000"},
      {"# extended FROSTT format\n2 2\n3 3\n1 1 1000000\n", "t.tns:5:1",
       "the file ends after 1 entry, but the header promises 2"},
      {"# extended FROSTT format\n2 1\n3 3\n1 1 1\n1 2 1\n", "t.tns:5:1", "more entries than the 1"},
      {std::string("1 1 1\n1 \0 1\n", 12), "t.tns:2:3", "found '\\x00'"},
  };
  for (const auto &refusal : refusals) {
    std::string message = errorOf([&] { parseFile(refusal.text, "t.tns"); });
    EXPECT_THAT(message, StartsWith(refusal.place + ": error: ")) << refusal.text;
    EXPECT_THAT(message, HasSubstr(refusal.reason)) << refusal.text;
  }
}

TEST(IoTns, ManyColumnsAreNotAnEntry) {
  std::string line;
  for (int i = 0; i < 1000; ++i)
    line += "1 ";
  EXPECT_THAT(errorOf([&] { parseFile(line, "t.tns"); }), HasSubstr("more than 32 coordinates"));
}

TEST(IoSmtx, RowsOfColumns) {
  // [. 1 1; . . .; 1 . .]
  for (std::string_view text :
       {"3, 3, 3\n0 2 2 3\n1 2 0\n", "3,3,3\r\n0 2 2 3\r\n1 2 0", "\n3 3 3 0 2 2 3 1 2 0 \n\n"}) {
    FileContents contents = parseFile(text, "t.smtx");
    EXPECT_EQ(contents.suggested, "CSR");
    EXPECT_EQ(contents.entries.dims, (Sizes{3, 3}));
    EXPECT_EQ(values(contents.entries), (Values{{{0, 1}, 1}, {{0, 2}, 1}, {{2, 0}, 1}}));
  }
  EXPECT_EQ(parseFile("2, 5, 0\n0 0 0\n\n", "t.smtx").entries.count(), 0);
  EXPECT_EQ(parseFile("0, 0, 0\n0\n", "t.smtx").entries.dims, (Sizes{0, 0}));
}

TEST(IoSmtx, Refusals) {
  struct {
    std::string text, place, reason;
  } refusals[] = {
      {"", "t.smtx:1:1", "the file is empty"},
      {"x", "t.smtx:1:1", "expected the number of rows (an integer), found 'x'"},
      {"2, -2, 1\n", "t.smtx:1:4", "the number of columns -2 is negative"},
      {"2, 2", "t.smtx:1:5", "the file is truncated"},
      {"2, 99999999999999999999, 1\n", "t.smtx:1:4", "does not fit a signed 64-bit integer"},
      {"9223372036854775807, 2, 1\n0 1\n0\n", "t.smtx:1:1",
       "the header promises 9223372036854775808 row offsets"},
      {"2, 2, 9223372036854775807\n0 1 1\n0\n", "t.smtx:1:1",
       "the header promises 3 row offsets and 9223372036854775807 entries"},
      {"2, 2, 1\n1 1 1\n0\n", "t.smtx:2:1", "the first row offset is 1"},
      {"2, 2, 2\n0 2 1\n0 1\n", "t.smtx:2:5",
       "row offset 2 is 1; it must lie between the one before it, 2, and"},
      {"2, 2, 1\n0 1 9\n0\n", "t.smtx:2:5", "row offset 2 is 9"},
      {"2, 2, 2\n0 1 1\n0 1\n", "t.smtx:2:5", "the last row offset is 1, but the header promises 2 entries"},
      {"2, 2, 1\n0 1 1\n2\n", "t.smtx:3:1", "the column index 2 is beyond the last column 1"},
      {"2, 2, 1\n0 1 1\n1.5\n", "t.smtx:3:1", "found '1.5'"},
      {"2, 2, 2\n0 1    2\n1\n", "t.smtx:4:1", "expected the column index, found the end of the file"},
      {"2, 2, 1\n0 1 1\n1 1\n", "t.smtx:3:3", "unexpected '1' after the 1 entry the header promises"},
  };
  for (const auto &refusal : refusals) {
    std::string message = errorOf([&] { parseFile(refusal.text, "t.smtx"); });
    EXPECT_THAT(message, StartsWith(refusal.place + ": error: ")) << refusal.text;
    EXPECT_THAT(message, HasSubstr(refusal.reason)) << refusal.text;
  }
}

} // namespace
