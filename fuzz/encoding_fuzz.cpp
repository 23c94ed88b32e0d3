// Any text is an encoding or a SyntaxError; an encoding prints to a text that gives it back, and answers
// every question.
#include "format/Layout.h"
#include "support/Diagnostic.h"
#include <cstdio>
#include <cstdlib>

using namespace tulle;
using namespace tulle::format;

static void require(bool holds, const char *what, const std::string &text) {
  if (holds)
    return;
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

static void exercise(const Encoding &encoding) {
  std::string printed = print(encoding);
  try {
    require(parseEncoding(printed) == encoding, "does not round-trip", printed);
  } catch (const support::SyntaxError &error) {
    require(false, error.what(), printed);
  }
  bool executable = whyNotExecutable(encoding).empty();
  auto found = digits(encoding);
  require(!executable || inverseMap(encoding).has_value(), "executable without an inverse", printed);
  require(!found || inverseMap(encoding).has_value(), "digits without an inverse", printed);
  if (found)
    for (const Digit &digit : *found)
      require(levelSize(digit, std::vector<int64_t>(encoding.order(), 1000)) > 0, "empty level", printed);
  for (unsigned l = 0; executable && l < encoding.levels.size(); ++l)
    require(levelRange(encoding, l, std::vector<int64_t>(encoding.order(), 1000)).has_value(), "no bounds",
            printed);
  layout(resolveWidths(encoding, 1000, 1000));
  displayName(encoding);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  try {
    exercise(parseEncoding(text));
  } catch (const support::SyntaxError &error) {
    require(error.range.begin <= size, "error beyond the text", std::string(text));
  }
  for (unsigned order : {0u, 2u, 3u})
    try {
      exercise(parseFormat(text, order));
    } catch (const support::SyntaxError &error) {
      require(error.range.begin <= size, "error beyond the text", std::string(text));
    }
  return 0;
}
