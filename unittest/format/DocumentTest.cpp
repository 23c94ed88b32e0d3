// docs/reference/encoding.md says what the parser does.
#include "format/Encoding.h"
#include "support/Diagnostic.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace tulle;
using namespace tulle::format;

namespace {

std::string document() {
  std::ifstream file(std::filesystem::path(TULLE_DOCS) / "reference/encoding.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The lines of all blocks marked with `language`.
std::vector<std::string> examples(const std::string &language) {
  std::istringstream text(document());
  std::vector<std::string> out;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```"))
      inside = line == "```" + language;
    else if (inside)
      out.push_back(line);
  }
  return out;
}

TEST(Document, examplesAreReadAndPrintedAndReadAgain) {
  std::vector<std::string> lines = examples("encoding");
  ASSERT_GT(lines.size(), 25u);
  for (const std::string &line : lines) {
    SCOPED_TRACE(line);
    Encoding encoding = parseEncoding(line);
    EXPECT_EQ(parseEncoding(print(encoding)), encoding);
  }
}

TEST(Document, whatIsSaidToBeRefusedIs) {
  std::vector<std::string> lines = examples("refused");
  ASSERT_GT(lines.size(), 8u);
  for (const std::string &line : lines)
    EXPECT_THROW(parseEncoding(line), support::SyntaxError) << line;
}

TEST(Document, theTableOfPresetsIsTheirs) {
  std::string text = document();
  for (const Preset &preset : presets()) {
    EXPECT_NE(text.find("| `" + preset.name + "` |"), std::string::npos) << preset.name;
    // The text of this one is too long for a table.
    if (preset.name != "HiCOO(bits)") {
      EXPECT_NE(text.find("| `" + preset.pattern + "` | " + preset.what), std::string::npos) << preset.name;
    }
  }
}

} // namespace
