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
            "map = (i, j) -> (#i[3] : dense, i : dense, j : compressed)");
  EXPECT_EQ(canonical("[c](i, j) -> (c * i : dense, i : dense, j : compressed)"),
            "map = (i, j) -> (#i : dense, i : dense, j : compressed)");
  EXPECT_EQ(canonical("(i, j, k) -> (#(i, j)[12] : dense, i : dense, j : dense, k : compressed)"),
            "map = (i, j, k) -> (#(i, j)[12] : dense, i : dense, j : dense, k : compressed)");
  EXPECT_EQ(canonical("[N = 2, c](i, j) -> (c * N * i : dense, i : dense, j : compressed)"),
            "map = (i, j) -> (#i[2] : dense, i : dense, j : compressed)");
  EXPECT_EQ(canonical("[N = 2, M = -3](i, j) -> (i floordiv N : dense, j - M : compressed, i mod N : dense)"),
            "map = (i, j) -> (i floordiv 2 : dense, j - -3 : compressed, i mod 2 : dense)");
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

TEST(Parse, scalars) {
  auto fill = [](std::string text) { return *parseEncoding("(i) -> (i : compressed), fill = " + text).fill; };
  EXPECT_EQ(fill("0"), "0");
  EXPECT_EQ(fill("+007"), "7");
  EXPECT_EQ(fill("-1.50 : f32"), "-1.5 : f32");
  EXPECT_EQ(fill("1e3"), "1000.0");
  EXPECT_EQ(fill("1.0e-300"), "1e-300");
  EXPECT_EQ(fill("-inf"), "-inf");
  EXPECT_EQ(fill("nan"), "nan");
  EXPECT_EQ(fill("true : i1"), "true : i1");
  EXPECT_EQ(fill("(1, -2.0)"), "(1, -2.0)");
  EXPECT_EQ(fill("#complex.number<:f32 1.0, 0.0>"), "(1.0, 0.0) : c64");
  EXPECT_EQ(canonical("(i) -> (i : compressed), implicitVal = 1.0e25 : f64, explicitVal = 0 : i8"),
            "map = (i) -> (i : compressed), explicitVal = 0 : i8, implicitVal = 1e+25 : f64");
}

TEST(Parse, expressionsKeepTheirMeaningInFewestParentheses) {
  auto first = [](std::string text) {
    std::string all = canonical("(i, j) -> (" + text + " : dense, i : dense, j : dense)");
    size_t begin = std::string_view("map = (i, j) -> (").size();
    return all.substr(begin, all.find(" : dense") - begin);
  };
  EXPECT_EQ(first("((i) + (j * 2))"), "i + j * 2");
  EXPECT_EQ(first("(i + j) * 2"), "(i + j) * 2");
  EXPECT_EQ(first("i - (j - 1)"), "i - (j - 1)");
  EXPECT_EQ(first("(i - j) - 1"), "i - j - 1");
  EXPECT_EQ(first("i | j & 3 ^ (i + j) << 2"), "i | j & 3 ^ i + j shl 2");
  EXPECT_EQ(first("((i | j) & 3)"), "(i | j) & 3");
  EXPECT_EQ(first("-i / 2 % 3"), "-1 * i floordiv 2 mod 3");
  EXPECT_EQ(first("i * -0x10"), "i * -16");
  EXPECT_EQ(first("i - -1"), "i - -1");
  EXPECT_EQ(first("(let a = i in let b = a + 1 in a + b) + 1"), "(let a = i in let b = a + 1 in a + b) + 1");
  EXPECT_EQ(first("let a = (let b = i in b) in a + 1"), "let a = (let b = i in b) in a + 1");
  EXPECT_EQ(first("#(j, i)"), "#(j, i)");
  EXPECT_EQ(first("#(i)"), "#i");
}

TEST(Parse, dimensionsGetFixedNamesUnlessTheseAreTaken) {
  EXPECT_EQ(canonical("[i](a, b) -> (i + a : dense, a : dense, b : dense)"),
            "map = [i](a, b) -> (i + a : dense, a : dense, b : dense)");
  EXPECT_EQ(canonical("(a, b) -> (let j = b in j : dense, a : dense)"),
            "map = (a, b) -> (let j = b in j : dense, a : dense)");
  EXPECT_EQ(parseEncoding("(a, b) -> (b : dense, a : dense)"),
            parseEncoding("(j, i) -> (i : dense, j : dense)"));
  EXPECT_FALSE(parseEncoding("(a, b) -> (b : dense, a : dense)") ==
               parseEncoding("(j, i) -> (j : dense, i : dense)"));
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
