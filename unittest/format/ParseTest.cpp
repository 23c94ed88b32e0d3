#include "format/Encoding.h"
#include "support/Diagnostic.h"
#include <gtest/gtest.h>

using namespace tulle;
using namespace tulle::format;

namespace {

/// Parses, prints, parses again; returns the canonical map.
std::string canonical(std::string_view text) {
  Encoding encoding = parseEncoding(text);
  std::string printed = print(encoding);
  EXPECT_EQ(parseEncoding(printed), encoding) << printed;
  EXPECT_EQ(print(parseEncoding(printed)), printed);
  return printBody(encoding);
}

TEST(Parse, everySpellingOfCsrIsTheSame) {
  std::string csr = "map = (i, j) -> (i : dense, j : compressed)";
  for (const std::string &text : std::vector<std::string>{
           csr, "(i, j) -> (i : dense, j : compressed)", "{ " + csr + " }",
           "#tulle.encoding<{ " + csr + " }>", "#sparse_tensor.encoding<{" + csr + "}>",
           "#CSR = #sparse_tensor.encoding<{\n  " + csr + "\n}>",
           "map=(i,j)->(i:dense,j:compressed), posWidth = 0", "(d0, d1) -> (d0 : dense, d1 : compressed)",
           "(i, j) -> ( // rows\n i : dense, j : compressed)"})
    EXPECT_EQ(canonical(text), csr) << text;
}

TEST(Parse, seedExamples) {
  EXPECT_EQ(canonical("#sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>"),
            "map = (i) -> (i : compressed)");
  EXPECT_EQ(
      canonical("#sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>"),
      "map = (i, j) -> (i : compressed(nonunique), j : singleton)");
  EXPECT_EQ(canonical("#BCOO = #sparse_tensor.encoding<{\n"
                      "  map = (i, j, k) -> (i : dense, j : compressed(nonunique, high), k : singleton)\n}>"),
            "map = (i, j, k) -> (i : dense, j : loose_compressed(nonunique), k : singleton)");
  EXPECT_EQ(canonical("#DCSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : compressed, i : compressed),\n"
                      "  posWidth = 32,\n  crdWidth = 8\n}>"),
            "map = (i, j) -> (j : compressed, i : compressed), posWidth = 32, crdWidth = 8");
  EXPECT_EQ(
      canonical(
          "#BSR = #sparse_tensor.encoding<{\n  map = ( i, j ) ->\n  ( i floordiv 2 : dense,\n"
          "    j floordiv 3 : compressed,\n    i mod 2      : dense,\n    j mod 3      : dense\n  )\n}>"),
      "map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)");
  EXPECT_EQ(canonical("#BSR_explicit = #sparse_tensor.encoding<{\n  map = { ib, jb, ii, jj }\n"
                      "        ( i = ib * 2 + ii,\n          j = jb * 3 + jj) ->\n"
                      "  ( ib = i floordiv 2 : dense,\n    jb = j floordiv 3 : compressed,\n"
                      "    ii = i mod 2 : dense,\n    jj = j mod 3 : dense)\n}>"),
            "map = {ib, jb, ii, jj} (i = ib * 2 + ii, j = jb * 3 + jj) -> (ib = i floordiv 2 : dense, "
            "jb = j floordiv 3 : compressed, ii = i mod 2 : dense, jj = j mod 3 : dense)");
  EXPECT_EQ(canonical("#ELL = #sparse_tensor.encoding<{\n"
                      "  map = [c](i, j) -> (c * 3 * i : dense, i : dense, j : compressed)\n}>"),
            "map = [c](i, j) -> (c * 3 * i : dense, i : dense, j : compressed)");
  EXPECT_EQ(
      canonical("#CSR_SLICE = #sparse_tensor.encoding<{\n  map = (i : #sparse_tensor<slice(0, 4, 1)>,\n"
                "          j : #sparse_tensor<slice(0, 8, ?)>) ->\n        (i : dense, j : compressed)\n}>"),
      "map = (i : #tulle<slice(0, 4, 1)>, j : #tulle<slice(0, 8, ?)>) -> (i : dense, j : compressed)");
  EXPECT_EQ(
      canonical(
          "#NV_24 = #sparse_tensor.encoding<{\n  map = ( i, j ) -> ( i            : dense,\n"
          "                      j floordiv 4 : dense,\n                      j mod 4      : block2_4),\n"
          "  crdWidth = 2  // 2-bits for each coordinate\n}>"),
      "map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 2");
}

TEST(Parse, examplesOfTheDesign) {
  EXPECT_EQ(canonical("(i,j) -> (j - i : squeezed, i : dense, j : offset)"),
            "map = (i, j) -> (j - i : squeezed, i : dense, j : offset)");
  EXPECT_EQ(canonical("(i,j) -> (#i : dense, i : dense, j : singleton(padded))"),
            "map = (i, j) -> (#i : dense, i : dense, j : singleton(padded))");
  EXPECT_EQ(canonical("(i,j) -> (i : dense, j : fixed)"), "map = (i, j) -> (i : dense, j : fixed)");
  std::string sell = "map = (i, j) -> (let r = rank(i by count(j) within 64) in r floordiv 8 : dense, "
                     "#i : ragged(padded), r mod 8 : dense, j : singleton(padded))";
  EXPECT_EQ(canonical(sell), sell);
  EXPECT_EQ(canonical("(i,j) -> (#i : dense, rank(i by count(j)) : ragged, j : singleton)"),
            "map = (i, j) -> (#i : dense, rank(i by count(j)) : ragged, j : singleton)");
  EXPECT_EQ(canonical("(i,j) -> (i : dense, j : banded)"), "map = (i, j) -> (i : dense, j : banded)");
}

} // namespace
