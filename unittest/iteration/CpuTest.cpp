#include "iteration/Cpu.h"
#include "support/Diagnostic.h"
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

namespace tulle::iteration {
namespace {

std::function<bool(std::string_view)> having(const std::set<std::string_view> &features) {
  return [features](std::string_view name) { return features.contains(name); };
}

/// The pages of docs/experiments by their number.
std::map<std::string, std::string> pages() {
  std::map<std::string, std::string> found;
  const auto folder = std::filesystem::path(TULLE_DOCS) / "experiments";
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    found[entry.path().filename().string().substr(0, 3)] += text.str();
  }
  return found;
}

TEST(Cpu, EveryFigureCitesItsExperimentOrSaysWhyThereIsNone) {
  const std::map<std::string, std::string> experiments = pages();
  for (const CpuRow &row : cpuRows())
    for (const CpuFigure &figure : row.figures) {
      const std::string what = std::string(row.name) + " " + std::string(figure.name);
      if (figure.source == "data sheet" || figure.source.starts_with("not measured: "))
        continue;
      auto page = experiments.find(std::string(figure.source));
      ASSERT_NE(page, experiments.end()) << what << " cites " << figure.source;
      const std::string kept = "`" + std::string(figure.name) + " = ";
      EXPECT_NE(page->second.find(kept), std::string::npos)
          << what << ": page " << figure.source << " does not say " << kept << "…`";
    }
}

TEST(Cpu, RowsAreWithinBoundsAndLikeEarlierOnes) {
  std::set<std::string_view> names;
  for (const CpuRow &row : cpuRows()) {
    EXPECT_EQ(names.empty(), row.like.empty());
    EXPECT_TRUE(row.like.empty() || names.contains(row.like)) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    Cpu cpu = *findCpu(row.name);
    for (const CpuFigure &figure : row.figures)
      EXPECT_EQ(setFigure(cpu, figure.name, figure.value), "") << row.name;
    EXPECT_EQ(cpu, *findCpu(row.name));
  }
  size_t figures = 0;
  forEachFigure(genericCpu(), [&](std::string_view, int64_t, FigureBounds) { ++figures; });
  EXPECT_EQ(cpuRows().front().figures.size(), figures);
}

TEST(Cpu, IsChosenByNameElseByFeatures) {
  const auto zen5 = having({"sse2", "avx2", "avx512f", "avx512vp2intersect"});
  EXPECT_EQ(chooseCpu("znver5", zen5), *findCpu("znver5"));
  EXPECT_EQ(chooseCpu("znver3", having({"sse2", "avx2"})), *findCpu("znver3"));
  EXPECT_EQ(chooseCpu("cascadelake", having({"sse2", "avx2", "avx512f"})).name, "x86-64-v4");
  EXPECT_EQ(chooseCpu("haswell", having({"sse2", "avx2"})).name, "x86-64-v3");
  EXPECT_EQ(chooseCpu("generic", having({"sse2"})).name, "x86-64");
  EXPECT_EQ(chooseCpu("neoverse-n1", having({"neon"})).name, "armv8-a");
  EXPECT_EQ(chooseCpu("generic", having({})), genericCpu());
}

TEST(Cpu, DoesNotPlanForFeaturesThatAVirtualMachineHides) {
  EXPECT_EQ(chooseCpu("znver5", having({"sse2", "avx2"})).name, "x86-64-v3");
  const Cpu withoutIntersections = chooseCpu("znver5", having({"sse2", "avx2", "avx512f"}));
  EXPECT_EQ(printCpu(withoutIntersections), "znver5, intersects = false");
}

TEST(Cpu, PrintsWhatDiffersFromItsRow) {
  Cpu cpu = *findCpu("znver5");
  EXPECT_EQ(printCpu(cpu), "znver5");
  cpu.l2 = 2097152;
  cpu.masks = true;
  EXPECT_EQ(printCpu(cpu), "znver5, l2 = 2097152, masks = true");
  EXPECT_EQ(parseCpu(printCpu(cpu)), cpu);
  EXPECT_EQ(parseCpu(" x86-64-v3 "), *findCpu("x86-64-v3"));
  EXPECT_EQ(parseCpu("znver5,masks=true , l2=2097152"), cpu);
}

std::string errorOf(std::string_view text) {
  try {
    parseCpu(text);
    return "";
  } catch (const support::SyntaxError &error) {
    return std::string(text.substr(error.range.begin, error.range.end - error.range.begin)) + ": " +
           error.message;
  }
}

TEST(Cpu, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(errorOf("znver6, l2 = 1"), "znver6: no processor is called 'znver6'; did you mean 'znver3'?");
  EXPECT_EQ(
      errorOf("pentium"),
      "pentium: no processor is called 'pentium'; known are generic, x86-64, x86-64-v3, x86-64-v4, armv8-a, "
      "znver3, znver4, znver5, sapphirerapids, emeraldrapids");
  EXPECT_EQ(errorOf("znver5, 12 = 4096"), "12: '12' is no figure of a processor; did you mean 'l2'?");
  EXPECT_EQ(errorOf("znver5, prefetch_row = 4"),
            "prefetch_row: 'prefetch_row' is no figure of a processor; did you mean 'prefetch_rows'?");
  EXPECT_EQ(errorOf("znver5, line = 48"), "48: expected 'line' to be a power of two from 16 to 1024, got 48");
  EXPECT_EQ(errorOf("znver5, l2 = 4k"), "4k: expected a number of 64 bits for 'l2'");
  EXPECT_EQ(errorOf("znver5, l2"), ": expected a number of 64 bits for 'l2'");
  EXPECT_EQ(errorOf("znver5, masks = 1"), "1: expected true or false for 'masks'");
  EXPECT_EQ(errorOf("znver5,"), ": '' is no figure of a processor");
}

} // namespace
} // namespace tulle::iteration
