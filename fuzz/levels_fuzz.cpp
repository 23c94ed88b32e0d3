// Declarations of level formats: any text is one or a SyntaxError that points into it; what is one prints to
// a text that gives it back, and is refused with an Error, or stored, converted and summed right, as its
// meaning says position by position. An input is a text up to a byte 0, or, where it begins with one, choices
// of which a declaration is drawn; what follows draws the tensor. TULLE_LEVELS_TRACE names each before it
// runs.
#include "../unittest/differential/Declared.h"
#include "format/LevelDeclaration.h"
#include "support/Diagnostic.h"
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

using namespace tulle;
using namespace tulle::differential;

/// Debian's LLVM does not mark the arenas it shares with our code, and keeps what it made for the next
/// module.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_leaks=0"; }

static void require(bool holds, const std::string &what, const std::string &text) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n%s\n", what.c_str(), text.c_str());
  std::abort();
}

/// The last declaration of the text as one of a level `l`; empty without one.
static std::string parsed(const std::string &text) {
  try {
    const std::shared_ptr<const format::LevelDeclaration> last = format::parseLevels(text).back();
    const std::string &printed = last->text;
    require(format::parseLevels(printed).back()->text == printed, "does not round-trip", printed);
    return "level l" + printed.substr(std::string_view("level ").size() + last->name.size());
  } catch (const support::SyntaxError &error) {
    require(error.range.begin <= text.size() && error.range.end <= text.size(), "error beyond the text",
            text);
    return "";
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  const auto end = std::ranges::find(bytes, 0);
  const std::string text(bytes.begin(), end);
  Random random(bytes.subspan(std::min(size, text.size() + 1)));
  const std::string declaration = text.empty() ? drawDeclaration(random) : parsed(text);
  if (declaration.empty())
    return 0;
  if (text.empty() && parsed(declaration).empty())
    return -1; // no input worth keeping
  const std::optional<Storing> storing = drawDeclared(random, declaration);
  if (!storing)
    return 0;
  if (std::getenv("TULLE_LEVELS_TRACE"))
    std::fprintf(stderr, "%s\n", storing->describe().c_str());
  bool refused = false;
  const std::string wrong = judgeDeclared(*storing, refused);
  require(wrong.empty(), wrong, storing->describe());
  return 0;
}
