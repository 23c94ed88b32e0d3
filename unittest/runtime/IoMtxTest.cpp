// Matrix Market: every field with every symmetry against matrices written by hand from the format's
// definition.
#include "io_support.h"
#include <cmath>

using namespace tulle;
using namespace tulle::runtime;
using namespace tulle::runtime::test;
using ::testing::HasSubstr;

namespace {

using C = std::complex<double>;

Entries coordinate(const std::string &text) {
  FileContents contents = parseFile(text, "t.mtx");
  EXPECT_FALSE(contents.isStored);
  EXPECT_EQ(contents.suggested, "CSR");
  return contents.entries;
}

Tensor array(const std::string &text) {
  FileContents contents = parseFile(text, "t.mtx");
  EXPECT_TRUE(contents.isStored);
  EXPECT_EQ(contents.suggested, "dense");
  return contents.stored;
}

const std::string banner = "%%MatrixMarket matrix ";

TEST(IoMtx, CoordinateGeneral) {
  Entries real =
      coordinate(banner + "coordinate real general\n% comment\n\n2 3 3\n1 1 1.5\n2 3 -2e3\n1 2 .25\n");
  EXPECT_EQ(real.type, ElementType::F64);
  EXPECT_EQ(real.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(values(real), (Values{{{0, 0}, 1.5}, {{1, 2}, -2000}, {{0, 1}, 0.25}}));
  Entries integer =
      coordinate(banner + "coordinate integer general\n2 3 2\n1 1 -7\n2 3 9223372036854775807\n");
  EXPECT_EQ(integer.type, ElementType::I64);
  int64_t stored[2];
  std::memcpy(stored, integer.values.data(), sizeof stored);
  EXPECT_EQ(stored[0], -7);
  EXPECT_EQ(stored[1], INT64_MAX);
  Entries complex = coordinate(banner + "coordinate complex general\n2 2 2\n1 2 1 -2\n2 1 0.5 0\n");
  EXPECT_EQ(complex.type, ElementType::C128);
  EXPECT_EQ(values(complex), (Values{{{0, 1}, C(1, -2)}, {{1, 0}, C(0.5, 0)}}));
  Entries pattern = coordinate(banner + "coordinate pattern general\n2 2 2\n1 2\n2 1\n");
  EXPECT_EQ(pattern.type, ElementType::F64);
  EXPECT_EQ(values(pattern), (Values{{{0, 1}, 1}, {{1, 0}, 1}}));
}

TEST(IoMtx, CoordinateSymmetric) {
  EXPECT_EQ(values(coordinate(banner + "coordinate real symmetric\n3 3 3\n1 1 1\n3 1 2\n3 2 3\n")),
            (Values{{{0, 0}, 1}, {{2, 0}, 2}, {{0, 2}, 2}, {{2, 1}, 3}, {{1, 2}, 3}}));
  EXPECT_EQ(values(coordinate(banner + "coordinate integer symmetric\n2 2 2\n2 1 4\n2 2 5\n")),
            (Values{{{1, 0}, 4}, {{0, 1}, 4}, {{1, 1}, 5}}));
  EXPECT_EQ(values(coordinate(banner + "coordinate complex symmetric\n2 2 2\n2 1 4 1\n2 2 5 6\n")),
            (Values{{{1, 0}, C(4, 1)}, {{0, 1}, C(4, 1)}, {{1, 1}, C(5, 6)}}));
  EXPECT_EQ(values(coordinate(banner + "coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n")),
            (Values{{{1, 0}, 1}, {{0, 1}, 1}, {{1, 1}, 1}}));
}

TEST(IoMtx, CoordinateSkewSymmetric) {
  EXPECT_EQ(values(coordinate(banner + "coordinate real skew-symmetric\n3 3 2\n2 1 1.5\n3 2 -2\n")),
            (Values{{{1, 0}, 1.5}, {{0, 1}, -1.5}, {{2, 1}, -2}, {{1, 2}, 2}}));
  EXPECT_EQ(values(coordinate(banner + "coordinate integer skew-symmetric\n2 2 1\n2 1 3\n")),
            (Values{{{1, 0}, 3}, {{0, 1}, -3}}));
  EXPECT_EQ(values(coordinate(banner + "coordinate complex skew-symmetric\n2 2 1\n2 1 3 4\n")),
            (Values{{{1, 0}, C(3, 4)}, {{0, 1}, C(-3, -4)}}));
}

TEST(IoMtx, CoordinateHermitian) {
  EXPECT_EQ(values(coordinate(banner + "coordinate complex hermitian\n2 2 2\n1 1 7 0\n2 1 3 4\n")),
            (Values{{{0, 0}, 7}, {{1, 0}, C(3, 4)}, {{0, 1}, C(3, -4)}}));
}

TEST(IoMtx, UpperTriangleIsMirroredToo) {
  EXPECT_EQ(values(coordinate(banner + "coordinate real symmetric\n3 3 2\n1 3 2\n2 1 5\n")),
            (Values{{{0, 2}, 2}, {{2, 0}, 2}, {{1, 0}, 5}, {{0, 1}, 5}}));
  EXPECT_EQ(values(coordinate(banner + "coordinate complex hermitian\n2 2 1\n1 2 3 4\n")),
            (Values{{{0, 1}, C(3, 4)}, {{1, 0}, C(3, -4)}}));
}

TEST(IoMtx, ArrayGeneral) {
  // Column after column: the file's 1 2 3 4 5 6 is [1 3 5; 2 4 6].
  Tensor real = array(banner + "array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(real.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(elements(real), (std::vector<C>{1, 3, 5, 2, 4, 6}));
  Tensor integer = array(banner + "array integer general\n1 2\n-1\n2\n");
  EXPECT_EQ(integer.type, ElementType::I64);
  EXPECT_EQ(elements(integer), (std::vector<C>{-1, 2}));
  Tensor complex = array(banner + "array complex general\n2 1\n1 2\n3 4\n");
  EXPECT_EQ(complex.type, ElementType::C128);
  EXPECT_EQ(elements(complex), (std::vector<C>{C(1, 2), C(3, 4)}));
}

TEST(IoMtx, ArraySymmetries) {
  // Lower triangle by columns: (1,1) (2,1) (3,1) (2,2) (3,2) (3,3).
  EXPECT_EQ(elements(array(banner + "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")),
            (std::vector<C>{1, 2, 3, 2, 4, 5, 3, 5, 6}));
  EXPECT_EQ(elements(array(banner + "array integer symmetric\n2 2\n1\n2\n3\n")),
            (std::vector<C>{1, 2, 2, 3}));
  EXPECT_EQ(elements(array(banner + "array complex symmetric\n2 2\n1 1\n2 2\n3 3\n")),
            (std::vector<C>{C(1, 1), C(2, 2), C(2, 2), C(3, 3)}));
  // Below the diagonal by columns: (2,1) (3,1) (3,2).
  EXPECT_EQ(elements(array(banner + "array real skew-symmetric\n3 3\n1\n2\n3\n")),
            (std::vector<C>{0, -1, -2, 1, 0, -3, 2, 3, 0}));
  EXPECT_EQ(elements(array(banner + "array integer skew-symmetric\n2 2\n5\n")),
            (std::vector<C>{0, -5, 5, 0}));
  EXPECT_EQ(elements(array(banner + "array complex skew-symmetric\n2 2\n5 1\n")),
            (std::vector<C>{0, C(-5, -1), C(5, 1), 0}));
  EXPECT_EQ(elements(array(banner + "array complex hermitian\n2 2\n1 0\n2 3\n4 0\n")),
            (std::vector<C>{1, C(2, -3), C(2, 3), 4}));
  EXPECT_EQ(elements(array(banner + "array real skew-symmetric\n1 1\n")), (std::vector<C>{0}));
}

TEST(IoMtx, EmptyMatrices) {
  Entries none = coordinate(banner + "coordinate real general\n4 5 0\n");
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.dims, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(none.coords.size(), 2u);
  EXPECT_EQ(coordinate(banner + "coordinate real general\n0 0 0").count(), 0);
  EXPECT_EQ(coordinate(banner + "coordinate pattern symmetric\n3 3 0\n\n\n").count(), 0);
  EXPECT_EQ(array(banner + "array real general\n0 3\n").dims, (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(array(banner + "array real symmetric\n0 0\n").storedCount(), 0);
  EXPECT_EQ(array(banner + "array real skew-symmetric\n0 0\n").storedCount(), 0);
}

TEST(IoMtx, LayoutOfTheText) {
  // CRLF, tabs, blank lines, comments, indentation, upper case, no newline at the end, a byte order mark.
  Values expected{{{0, 0}, 1}, {{1, 1}, 2}};
  for (const std::string &text :
       {banner + "coordinate real general\r\n%c\r\n\r\n2 2 2\r\n1 1 1\r\n2 2 2\r\n",
        banner + "coordinate real general\n\t2\t2\t2\n  1\t1 1  \n\n\n2 2\t2\t\n\n",
        std::string("%%matrixMARKET MATRIX Coordinate REAL General\n%\n%%\n2 2 2\n1 1 1\n% within\n2 2 2"),
        "\xef\xbb\xbf" + banner + "coordinate double general\n2 2 2\n1 1 +1.0\n2 2 0.2D+01\n"})
    EXPECT_EQ(values(coordinate(text)), expected) << text;
}

TEST(IoMtx, Numbers) {
  Entries entries =
      coordinate(banner + "coordinate real general\n1 7 7\n1 1 nan\n1 2 -inf\n1 3 Infinity\n1 4 1e-400\n"
                          "1 5 5e-324\n1 6 0.1000000000000000055511151231257827\n1 7 -0.0\n");
  double stored[7];
  std::memcpy(stored, entries.values.data(), sizeof stored);
  EXPECT_TRUE(std::isnan(stored[0]));
  EXPECT_EQ(stored[1], -INFINITY);
  EXPECT_EQ(stored[2], INFINITY);
  EXPECT_EQ(stored[3], 0);
  EXPECT_EQ(stored[4], 5e-324);
  EXPECT_EQ(stored[5], 0.1);
  EXPECT_TRUE(stored[6] == 0 && std::signbit(stored[6]));
}

TEST(IoMtx, DuplicatesAreKeptForPackToSum) {
  Entries entries = coordinate(banner + "coordinate real general\n1 1 2\n1 1 1\n1 1 2\n");
  EXPECT_EQ(entries.count(), 2);
  EXPECT_EQ(values(entries), (Values{{{0, 0}, 3}}));
}

struct Refusal {
  std::string text, place, reason;
};

TEST(IoMtx, Refusals) {
  const std::string real = banner + "coordinate real general\n", big = "99999999999999999999";
  const Refusal refusals[] = {
      {"", "t.mtx:1:1", "the file is empty"},
      {"\n", "t.mtx:1:1", "expected the banner"},
      {"1 1 1\n", "t.mtx:1:1", "expected the banner"},
      {"%MatrixMarket matrix coordinate real general\n", "t.mtx:1:1", "expected the banner"},
      {"%%MatrixMarket", "t.mtx:1:15", "expected the object (matrix), found the end of the line"},
      {"%%MatrixMarket vector coordinate real general\n", "t.mtx:1:16", "found 'vector'"},
      {banner + "sparse real general\n", "t.mtx:1:23",
       "expected the layout (coordinate or array), found 'sparse'"},
      {banner + "coordinate general\n1 1 0\n", "t.mtx:1:34",
       "expected the field (real, integer, complex or pattern), found 'general'"},
      {banner + "coordinate real\n1 1 0\n", "t.mtx:1:38", "expected the symmetry"},
      {banner + "coordinate real lower\n", "t.mtx:1:39", "found 'lower'"},
      {banner + "coordinate real general extra\n", "t.mtx:1:47", "unexpected 'extra'"},
      {banner + "array pattern general\n", "t.mtx:1:29", "an array has no pattern"},
      {banner + "coordinate pattern skew-symmetric\n", "t.mtx:1:42", "no signs"},
      {banner + "coordinate real hermitian\n", "t.mtx:1:39", "has field complex"},
      {banner + "coordinate pattern hermitian\n", "t.mtx:1:42", "has field complex"},
      {banner + "coordinate real symmetric\n2 3 0\n", "t.mtx:2:1",
       "a symmetric matrix is square, but this one is 2 by 3"},
      {real, "t.mtx:2:1", "expected the size line (rows columns entries)"},
      {real + "2 2\n", "t.mtx:2:4", "expected the number of entries, found the end of the line"},
      {real + "2 2 1 1\n", "t.mtx:2:7", "unexpected '1'"},
      {real + "-2 2 1\n1 1 1\n", "t.mtx:2:1", "the number of rows -2 is negative"},
      {real + "2 " + big + " 1\n", "t.mtx:2:3", "does not fit a signed 64-bit integer"},
      {real + "2 2 x\n", "t.mtx:2:5", "expected the number of entries (an integer), found 'x'"},
      {real + "2 2 1.0\n1 1 1\n", "t.mtx:2:5", "found '1.0'"},
      {real + "2 2 1000000000000\n1 1 1\n", "t.mtx:4:1",
       "the file ends after 1 entry, but the header promises 1000000000000"},
      {real + "2 2 9223372036854775807\n1 1", "t.mtx:3:4", "expected the value, found the end of the file"},
      {banner + "array real general\n4294967296 4294967296\n1\n", "t.mtx:2:1", "does not fit in memory"},
      {banner + "array real symmetric\n9223372036854775807 9223372036854775807\n1\n", "t.mtx:2:1",
       "does not fit in memory"},
      {banner + "array real general\n1000 1000\n1\n", "t.mtx:2:1", "the header promises 1000000 values"},
      {banner + "array real general\n2 2\n1 2\n3 4\n\n\n\n", "t.mtx:3:3",
       "one value per line, column after column"},
      {banner + "array real general\n1 1 1\n1\n", "t.mtx:2:5", "the size line of an array is 'rows columns'"},
      {real + "2 2 1\n0 1 1\n", "t.mtx:3:1", "the row index is 0; Matrix Market counts from 1"},
      {real + "2 2 1\n1 0 1\n", "t.mtx:3:3", "the column index is 0"},
      {real + "2 2 1\n3 1 1\n", "t.mtx:3:1", "the row index 3 is beyond the matrix's size 2"},
      {real + "2 2 1\n1 3 1\n", "t.mtx:3:3", "the column index 3 is beyond"},
      {real + "2 2 1\n-1 1 1\n", "t.mtx:3:1", "the row index -1 is negative"},
      {real + "2 2 1\n" + big + " 1 1\n", "t.mtx:3:1", "does not fit a signed 64-bit integer"},
      {real + "2 2 1\n1 one 1\n", "t.mtx:3:3", "expected the column index (an integer), found 'one'"},
      {real + "2 2 1\n1 1 one\n", "t.mtx:3:5", "expected the value (a number), found 'one'"},
      {real + "2 2 1\n1 1 1.5x\n", "t.mtx:3:5", "found '1.5x'"},
      {real + "2 2 1\n1 1 0x10\n", "t.mtx:3:5", "found '0x10'"},
      {real + "2 2 1\n1 1 1,5\n", "t.mtx:3:5", "found '1,5'"},
      {real + "2 2 1\n1 1 +-1\n", "t.mtx:3:5", "found '+-1'"},
      {real + "2 2 1\n1 1 1e999\n", "t.mtx:3:5", "beyond the range of a 64-bit float"},
      {real + "2 2 1\n1 1    \n\n", "t.mtx:3:8", "expected the value, found the end of the line"},
      {real + "2 2 1\n1 1 1 0\n", "t.mtx:3:7", "name the field complex for two values"},
      {real + "2 2 2\n1 1 1\n2\n\n\n\n\n", "t.mtx:4:2",
       "expected the column index, found the end of the line"},
      {real + "2 2 2\n1 1 1\n2 2 ", "t.mtx:4:5", "expected the value, found the end of the file"},
      {real + "2 2 2\n1 1 1\n", "t.mtx:4:1", "the file ends after 1 entry, but the header promises 2"},
      {real + "2 2 1\n1 1 1\n2 2 2\n", "t.mtx:4:1", "more entries than the 1 the header promises"},
      {real + "2 2 0\n1 1 1\n", "t.mtx:3:1", "more entries than the 0"},
      {real + "1 1 1\n1 1 1\r1 1 2\n", "t.mtx:3:7", "unexpected '1'"},
      {real + std::string("2 2 1\n1 1 \0 1\n", 13), "t.mtx:3:5", "found '\\x00'"},
      {banner + "coordinate integer general\n1 1 1\n1 1 1.5\n", "t.mtx:3:5",
       "expected the value (an integer), found '1.5'"},
      {banner + "coordinate integer general\n1 1 1\n1 1 9223372036854775808\n", "t.mtx:3:5",
       "does not fit a signed 64-bit"},
      {banner + "coordinate complex general\n1 1 1\n1 1 123456\n", "t.mtx:3:11",
       "expected the imaginary part"},
      {banner + "coordinate pattern general\n1 1 1\n1 1 1\n", "t.mtx:3:5",
       "name the field real to keep values"},
      {banner + "coordinate real skew-symmetric\n2 2 1\n1 1 3\n", "t.mtx:3:1",
       "the diagonal of a skew-symmetric matrix is zero"},
      {banner + "coordinate integer skew-symmetric\n2 2 1\n2 1 -9223372036854775808\n", "t.mtx:3:1",
       "does not fit 64 bits"},
      {banner + "array integer skew-symmetric\n2 2\n-9223372036854775808\n", "t.mtx:3:1",
       "does not fit 64 bits"},
      {banner + "coordinate complex hermitian\n2 2 1\n1 1 3 1\n", "t.mtx:3:1",
       "the diagonal of a hermitian matrix is real"},
      {banner + "array complex hermitian\n1 1\n3 1\n", "t.mtx:3:1",
       "the diagonal of a hermitian matrix is real"},
      {banner + "coordinate real symmetric\n3 3 3\n2 1 1\n% c\n3 3 1\n1 2 1\n", "t.mtx:6:1",
       "the entries (2, 1) and (1, 2) are both stored (the first on line 3)"},
  };
  for (const Refusal &refusal : refusals) {
    std::string message = errorOf([&] { parseFile(refusal.text, "t.mtx"); });
    EXPECT_THAT(message, ::testing::StartsWith(refusal.place + ": error: ")) << refusal.text;
    EXPECT_THAT(message, HasSubstr(refusal.reason)) << refusal.text;
  }
}

TEST(IoMtx, ErrorsShowTheLineAndACaret) {
  EXPECT_EQ(
      errorOf([] { parseFile("%%MatrixMarket matrix coordinate real general\n2 2 1\n1\t3 1\n", "m.mtx"); }),
      "m.mtx:3:3: error: the column index 3 is beyond the matrix's size 2\n  1 3 1\n    ^");
  std::string far = errorOf([] {
    parseFile("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1" + std::string(300, ' ') + "x" +
                  std::string(300, 'y'),
              "m.mtx");
  });
  EXPECT_THAT(far, HasSubstr("m.mtx:3:306: error: unexpected 'x"));
  EXPECT_LT(far.size(), 500u);
}

} // namespace
