#include "format/Encoding.h"
#include "support/Diagnostic.h"
#include <gtest/gtest.h>

using namespace tulle;
using namespace tulle::format;

namespace {

std::string map(std::string_view text, unsigned order) { return printBody(parseFormat(text, order)); }

TEST(Presets, whatEachNameMeans) {
  EXPECT_EQ(map("dense", 0), "map = () -> ()");
  EXPECT_EQ(map("dense", 3), "map = (i, j, k) -> (i : dense, j : dense, k : dense)");
  EXPECT_EQ(map("denseColMajor", 2), "map = (i, j) -> (j : dense, i : dense)");
  EXPECT_EQ(map("COO", 1), "map = (i) -> (i : compressed)");
  EXPECT_EQ(map("COO", 2), "map = (i, j) -> (i : compressed(nonunique), j : singleton)");
  EXPECT_EQ(map("COO", 3),
            "map = (i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton)");
  EXPECT_EQ(map("COO-soa", 3),
            "map = (i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique, soa), "
            "k : singleton(soa))");
  EXPECT_EQ(map("CSR", 2), "map = (i, j) -> (i : dense, j : compressed)");
  EXPECT_EQ(map("CSC", 2), "map = (i, j) -> (j : dense, i : compressed)");
  EXPECT_EQ(map("DCSR", 2), "map = (i, j) -> (i : compressed, j : compressed)");
  EXPECT_EQ(map("DCSC", 2), "map = (i, j) -> (j : compressed, i : compressed)");
  EXPECT_EQ(
      map("BCSR(2,3)", 2),
      "map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)");
  EXPECT_EQ(
      map("BCSC( 8 , 4 )", 2),
      "map = (i, j) -> (j floordiv 4 : dense, i floordiv 8 : compressed, i mod 8 : dense, j mod 4 : dense)");
  EXPECT_EQ(map("NV24", 2),
            "map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 2");
  EXPECT_EQ(map("NM(1,3)", 2),
            "map = (i, j) -> (i : dense, j floordiv 3 : dense, j mod 3 : structured[1,3])");
  EXPECT_EQ(map("BCOO", 3), "map = (i, j, k) -> (i : dense, j : loose_compressed(nonunique), k : singleton)");
  EXPECT_EQ(map("CSF", 3), "map = (i, j, k) -> (i : compressed, j : compressed, k : compressed)");
  EXPECT_EQ(map("CSF(2,0,1)", 3), "map = (i, j, k) -> (k : compressed, i : compressed, j : compressed)");
  EXPECT_EQ(map("DIA", 2), "map = (i, j) -> (j - i : squeezed, i : dense, j : offset)");
  EXPECT_EQ(map("ELLR", 2), "map = (i, j) -> (i : dense, j : fixed)");
  EXPECT_EQ(map("SELL(4,32)", 2),
            "map = (i, j) -> (let r = rank(i by count(j) within 32) in r floordiv 4 : dense, "
            "#i : ragged(padded), r mod 4 : dense, j : singleton(padded))");
  EXPECT_EQ(map("bitmap", 2), "map = (i, j) -> (i : dense, j : bitmap)");
  EXPECT_EQ(map("ragged", 2), "map = (i, j) -> (i : dense, j : ragged)");
  EXPECT_EQ(map("jagged", 3), "map = (i, j, k) -> (i : dense, j : jagged, k : jagged)");
}

TEST(Presets, caseDoesNotMatter) {
  EXPECT_EQ(map("csr", 2), map("CSR", 2));
  EXPECT_EQ(map("coo_SOA", 2), map("COO-soa", 2));
  EXPECT_EQ(map("bcsr(2,2)", 2), map("BCSR(2,2)", 2));
}

// (i, j) = (0b1101_10, 0b0110_01), blocks of 4: block (13, 6), Morton order puts i's bits at the odd places.
TEST(Presets, hicooInterleavesTheBitsOfTheBlock) {
  Encoding e = parseFormat("HiCOO(2)", 2);
  Bindings bindings;
  auto at = [&](unsigned l, int64_t i, int64_t j) {
    return evaluate(e.levels[l].expr, {i, j}, {}, bindings);
  };
  // 13 = 1101, 6 = 0110: interleaved 1 0, 1 1, 0 1, 1 0.
  EXPECT_EQ(at(0, 54, 25), 0b10110110);
  EXPECT_EQ(at(1, 54, 25), 2);
  EXPECT_EQ(at(2, 54, 25), 1);
  EXPECT_EQ(at(0, 0xFFFF * 4, 0), 0xAAAAAAAA);
}

// Blocks of 2 of (i, j, k) = (5, 2, 7) = (10 1, 01 0, 11 1): bits 1 0 1 of the second, 0 1 1 of the first
// place.
TEST(Presets, hicooOfThreeDimensionsTakesABitOfEachInTurn) {
  Encoding e = parseFormat("HiCOO(1)", 3);
  Bindings bindings;
  auto at = [&](unsigned l, int64_t i, int64_t j, int64_t k) {
    return evaluate(e.levels[l].expr, {i, j, k}, {}, bindings);
  };
  EXPECT_EQ(at(0, 5, 2, 7), 0b101011);
  EXPECT_EQ(at(1, 5, 2, 7), 1);
  EXPECT_EQ(at(2, 5, 2, 7), 0);
  EXPECT_EQ(at(3, 5, 2, 7), 1);
  EXPECT_EQ(at(0, 0, 0, 0xFFFF * 2), 0x249249249249);
  EXPECT_EQ(displayName(e), "HiCOO(1)");
  for (unsigned order = 2; order <= 8; ++order)
    EXPECT_EQ(whyNotExecutable(parseFormat("HiCOO(1)", order)), "") << order;
}

TEST(Presets, everyRowParsesAndIsFoundByItsText) {
  for (const Preset &preset : presets()) {
    Encoding encoding = parseEncoding(preset.pattern);
    std::string word = preset.name.substr(0, preset.name.find('('));
    EXPECT_EQ(displayName(encoding).substr(0, word.size()), word) << preset.pattern;
    EXPECT_EQ(parseFormat(displayName(encoding), encoding.order()), encoding) << displayName(encoding);
    EXPECT_EQ(parseFormat(preset.pattern, encoding.order()), encoding);
    EXPECT_EQ(whyNotExecutable(encoding), "");
    EXPECT_FALSE(preset.what.empty());
  }
}

TEST(Presets, displayName) {
  auto shown = [](std::string_view text) { return displayName(parseEncoding(text)); };
  EXPECT_EQ(shown("(r, c) -> (r : dense, c : compressed), posWidth = 64"), "CSR");
  EXPECT_EQ(
      shown("(i,j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)"),
      "BCSR(2,3)");
  EXPECT_EQ(
      shown("(i,j) -> (j floordiv 3 : dense, i floordiv 2 : compressed, i mod 2 : dense, j mod 3 : dense)"),
      "BCSC(2,3)");
  EXPECT_EQ(shown("(i,j) -> (i : dense, j floordiv 4 : dense, j mod 4 : block2_4), crdWidth = 2"), "NV24");
  EXPECT_EQ(shown("(i,j) -> (i : dense, j floordiv 8 : dense, j mod 8 : structured[2,8])"), "NM(2,8)");
  EXPECT_EQ(shown("(i,j,k) -> (k : compressed, i : compressed, j : compressed)"), "CSF(2,0,1)");
  EXPECT_EQ(shown("(i) -> (i : dense)"), "dense");
  EXPECT_EQ(shown("(i, j) -> (j : compressed, i : dense)"), "(i, j) -> (j : compressed, i : dense)");
  EXPECT_EQ(displayName(denseEncoding(70)).substr(0, 9), "(d0, d1, ");
}

std::string errorOf(std::string_view text, unsigned order) {
  try {
    parseFormat(text, order);
  } catch (const support::SyntaxError &error) {
    return error.what();
  }
  return "no error";
}

TEST(Presets, errors) {
  using testing::Test;
  EXPECT_EQ(errorOf("CSRR", 2),
            "<format>:1:1: error: unknown format 'CSRR'; did you mean 'CSR'?\n  CSRR\n  ^~~~");
  EXPECT_EQ(errorOf("bsr(2,2)", 2),
            "<format>:1:1: error: unknown format 'bsr'; here it is 'BCSR(b,c)'\n  bsr(2,2)\n  ^~~");
  EXPECT_THAT(errorOf("HYB", 2), testing::HasSubstr("'decompose(A, hyb(1, 3))'"));
  EXPECT_EQ(errorOf("CSR", 3),
            "<format>:1:1: error: CSR is for tensors of 2 dimensions, this one has 3 dimensions; dense, "
            "COO and CSF fit any number\n  CSR\n  ^~~");
  EXPECT_EQ(errorOf("COO", 0),
            "<format>:1:1: error: COO is for tensors of at least 1 dimension, this one has 0 "
            "dimensions; write dense\n  COO\n  ^~~");
  EXPECT_EQ(errorOf("BCSR", 2), "<format>:1:1: error: expected BCSR(b,c) with 2 integers\n  BCSR\n  ^~~~");
  EXPECT_EQ(errorOf("BCSR(2,0)", 2),
            "<format>:1:8: error: expected an integer from 1 to 1048576\n  BCSR(2,0)\n         ^");
  EXPECT_EQ(errorOf("CSR(1)", 2), "<format>:1:1: error: CSR takes no arguments\n  CSR(1)\n  ^~~~~~");
  EXPECT_EQ(errorOf("CSF(0,1,1)", 3),
            "<format>:1:1: error: expected each of the dimensions 0 to 2 once, outermost "
            "first\n  CSF(0,1,1)\n  ^~~~~~~~~~");
  EXPECT_EQ(errorOf("CSR CSC", 2),
            "<format>:1:5: error: expected nothing after the format, got 'CSC'\n  CSR CSC\n      ^~~");
  EXPECT_EQ(errorOf("(i) -> (i : dense)", 2),
            "<format>:1:1: error: this encoding is for tensors of 1 dimension, this one "
            "has 2 dimensions\n  (i) -> (i : dense)\n  ^~~~~~~~~~~~~~~~~~");
  EXPECT_NE(errorOf("", 2).find("expected a format's name"), std::string::npos);
}

} // namespace
