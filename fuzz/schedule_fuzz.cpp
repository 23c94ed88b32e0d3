// Any text is a schedule of a fixed program or a SyntaxError; a schedule prints to a text that gives it back.
#include "notation/Program.h"
#include <cstdlib>

using namespace tulle;

static notation::Program program() {
  std::map<std::string, notation::Binding> bindings;
  for (const char *name : {"A", "B", "C", "D"})
    bindings[name] = {ElementType::F64, std::vector<int64_t>{4, 4}, format::parseFormat("CSR", 2),
                      name[0] < 'C'};
  return notation::check("C(i,j) = A(i,k) * B(k,j); D(i,j) = A(i,j) + C(i,j)", bindings);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const notation::Program plain = program();
  static const std::vector<std::string> strategies{"auto", "gallop"};
  notation::Program scheduled = plain, again = plain;
  try {
    notation::applySchedule(scheduled, std::string_view(reinterpret_cast<const char *>(data), size),
                            strategies);
  } catch (const support::SyntaxError &error) {
    if (error.range.begin > size)
      std::abort();
    return 0;
  }
  const std::string text = notation::printSchedule(scheduled);
  notation::applySchedule(again, text, strategies);
  if (notation::printSchedule(again) != text)
    std::abort();
  return 0;
}
