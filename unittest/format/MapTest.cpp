#include "format/Encoding.h"
#include "format/Layout.h"
#include <gtest/gtest.h>

using namespace tulle::format;

namespace {

using D = std::vector<Digit>;

TEST(Digits, permutationsAndBlocks) {
  EXPECT_EQ(*digits(parseFormat("CSC", 2)), (D{{1, 1, 0}, {0, 1, 0}}));
  EXPECT_EQ(*digits(parseFormat("BCSR(2,3)", 2)), (D{{0, 2, 0}, {1, 3, 0}, {0, 1, 2}, {1, 1, 3}}));
  EXPECT_EQ(digits(parseFormat("dense", 0))->size(), 0u);
}

TEST(Digits, chains) {
  // i = 24 a + 4 b + c with b < 6, c < 4.
  EXPECT_EQ(*digits(parseEncoding(
                "(i) -> (i floordiv 4 floordiv 6 : dense, i floordiv 4 mod 6 : dense, i mod 4 : dense)")),
            (D{{0, 24, 0}, {0, 4, 6}, {0, 1, 4}}));
  // The same middle digit, cut out of the low part.
  EXPECT_EQ(*digits(parseEncoding(
                "(i) -> (i floordiv 24 : dense, (i mod 24) floordiv 4 : dense, i mod 24 mod 4 : dense)")),
            (D{{0, 24, 0}, {0, 4, 6}, {0, 1, 4}}));
  EXPECT_EQ(*digits(parseEncoding("(i) -> (i floordiv 1 : dense, i mod 1 : dense)")),
            (D{{0, 1, 0}, {0, 1, 1}}));
  EXPECT_EQ(*digits(parseEncoding(
                "(i, j) -> (let r = i floordiv 8 in r : dense, j : compressed, i mod 8 : dense)")),
            (D{{0, 8, 0}, {1, 1, 0}, {0, 1, 8}}));
}

TEST(Digits, otherMapsHaveNone) {
  for (const char *text :
       {"(i) -> (i floordiv 4 : dense, i mod 2 : dense)", "(i) -> (i : dense, i mod 2 : dense)",
        "(i) -> (i floordiv 2 : dense)", "(i) -> (i mod 2 : dense)", "(i) -> (i + 1 : dense)",
        "(i) -> (i floordiv 4 : dense, i mod 6 mod 4 : dense)", "(i, j) -> (j - i : dense, i : dense)",
        "(i) -> (i floordiv 4611686018427387904 floordiv 4 : dense, i mod 4 : dense)",
        "(i, j) -> (#i : dense, i : dense, j : dense)"})
    EXPECT_FALSE(digits(parseEncoding(text))) << text;
}

TEST(Digits, levelSizes) {
  EXPECT_EQ(levelSize({0, 4, 0}, {10}), 3);
  EXPECT_EQ(levelSize({0, 4, 0}, {8}), 2);
  EXPECT_EQ(levelSize({0, 4, 0}, {0}), 0);
  EXPECT_EQ(levelSize({0, 1, 4}, {2}), 4);
  EXPECT_EQ(levelSize({0, 4, 0}, {INT64_MAX}), INT64_MAX / 4 + 1);
}

/// Runs points through the map and its inferred inverse.
void expectInverse(std::string_view text) {
  Encoding e = parseEncoding(text);
  auto inverse = inverseMap(e);
  ASSERT_TRUE(inverse) << text;
  for (int64_t i : {0, 1, 2, 5, 17, 1000})
    for (int64_t j : {0, 1, 3, 8, 999}) {
      std::vector<int64_t> dims = {i, j}, levels;
      dims.resize(e.order());
      Bindings bindings;
      for (const Level &level : e.levels)
        // A counter's value says nothing about where the entry is: any will do.
        levels.push_back(evaluate(level.expr, dims, {}, bindings).value_or(7));
      for (unsigned d = 0; d < e.order(); ++d)
        EXPECT_EQ(evaluate((*inverse)[d], {}, levels, bindings), dims[d]) << text << " at " << i << ", " << j;
    }
}

TEST(InverseMap, inferred) {
  expectInverse("(i, j) -> (j : dense, i : compressed)");
  expectInverse(
      "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)");
  expectInverse("(i, j) -> (j - i : squeezed, i : dense, j : offset)");
  expectInverse("(i, j) -> (j - i : squeezed, i : dense)");
  expectInverse("(i, j) -> (i + j : squeezed, 5 - j : dense)");
  expectInverse("(i, j) -> (#i : dense, i : dense, j : singleton(padded))");
  expectInverse("(i, j) -> (3 * i + 2 : dense, (j shl 2) - i : dense)");
  expectInverse("(i, j) -> (i ^ j : dense, -j : dense)");
  expectInverse("(i, j) -> (j - (i floordiv 2) : squeezed, i floordiv 2 : dense, i mod 2 : dense)");
  expectInverse(
      "{b, r, c} (i = b * 4 + r, j = c) -> (b = i floordiv 4 : dense, r = i mod 4 : dense, c = j : dense)");
}

/// Points of a box through the map and its inferred inverse, and the largest sizes that it says.
void expectLinear(std::string_view text, const std::vector<int64_t> &largest) {
  Encoding e = parseEncoding(text);
  auto inverse = inverseMap(e);
  ASSERT_TRUE(inverse) << text;
  for (unsigned d = 0; d < e.order(); ++d)
    EXPECT_EQ(largestSize(e, d), largest[d]) << text;
  for (int64_t i = 0; i < std::min<int64_t>(largest[0], 20); ++i)
    for (int64_t j = 0; j < std::min<int64_t>(largest[1], 20); ++j) {
      const std::vector<int64_t> dims = {i, j};
      std::vector<int64_t> levels;
      Bindings bindings;
      for (const Level &level : e.levels)
        levels.push_back(*evaluate(level.expr, dims, {}, bindings));
      for (unsigned d = 0; d < 2; ++d)
        EXPECT_EQ(evaluate((*inverse)[d], {}, levels, bindings), dims[d]) << text << " at " << i << ", " << j;
    }
}

TEST(InverseMap, ofTermsWithStrides) {
  const int64_t any = std::numeric_limits<int64_t>::max();
  expectLinear("(i, j) -> (i * 6 + j : compressed)", {any, 6});
  expectLinear("(i, j) -> (i + 4 * j : dense)", {4, any});
  expectLinear("(i, j) -> ((i shl 3) | j : compressed)", {any, 8});
  expectLinear("(i, j) -> ((i shl 3) ^ j : compressed)", {any, 8});
  expectLinear("(i, j) -> (i * 20 + j * 3 + 7 : compressed)", {any, 6});
  expectLinear("(i, j) -> (let l = i * 6 + j in l floordiv 4 : dense, l mod 4 : compressed)", {any, 6});
  expectLinear("(i, j) -> ((i floordiv 2) * 3 + j floordiv 4 : compressed, i mod 2 : dense, j mod 4 : dense)",
               {any, 12});
  expectLinear("(i, j) -> ((i floordiv 2) * 6 + j * 2 + i mod 2 : compressed)", {any, 3});
  // A level of j alone leaves one unknown.
  expectLinear("(i, j) -> (i * 6 + j : compressed, j : compressed)", {any, any});
  // A form among the terms of another stays below the stride of what is next to it.
  expectLinear("(i, j) -> (j mod 2 * 20 + (i * 6 + j floordiv 2) floordiv 4 : compressed, (i * 6 + j "
               "floordiv 2) mod 4 : "
               "dense)",
               {13, 12});
  for (const char *text : {"(i, j) -> (i + j : compressed)", "(i, j) -> (i * 6 | j : compressed)",
                           "(i, j) -> (i * 6 - j : compressed)", "(i, j) -> (i * 4 + j mod 6 : compressed)",
                           "(i) -> (i * 6 + i : compressed)"})
    EXPECT_FALSE(inverseMap(parseEncoding(text))) << text;
}

/// Bits 0, 1, … of a and b in turn, b's first.
int64_t interleaved(int64_t a, int64_t b) {
  int64_t out = 0;
  for (int k = 0; k < 16; ++k)
    out |= (b >> k & 1) << 2 * k | (a >> k & 1) << (2 * k + 1);
  return out;
}

TEST(InverseMap, ofTheMortonCurveTakesItsBitsApart) {
  auto inverse = inverseMap(parseFormat("HiCOO(3)", 2));
  ASSERT_TRUE(inverse);
  for (int64_t i : {0, 1, 7, 8, 12345, 524287})
    for (int64_t j : {0, 5, 8, 300000, 524287}) {
      std::vector<int64_t> levels = {interleaved(i / 8, j / 8), i % 8, j % 8};
      Bindings bindings;
      EXPECT_EQ(evaluate((*inverse)[0], {}, levels, bindings), i);
      EXPECT_EQ(evaluate((*inverse)[1], {}, levels, bindings), j);
    }
  // 16 bits of the block, 3 inside it.
  EXPECT_EQ(largestSize(parseFormat("HiCOO(3)", 2), 0), 1 << 19);
  // A coordinate has 63 bits for the blocks of all dimensions.
  EXPECT_EQ(largestSize(parseFormat("HiCOO(3)", 3), 0), 1 << 19);
  EXPECT_EQ(largestSize(parseFormat("HiCOO(3)", 4), 2), 1 << 18);
  EXPECT_EQ(largestSize(parseFormat("HiCOO(3)", 8), 7), 1 << 10);
  EXPECT_EQ(largestSize(parseFormat("CSR", 2), 0), std::numeric_limits<int64_t>::max());
}

TEST(InverseMap, ofARankIsLookedUp) {
  auto inverse = inverseMap(parseFormat("SELL(4,8)", 2));
  ASSERT_TRUE(inverse);
  ASSERT_EQ((*inverse)[0]->kind, ExprKind::Unrank);
  Bindings bindings;
  EXPECT_EQ(evaluate((*inverse)[0]->lhs, {}, {5, 2, 3, 9}, bindings), 5 * 4 + 3);
  EXPECT_EQ(evaluate((*inverse)[1], {}, {5, 2, 3, 9}, bindings), 9);
}

TEST(LevelRange, boundsCoordinatesBySizes) {
  auto range = [](const char *format, unsigned level, std::vector<int64_t> dims) {
    auto r = levelRange(parseFormat(format, unsigned(dims.size())), level, dims);
    return r ? std::pair(r->low, r->high) : std::pair(int64_t(7), int64_t(7));
  };
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(range("DIA", 0, {4, 6}), P(-3, 5));
  EXPECT_EQ(range("DIA", 1, {4, 6}), P(0, 3));
  EXPECT_EQ(range("ELL", 0, {4, 6}), P(0, 5)); // as many entries of a row as there are columns
  EXPECT_EQ(range("SELL(4,8)", 0, {9, 6}), P(0, 2));
  EXPECT_EQ(range("SELL(4,8)", 2, {9, 6}), P(0, 3));
  EXPECT_EQ(range("HiCOO(1)", 0, {8, 8}), P(0, 15)); // 4 x 4 blocks
  EXPECT_EQ(range("(i, j) -> (2 * i - 3 : compressed, j : compressed)", 0, {5, 5}), P(-3, 5));
}

TEST(OffsetCoordinate, followsFromTheLevelsAbove) {
  Bindings bindings;
  EXPECT_EQ(evaluate(offsetCoordinate(parseFormat("DIA", 2), 2), {}, {-3, 5}, bindings), 2);
}

TEST(InverseMap, whereThereIsNone) {
  for (const char *text :
       {"(i, j) -> (i + j : dense, i + j : dense)",
        "(i, j) -> (#i : dense, rank(i by count(j)) floordiv 2 : ragged, j : singleton)",
        "[c](i, j) -> (c + i : dense, j : compressed)", "(i) -> (i & 3 : dense)", "(i) -> (i mod 3 : dense)"})
    EXPECT_FALSE(inverseMap(parseEncoding(text))) << text;
}

// Written out, the inverse of the last dimension would have 2^60 operands.
TEST(InverseMap, thatWouldExplodeIsRefused) {
  std::string dims = "d0", levels = "d0 : dense";
  for (unsigned d = 1; d < 60; ++d) {
    std::string now = "d" + std::to_string(d), before = "d" + std::to_string(d - 1);
    dims += ", " + now;
    levels += ", " + before + " + " + before + " + " + now + " : dense";
  }
  EXPECT_FALSE(inverseMap(parseEncoding("(" + dims + ") -> (" + levels + ")")));
}

TEST(Widths, growOnlyWhereUnnamedAndNeeded) {
  Encoding e = resolveWidths(parseEncoding("(i) -> (i : compressed)"), INT32_MAX, int64_t(INT32_MAX) + 1);
  EXPECT_EQ(e.crdWidth, 32u);
  EXPECT_EQ(e.posWidth, 64u);
  e = resolveWidths(parseEncoding("(i) -> (i : compressed), posWidth = 8, crdWidth = 16"), 1 << 20, 1 << 20);
  EXPECT_EQ(e.crdWidth, 16u);
  EXPECT_EQ(e.posWidth, 8u);
}

/// `pos0:32 crd0:32 val` …
std::string fields(std::string_view format, unsigned order) {
  std::string out;
  for (const Field &field : layout(resolveWidths(parseFormat(format, order), 100, 100)).fields) {
    bool values = field.kind == FieldKind::Values;
    std::string level = std::to_string(field.level), width = std::to_string(field.width);
    out += (out.empty() ? "" : " ");
    out += values ? "val" : (field.kind == FieldKind::Positions ? "pos" : "crd") + level + ":" + width;
  }
  return out;
}

TEST(Layout, buffersInOrder) {
  EXPECT_EQ(fields("dense", 2), "val");
  EXPECT_EQ(fields("CSR", 2), "pos1:32 crd1:32 val");
  EXPECT_EQ(fields("DCSR", 2), "pos0:32 crd0:32 pos1:32 crd1:32 val");
  // Storage picture of formats.md: positions[1] and coordinates[1] only.
  EXPECT_EQ(fields("BCSR(2,2)", 2), "pos1:32 crd1:32 val");
  EXPECT_EQ(fields("COO", 3), "pos0:32 crd0:32 val");
  EXPECT_EQ(fields("COO-soa", 3), "pos0:32 crd0:32 crd1:32 crd2:32 val");
  EXPECT_EQ(fields("BCOO", 3), "pos1:32 crd1:32 val");
  EXPECT_EQ(fields("NV24", 2), "crd2:2 val");
  EXPECT_EQ(fields("(i, j) -> (i : batch, j : compressed), posWidth = 8", 2), "pos1:8 crd1:32 val");
  EXPECT_EQ(fields("(i, j, k) -> (i : compressed(nonunique), j : compressed(nonunique), k : singleton)", 3),
            "pos0:32 crd0:32 pos1:32 crd1:32 val");
}

TEST(Layout, interleavedRuns) {
  Layout coo = layout(parseFormat("COO", 3));
  EXPECT_EQ(coo.positions[0], 0u);
  EXPECT_FALSE(coo.positions[1]);
  for (unsigned l = 0; l < 3; ++l) {
    ASSERT_TRUE(coo.coordinates[l]);
    EXPECT_EQ(coo.coordinates[l]->field, 1u);
    EXPECT_EQ(coo.coordinates[l]->stride, 3u);
    EXPECT_EQ(coo.coordinates[l]->offset, l);
  }
  EXPECT_EQ(coo.fields[1].width, 64u);
  EXPECT_EQ(coo.valuesField(), 2u);
  Layout soa = layout(parseFormat("COO-soa", 2));
  EXPECT_EQ(soa.coordinates[1]->field, 2u);
  EXPECT_EQ(soa.coordinates[1]->stride, 1u);
  // A unique level shares its buffer with nobody.
  Layout unique = layout(parseEncoding("(i, j) -> (i : compressed, j : singleton)"));
  EXPECT_EQ(unique.coordinates[0]->stride, 1u);
  EXPECT_EQ(unique.coordinates[1]->field, 2u);
}

TEST(Fill, takesTheTypeOfTheTensor) {
  using tulle::ElementType;
  auto fill = [](std::string_view text, ElementType type) {
    return fillValue(parseEncoding("(i) -> (i : compressed)" + std::string(text)), type);
  };
  EXPECT_EQ(fill("", ElementType::F64).f, 0.0);
  EXPECT_EQ(fill(", fill = -inf", ElementType::F32).f, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(fill(", fill = -3", ElementType::I8).i, -3);
  EXPECT_EQ(fill(", fill = -3", ElementType::F64).f, -3.0);
  EXPECT_EQ(fill(", fill = 9007199254740993", ElementType::I64).i, 9007199254740993);
  EXPECT_EQ(fill(", fill = true", ElementType::Bool).i, 1);
  EXPECT_EQ(fill(", fill = 2.5 : f32", ElementType::I32).i, 2);
  EXPECT_EQ(fill(", implicitVal = 7", ElementType::F64).f, 7.0);
  EXPECT_EQ(fill(", fill = (1.5, -2.0)", ElementType::C128).f, std::complex<double>(1.5, -2.0));
  EXPECT_TRUE(hasZeroFill(parseEncoding("(i) -> (i : compressed), fill = (0.0, -0.0)")));
  EXPECT_FALSE(hasZeroFill(parseEncoding("(i) -> (i : compressed), fill = (0.0, 1.0)")));
}

TEST(Executable, saysWhichPartAndWhichFormats) {
  auto why = [](std::string_view text) {
    std::string reason = whyNotExecutable(parseEncoding(text));
    return reason.substr(0, reason.find(';'));
  };
  EXPECT_EQ(why("(i, j) -> (i : batch, j : loose_compressed(nonunique)), fill = 0.0"), "");
  for (const Preset &preset : presets())
    EXPECT_EQ(why(preset.pattern), "") << preset.name;
  EXPECT_EQ(why("(i) -> (i : compressed(nonordered))"), "");
  EXPECT_EQ(why("(i, j) -> (i : dense, j : loose_compressed[2])"), "");
  EXPECT_EQ(why("(i, j) -> (i : batch, j : loose_compressed[2])"), "");
  EXPECT_EQ(why("(i, j, k) -> (i : batch, j : loose_compressed[2], k : compressed)"),
            "below batch levels, the loose_compressed[2] level 1 can stand with dense levels only");
  EXPECT_EQ(why("(i, j) -> (i : loose_compressed[2], j mod 4 : structured[2,4], j floordiv 4 : dense)")
                .substr(0, 30),
            "below the positions in reserve");
  EXPECT_EQ(why("(i) -> (i : singleton(padded))"), "");
  EXPECT_EQ(why("(i) -> (i : singleton(padded, nonunique))"), "level 0 is padded and nonunique");
  EXPECT_EQ(why("(i, j) -> (j - i : dense, i : dense)"),
            "coordinates of level 0 can be negative, and those of a dense level start at 0");
  EXPECT_EQ(why("(i, j) -> (i : dense, #i + 1 : dense, j : singleton(padded))"),
            "level 1 computes with a counter, which must stand alone");
  EXPECT_EQ(why("(i, j) -> (#i : bitmap, i : dense, j : singleton(padded))").substr(0, 26),
            "level 0 is a bitmap level,");
  EXPECT_EQ(why("(i, j) -> (rank(i by count(j)) : dense, rank(j by count(i)) : compressed)"),
            "it ranks in two ways, and only one permutation can be stored");
  EXPECT_EQ(why("(i, j) -> (i floordiv 2 : dense, j : compressed, i : offset)"),
            "the levels above the offset level 2 do not determine its coordinate");
  // Positions without an entry would have coordinates that are stored elsewhere.
  for (const char *map :
       {"(#i : dense, i : dense, j : dense)", "(i : dense, j : dense, i + j : dense)",
        "(i ^ j : dense, i : dense, j : ragged)", "(i : dense, i mod 2 : dense, j : banded)",
        "(j - i : squeezed, i : dense, j : dense)", "(i : dense, j : compressed, j + i : squeezed)",
        "(i floordiv 2 : dense, i mod 4 : dense, j : dense)"})
    EXPECT_NE(why(std::string("(i, j) -> ") + map).find("repeats what other levels say"), std::string::npos)
        << map;
  EXPECT_EQ(why("(i, j) -> (#i : dense, i : dense, j : dense)"),
            "level 0 repeats what other levels say, so that the dense level 2 would store positions without "
            "an entry");
  for (const char *map :
       {"(#i : dense, i : dense, j : compressed)", "(i ^ j : compressed, i : dense, j : bitmap)",
        "(i : dense, i mod 2 : dense, j : compressed)", "(i : dense, j : dense, #(i, j) : dense)",
        "(i - 2 * j : compressed, j : dense)", "(i ^ j : dense, j : dense)",
        "(i shr 1 : dense, j : dense, i & 1 : dense)", "(i + j : squeezed, i : dense, j : offset)"})
    EXPECT_EQ(why(std::string("(i, j) -> ") + map), "") << map;
  // Positions between the coordinates of a level would be read as those of other entries.
  for (const char *map : {"(i * 3 : dense, j : dense)", "(i : compressed, j * 2 + 1 : ragged)",
                          "(i shl 2 : dense, j : dense)", "(i : dense, j * 2 : banded)"})
    EXPECT_NE(why(std::string("(i, j) -> ") + map).find("would store positions between the coordinates"),
              std::string::npos)
        << map;
  for (const char *map : {"(i * 3 : dense, j : compressed)", "(i * 3 : squeezed, j : dense)",
                          "(i * 4 + j mod 4 : dense, j floordiv 4 : dense)", "(i + 7 : dense, j : dense)"})
    EXPECT_EQ(why(std::string("(i, j) -> ") + map), "") << map;
  EXPECT_EQ(why("[c](i, j) -> (i : dense, j + c : compressed)"),
            "it has symbols, whose values nothing gives");
  EXPECT_EQ(why("[c = 1](i, j) -> (i : dense, j + c : compressed)"), "");
  EXPECT_EQ(why("(i, j) -> (#i[3] : dense, i : dense, j : singleton(padded))"), "");
  EXPECT_EQ(why("(i, j) -> (i : dense, #i[3] : compressed, j : singleton)").substr(0, 53),
            "level 1 is a compressed level, and a number of slices");
  EXPECT_EQ(why("(i) -> (i : compressed), fill = inf"), "");
  EXPECT_EQ(why("(i : #tulle<slice(0, 4, ?)>) -> (i : dense)"),
            "the stride of the slice of dimension i is '?', and nothing says what it is");
  EXPECT_EQ(why("(i : #tulle<slice(0, 4, 2)>) -> (i : dense)"), "");
  EXPECT_EQ(why("(i) -> (i mod 2 : dense)").substr(0, 27), "this map cannot be inverted");
  EXPECT_EQ(why("(i, j) -> (i : compressed, j : singleton)").substr(0, 17), "level 0 is unique");
  EXPECT_EQ(why("(i, j) -> (i : compressed(nonunique), j : dense)"),
            "level 0 is nonunique, and only a singleton level can stand below it yet");
  EXPECT_NE(whyNotExecutable(parseEncoding("(i) -> (i mod 2 : dense)")).find("`tulle formats`"),
            std::string::npos);
}

TEST(Executable, explicitValuesNeedLevelsThatTellEntriesApart) {
  auto why = [](std::string_view map) {
    std::string reason = whyNotExecutable(parseEncoding(std::string(map) + ", explicitVal = 1"));
    return reason.substr(0, reason.find(" has padding"));
  };
  for (const char *map :
       {"(i) -> (i : compressed)", "(i, j) -> (i : dense, j : compressed)",
        "(i, j) -> (i : compressed(nonunique), j : singleton)", "(i, j) -> (i : dense, j : bitmap)",
        "(i, j) -> (i : dense, j : hashed)", "(i, j) -> (i : dense, j : fixed[3])",
        "(i, j) -> (#i : dense, i : dense, j : singleton(padded))",
        "(i, j) -> (i : dense, j : loose_compressed[2])",
        "(i, j) -> (i + j : compressed, i : compressed, j : offset)",
        "(i, j) -> (i floordiv 2 : dense, j : compressed, i mod 2 : compressed)",
        "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4])"})
    EXPECT_EQ(why(map), "") << map;
  EXPECT_EQ(why("(i) -> (i : dense)"), "explicitVal: the dense level 0");
  EXPECT_EQ(why("(i, j) -> (i : dense, j : ragged)"), "explicitVal: the ragged level 1");
  EXPECT_EQ(why("(i, j) -> (i : dense, j : banded)"), "explicitVal: the banded level 1");
  EXPECT_EQ(why("(i, j) -> (j - i : squeezed, i : dense, j : offset)"), "explicitVal: the dense level 1");
  EXPECT_EQ(why("() -> ()").substr(0, 34), "explicitVal: a tensor without dime");
}

TEST(Executable, explicitValuesAreElements) {
  auto why = [](std::string_view fields, tulle::ElementType type) {
    std::string reason =
        whyNotExecutable(parseEncoding("(i) -> (i : compressed)" + std::string(fields)), type);
    return reason.substr(0, reason.find_first_of(";,"));
  };
  using enum tulle::ElementType;
  EXPECT_EQ(why(", explicitVal = 1", F64), "");
  EXPECT_EQ(why(", explicitVal = 1", tulle::ElementType::Bool), "");
  EXPECT_EQ(why(", explicitVal = true", tulle::ElementType::Bool), "");
  EXPECT_EQ(why(", explicitVal = 1 : i1", tulle::ElementType::Bool), "");
  EXPECT_EQ(why(", explicitVal = 0.1", F32), "");
  EXPECT_EQ(why(", explicitVal = (0.5, -1.0)", C64), "");
  EXPECT_EQ(why(", explicitVal = inf", F16), "");
  EXPECT_EQ(why(", explicitVal = -128", I8), "");
  EXPECT_EQ(why(", explicitVal = 9007199254740993", I64), "");
  EXPECT_EQ(why(", explicitVal = 1 : f32", F64),
            "explicitVal = 1 : f32 is of another type than the elements");
  EXPECT_EQ(why(", explicitVal = 0.5", I32), "explicitVal = 0.5 is no value of type i32");
  EXPECT_EQ(why(", explicitVal = 200", I8), "explicitVal = 200 is no value of type i8");
  EXPECT_EQ(why(", explicitVal = 2", tulle::ElementType::Bool), "explicitVal = 2 is no value of type bool");
  EXPECT_EQ(why(", explicitVal = 1.0e300", F32), "explicitVal = 1e+300 is no value of type f32");
  EXPECT_EQ(why(", explicitVal = (1.0, 2.0)", F64), "explicitVal = (1.0");
  EXPECT_EQ(why(", explicitVal = 0", F64), "explicitVal = 0 is also the fill");
  EXPECT_EQ(why(", explicitVal = 0, fill = 1", F64), "");
  EXPECT_EQ(why(", explicitVal = 1.0, implicitVal = 1", I16), "explicitVal = 1.0 is also the fill");
  EXPECT_EQ(why(", explicitVal = nan", F64), "explicitVal = nan equals no value");
}

std::string reshapedText(const char *format, unsigned order, const D &outer, unsigned made = 1) {
  const std::optional<Encoding> result = reshaped(parseFormat(format, order), outer, made);
  return result ? printBody(*result) : "";
}

TEST(Digits, reshapes) {
  // A matrix of rows of 12, seen as a vector; and back.
  const D rows = {{0, 12, 0}, {0, 1, 12}};
  EXPECT_EQ(reshapedText("CSR", 2, rows), "map = (i) -> (i floordiv 12 : dense, i mod 12 : compressed)");
  EXPECT_EQ(reshapedText("CSC", 2, rows), "map = (i) -> (i mod 12 : dense, i floordiv 12 : compressed)");
  EXPECT_EQ(*digits(*reshaped(parseFormat("BCSR(2,3)", 2), rows, 1)),
            (D{{0, 24, 0}, {0, 3, 4}, {0, 12, 2}, {0, 1, 3}}));
  for (const char *format : {"CSR", "CSC", "DCSR", "BCSR(2,3)", "COO"}) {
    const Encoding own = parseFormat(format, 2);
    const std::optional<Encoding> back = unreshaped(*reshaped(own, rows, 1), rows);
    ASSERT_TRUE(back) << format;
    EXPECT_EQ(digits(*back), digits(own)) << format;
  }
  // Blocks of five columns are no digits of rows of 12, diagonals none of anything; hash tables have no
  // order.
  EXPECT_EQ(reshapedText("BCSR(2,5)", 2, rows), "");
  EXPECT_EQ(reshapedText("DIA", 2, rows), "");
  EXPECT_EQ(reshapedText("DOK", 2, rows), "");
  // Digits that are not all of an index.
  EXPECT_EQ(reshapedText("CSR", 2, {{0, 12, 0}, {0, 1, 6}}), "");
  EXPECT_EQ(reshapedText("CSR", 2, {{0, 12, 0}, {0, 12, 0}}), "");
  // Other dimensions stay.
  EXPECT_EQ(reshapedText("CSF", 3, {{0, 4, 0}, {0, 1, 4}, {1, 1, 0}}, 2),
            "map = (i, j) -> (i floordiv 4 : compressed, i mod 4 : compressed, j : compressed)");
  EXPECT_EQ(reshapedText("(i, j, k) -> (i : dense, j : dense, k : compressed)", 3,
                         {{0, 6, 0}, {0, 1, 6}, {1, 1, 0}}, 2),
            "map = (i, j) -> (i : dense, j : compressed)");
  EXPECT_EQ(reshapedText("dense", 2, rows), "map = (i) -> (i : dense)");
  // So with batches; a batch level and a dense one stay two.
  const D outer = {{0, 6, 0}, {0, 1, 6}, {1, 1, 0}};
  EXPECT_EQ(reshapedText("(i, j, k) -> (i : batch, j : batch, k : compressed)", 3, outer, 2),
            "map = (i, j) -> (i : batch, j : compressed)");
  EXPECT_EQ(reshapedText("(i, j, k) -> (i : batch, j : dense, k : compressed)", 3, outer, 2),
            "map = (i, j) -> (i floordiv 6 : batch, i mod 6 : dense, j : compressed)");
  // A block as wide as the rows.
  EXPECT_EQ(reshapedText("BCSR(4,12)", 2, rows),
            "map = (i) -> (i floordiv 48 : dense, i floordiv 12 mod 1 : compressed, i floordiv 12 mod 4 : "
            "dense, i mod 12 : dense)");
  // Dense levels are as many digits as are wanted; those of other levels have to be there.
  auto expandedText = [](const char *format, unsigned order, const D &parts) {
    const std::optional<Encoding> result = expanded(parseFormat(format, order), parts);
    return result ? printBody(*result) : "";
  };
  const D both = {{0, 6, 0}, {0, 1, 6}, {1, 1, 0}}, three = {{0, 15, 0}, {0, 3, 5}, {0, 1, 3}};
  EXPECT_EQ(expandedText("CSR", 2, both), "map = (i, j, k) -> (i : dense, j : dense, k : compressed)");
  EXPECT_EQ(expandedText("(i, j) -> (i : batch, j : compressed)", 2, both),
            "map = (i, j, k) -> (i : batch, j : batch, k : compressed)");
  EXPECT_EQ(expandedText("CSC", 2, both), "");
  EXPECT_EQ(expandedText("dense", 1, three), "map = (i, j, k) -> (i : dense, j : dense, k : dense)");
  EXPECT_EQ(expandedText("(i) -> (i floordiv 12 : dense, i mod 12 : compressed)", 1, rows),
            "map = (i, j) -> (i : dense, j : compressed)");
  EXPECT_EQ(expandedText("(i) -> (i floordiv 12 : dense, i mod 12 : compressed)", 1, three), "");
  // A level of any kind is the sum of its digits, if it has all of them.
  auto linearText = [](const char *format, unsigned order, const D &parts) {
    const std::optional<Encoding> result = linearized(parseFormat(format, order), parts);
    return result ? printBody(*result) : "";
  };
  EXPECT_EQ(linearText("(i) -> (i : compressed)", 1, three),
            "map = (i, j, k) -> (i * 15 + j * 3 + k : compressed)");
  EXPECT_EQ(linearText("CSC", 2, both), "map = (i, j, k) -> (k : dense, i * 6 + j : compressed)");
  const char *byTwelve = "(i) -> (i floordiv 12 : dense, i mod 12 : compressed)";
  EXPECT_EQ(linearText(byTwelve, 1, three),
            "map = (i, j, k) -> ((i * 15 + j * 3 + k) floordiv 12 : dense, (i * 15 + j * 3 + k) mod 12 : "
            "compressed)");
  const std::optional<std::vector<Expr>> back = inverseMap(*linearized(parseFormat(byTwelve, 1), three));
  ASSERT_TRUE(back);
  Bindings bindings;
  for (int64_t x = 0; x < 60; ++x)
    for (unsigned d = 0; d < 3; ++d)
      EXPECT_EQ(evaluate((*back)[d], {}, {x / 12, x % 12}, bindings),
                (std::vector<int64_t>{x / 15, x / 3 % 5, x % 3})[d]);
  // A vector that is stored as a whole is no matrix of digits.
  EXPECT_FALSE(unreshaped(parseFormat("(i) -> (i : compressed)", 1), rows));
}

} // namespace
