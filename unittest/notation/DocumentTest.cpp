// The examples of docs/reference/notation.md are accepted.
#include "Support.h"
#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tulle::notation {
namespace {

std::vector<std::string> examples() {
  auto path = std::filesystem::path(TULLE_DOCS) / "reference/notation.md";
  std::ifstream file(path);
  std::vector<std::string> result;
  bool inside = false;
  ptrdiff_t open = 0; ///< braces of a loop that has several lines
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```tulle";
      continue;
    }
    if (!inside)
      continue;
    if (open > 0)
      result.back() += "\n" + line;
    else
      result.push_back(line);
    open += std::ranges::count(line, '{') - std::ranges::count(line, '}');
  }
  return result;
}

TEST(Document, ExamplesAreAccepted) {
  std::vector<std::string> lines = examples();
  ASSERT_GT(lines.size(), 25u);
  for (const std::string &line : lines) {
    SCOPED_TRACE(line);
    std::map<std::string, Binding> bindings;
    const std::vector<TensorUse> uses = tensorsUsed(line);
    const bool hasRows = line.find("(8*i + j)") != std::string::npos; // in a vector
    // Only the sizes of results say how far the indices run.
    if (std::ranges::none_of(uses, &TensorUse::first) || hasRows)
      for (const TensorUse &use : uses)
        bindings[use.name].dims = std::vector<int64_t>(use.order, 8);
    for (const TensorUse &use : uses) {
      // Those that give indices there.
      const bool givesIndices = std::string_view("p q s d").find(use.name) != std::string::npos &&
                                line.find("(" + use.name + "(") != std::string::npos;
      const ElementType type = givesIndices ? ElementType::I32 : ElementType::F64;
      if (use.first || use.name == "Z")
        bindings[use.name] = input(std::vector<int64_t>(use.order, hasRows ? 64 : 8), type);
    }
    EXPECT_NO_THROW(check(line, bindings));
  }
}

} // namespace
} // namespace tulle::notation
