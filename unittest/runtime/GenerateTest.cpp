#include "runtime/generate/Generate.h"
#include "Model.h"
#include <algorithm>
#include <gmock/gmock.h>
#include <set>

namespace tulle::runtime::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Map make(const char *spec) { return sum(generate(spec, {}, ElementType::F64).entries); }

TEST(Generate, Names) {
  for (const char *spec : {"random", "random:7", "ones", "iota", "grid2d:3", "grid3d27:3", "uniform:1:2:1",
                           "nm:1:4:2:4", "rmat:3:2"})
    EXPECT_TRUE(isGenerator(spec)) << spec;
  for (const char *spec : {"a.mtx", "", "randomly", "./random", "grid2d.mtx"})
    EXPECT_FALSE(isGenerator(spec)) << spec;
}

TEST(Generate, Grid2dIsTheFivePointLaplacian) {
  EXPECT_EQ(impliedDims("grid2d:2"), (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(make("grid2d:2"), (Map{{{0, 0}, 4},
                                   {{0, 1}, -1},
                                   {{0, 2}, -1},
                                   {{1, 0}, -1},
                                   {{1, 1}, 4},
                                   {{1, 3}, -1},
                                   {{2, 0}, -1},
                                   {{2, 2}, 4},
                                   {{2, 3}, -1},
                                   {{3, 1}, -1},
                                   {{3, 2}, -1},
                                   {{3, 3}, 4}}));
  EXPECT_EQ(make("grid2d:1"), (Map{{{0, 0}, 4}}));
  // A point has 4 neighbours, less one per side it lies on: 5 n^2 - 4 n entries.
  EXPECT_EQ(make("grid2d:9").size(), 5 * 81 - 4 * 9u);
}

TEST(Generate, Grid3dCouplesEveryPointWithItsNeighbours) {
  Map m = make("grid3d27:3");
  EXPECT_EQ(m.size(), 7 * 7 * 7u); // 3 n - 2 pairs along each of the three axes
  int64_t centre = 13;
  for (int64_t j = 0; j < 27; ++j)
    EXPECT_EQ(m.at({centre, j}), j == centre ? 26 : -1);
  EXPECT_EQ(m.count({0, 2}), 0u);
  EXPECT_EQ(m.count({0, 13}), 1u);
}

TEST(Generate, UniformRowsHaveTheSameNumberOfEntries) {
  for (const char *spec : {"uniform:50:40:16", "uniform:30:200:100", "uniform:3:5:5", "uniform:9:1:1"}) {
    Map m = make(spec);
    std::vector<int64_t> dims = *impliedDims(spec);
    std::map<int64_t, int64_t> perRow;
    for (const auto &[c, v] : m) {
      ++perRow[c[0]];
      EXPECT_LT(c[1], dims[1]);
      EXPECT_TRUE(v >= 0 && v < 1);
    }
    EXPECT_EQ(int64_t(perRow.size()), dims[0]);
    for (auto [row, count] : perRow)
      EXPECT_EQ(count, int64_t(m.size()) / dims[0]);
  }
  EXPECT_EQ(make("uniform:7:3:0").size(), 0u);
}

TEST(Generate, GroupsHaveTheSameNumberOfEntries) {
  const std::tuple<const char *, int64_t, int64_t, const char *> specs[] = {
      {"nm:50:40:2:4", 2, 4, "NV24"}, {"nm:30:60:1:20", 1, 20, "NM(1,20)"}, {"nm:3:5:5:5", 5, 5, "NM(5,5)"}};
  for (auto [spec, n, group, format] : specs) {
    FileContents contents = generate(spec, {}, ElementType::F64);
    EXPECT_EQ(contents.suggested, format);
    const std::vector<int64_t> dims = *impliedDims(spec);
    std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> groups;
    for (const auto &[c, v] : sum(contents.entries)) {
      EXPECT_LT(c[1], dims[1]);
      groups[{c[0], c[1] / group}].insert(c[1]);
    }
    EXPECT_EQ(int64_t(groups.size()), dims[0] * dims[1] / group);
    for (const auto &[at, columns] : groups)
      EXPECT_EQ(int64_t(columns.size()), n) << spec;
  }
  EXPECT_EQ(make("nm:7:8:0:4").size(), 0u);
}

TEST(Generate, Rmat) {
  FileContents c = generate("rmat:8:16", {256, 256}, ElementType::F64);
  EXPECT_EQ(c.entries.count(), 256 * 16);
  Map m = sum(c.entries);
  EXPECT_LT(m.size(), 4096u); // a power law repeats edges
  int64_t firstRow = 0;
  for (const auto &[at, v] : m)
    firstRow += at[0] == 0;
  EXPECT_GT(firstRow, 32); // vertex 0 is the hub
}

TEST(Generate, FilledTensors) {
  FileContents iota = generate("iota", {2, 3}, ElementType::I32);
  ASSERT_TRUE(iota.isStored);
  EXPECT_EQ(values(iota.stored), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values(generate("ones", {2}, ElementType::F16).stored), (std::vector<double>{1, 1}));
  EXPECT_EQ(values(generate("ones", {}, ElementType::F64).stored), (std::vector<double>{1}));
  EXPECT_EQ(generate("random", {0, 3}, ElementType::F64).stored.storedCount(), 0);
  FileContents x = generate("random:7", {1000}, ElementType::F64);
  std::vector<double> v = values(x.stored);
  EXPECT_TRUE(std::all_of(v.begin(), v.end(), [](double d) { return d >= 0 && d < 1; }));
  EXPECT_GT(std::set<double>(v.begin(), v.end()).size(), 990u);
  EXPECT_EQ(v, values(generate("random:7", {1000}, ElementType::F64).stored));
  EXPECT_NE(v, values(generate("random:8", {1000}, ElementType::F64).stored));
  for (ElementType type : {ElementType::F32, ElementType::F16, ElementType::BF16})
    for (double d : values(generate("random:3", {5000}, type).stored))
      EXPECT_TRUE(d >= 0 && d < 1);
}

/// Rows and columns along a curve.
std::vector<std::pair<int64_t, int64_t>> cells(const char *spec) {
  const std::vector<double> numbers = values(generate(spec, {}, ElementType::I32).stored);
  std::vector<std::pair<int64_t, int64_t>> found;
  for (size_t at = 0; at + 1 < numbers.size(); at += 2)
    found.emplace_back(int64_t(numbers[at]), int64_t(numbers[at + 1]));
  return found;
}

TEST(Generate, CurvesVisitEveryCellOnce) {
  for (const char *spec : {"hilbert:8:8", "morton:8:8", "hilbert:5:12", "morton:12:5", "hilbert:1:7",
                           "morton:1:1"}) {
    const auto dims = *impliedDims(spec);
    const auto found = cells(spec);
    EXPECT_EQ(std::set(found.begin(), found.end()).size(), size_t(dims[0])) << spec;
    EXPECT_EQ(found.size(), size_t(dims[0])) << spec;
  }
  const auto hilbert = cells("hilbert:16:16");
  for (size_t at = 1; at < hilbert.size(); ++at)
    EXPECT_EQ(std::abs(hilbert[at].first - hilbert[at - 1].first) +
                  std::abs(hilbert[at].second - hilbert[at - 1].second),
              1)
        << at;
  const auto morton = cells("morton:16:16");
  for (int64_t at = 0; at < int64_t(morton.size()); ++at) {
    int64_t bits = 0;
    for (int64_t bit = 0; bit < 4; ++bit)
      bits |= (morton[at].first >> bit & 1) << (2 * bit + 1) | (morton[at].second >> bit & 1) << (2 * bit);
    EXPECT_EQ(bits, at);
  }
}

TEST(Generate, Permutations) {
  const std::vector<double> p = values(generate("permutation:500:3", {}, ElementType::I16).stored);
  EXPECT_EQ(std::set(p.begin(), p.end()).size(), 500u);
  EXPECT_EQ(*std::ranges::max_element(p), 499);
  EXPECT_FALSE(std::ranges::is_sorted(p));
  EXPECT_NE(p, values(generate("permutation:500:4", {}, ElementType::I16).stored));
  EXPECT_EQ(generate("permutation:0", {}, ElementType::I32).stored.storedCount(), 0);
  for (const char *spec : {"permutation:200", "hilbert:200:2", "morton:2:200"}) {
    EXPECT_THROW(generate(spec, {}, ElementType::I8), Error) << spec;
    EXPECT_THROW(generate(spec, {}, ElementType::F64), Error) << spec;
  }
  EXPECT_THROW(generate("hilbert:0:2", {}, ElementType::I32), Error);
  EXPECT_THROW(generate("morton:2000000000:2000000000", {}, ElementType::I32), Error);
}

TEST(Generate, RandomWithDensity) {
  FileContents c = generate("random:1:0.25", {200, 100}, ElementType::F64);
  EXPECT_FALSE(c.isStored);
  EXPECT_NEAR(double(c.entries.count()), 5000, 400);
  EXPECT_EQ(int64_t(sum(c.entries).size()), c.entries.count());
  FileContents large = generate("random:1:1e-7", {1 << 20, 1 << 20}, ElementType::F64);
  EXPECT_EQ(large.entries.count(), 109951); // 2^40 / 10^7, rounded
  EXPECT_EQ(int64_t(sum(large.entries).size()), large.entries.count());
  EXPECT_EQ(generate("random:1:0", {5, 5}, ElementType::F64).entries.count(), 0);
}

/// SplitMix64 from seed 1 by the definition in Generate.cpp, worked out once with Python's integers.
TEST(Generate, TheSameBitsEverywhere) {
  EXPECT_EQ(values(generate("random:1", {1}, ElementType::F64).stored)[0], 0x1.5260025b574bcp-3);
}

TEST(Generate, Errors) {
  auto error = [](const char *spec, std::vector<int64_t> dims = {}) {
    return errorOf([&] { generate(spec, dims, ElementType::F64); });
  };
  EXPECT_THAT(error("grid2d"), HasSubstr("write grid2d:N"));
  EXPECT_THAT(error("grid2d:0"), AllOf(HasSubstr("'grid2d:0'"), HasSubstr("N must be an integer from 1")));
  EXPECT_THAT(error("grid2d:x"), HasSubstr("got 'x'"));
  EXPECT_THAT(error("grid2d:3:4"), HasSubstr("has 2 arguments"));
  EXPECT_THAT(error("ones:3"), HasSubstr("has 1 argument; write ones"));
  EXPECT_THAT(error("grid2d:99999999999999999999"), HasSubstr("got '99999999999999999999'"));
  EXPECT_THAT(error("grid2d:3000000000"), HasSubstr("out of memory"));
  EXPECT_THAT(error("grid3d27:2000000"), HasSubstr("out of memory"));
  EXPECT_THAT(error("uniform:3:4:5"), HasSubstr("nnz-per-row must be an integer from 0 to 4"));
  EXPECT_THAT(error("uniform:-3:4:4"), HasSubstr("rows"));
  EXPECT_THAT(error("uniform:9000000000000000000:4:4"), HasSubstr("out of memory"));
  EXPECT_THAT(error("nm:4:6:2:4"), HasSubstr("cols must be a multiple of m, 4"));
  EXPECT_THAT(error("nm:4:8:5:4"), HasSubstr("n must be an integer from 0 to 4"));
  EXPECT_THAT(error("nm:4:8:1:0"), HasSubstr("m must be an integer from 1 to 256"));
  EXPECT_THAT(error("nm:4000000000000:4000000000000:2:4"), HasSubstr("nm:4000000000000"));
  EXPECT_THAT(error("rmat:41:4"), HasSubstr("scale"));
  EXPECT_THAT(error("random", {3, -1}), HasSubstr("dimension 1 has size -1"));
  EXPECT_THAT(error("grid2d:2", {-1, 4}), HasSubstr("dimension 0 has size -1"));
  EXPECT_THAT(error("random:-1", {3}), HasSubstr("seed"));
  EXPECT_THAT(error("random:1:1.5", {3}), HasSubstr("density"));
  EXPECT_THAT(error("random:1:nan", {3}), HasSubstr("density"));
  EXPECT_THAT(error("ones", {int64_t(1) << 50}), HasSubstr("out of memory"));
  EXPECT_THAT(error("random:1:0.5", {int64_t(1) << 31, int64_t(1) << 31}), HasSubstr("out of memory"));
  EXPECT_THAT(error("grid2d:3", {9, 8}), AllOf(HasSubstr("9 x 9"), HasSubstr("9 x 8")));
  EXPECT_THAT(error("nothing"), HasSubstr("grid3d27:N"));
}

} // namespace
} // namespace tulle::runtime::testing
