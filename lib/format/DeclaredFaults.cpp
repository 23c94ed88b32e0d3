// Errors about tensors that a declaration of a level format does not store as it reads them.
#include "format/LevelDeclaration.h"
#include <fmt/format.h>

namespace tulle::format {

static std::string faultText(DeclaredFault fault, int64_t parent, int64_t value) {
  switch (fault) {
  case DeclaredFault::Size:
    return fmt::format("its declaration gives K the value {}; correct 'size'", value);
  case DeclaredFault::Length:
    return fmt::format("its declaration gives parent {} a size of {}; correct 'edges'", parent, value);
  case DeclaredFault::Slots:
    return fmt::format("its declaration gives each parent a size of {}; correct 'positions'", value);
  case DeclaredFault::Outside:
    return fmt::format(
        "its declaration has no position for coordinate {} below parent {}: there are fewer than "
        "'insert' needs; correct 'edges', 'positions' or 'insert'",
        value, parent);
  case DeclaredFault::Differs:
    return fmt::format("its declaration reads another coordinate where it stores {} below parent {}; correct "
                       "'insert' or 'coordinate'",
                       value, parent);
  case DeclaredFault::Unfilled:
    return fmt::format("its declaration gives parent {}, which has {} entries, another number of positions; "
                       "correct 'edges', or add 'properties padded'",
                       parent, value);
  case DeclaredFault::Unordered:
    break;
  }
  return fmt::format(
      "the coordinates of its declaration do not ascend below parent {}, or leave the level at {}; "
      "correct 'coordinate', 'edges' or 'positions'",
      parent, value);
}

void failDeclared(const LevelDeclaration &declaration, DeclaredFault fault, const std::string &where,
                  int64_t parent, int64_t value) {
  const DeclarationSource &source = declaration.source;
  // The parts that the text above names: the one that is likely wrong, and what it contradicts.
  const char *part = "coordinate", *other = nullptr;
  const char *positions = declaration.length ? "edges" : declaration.size ? "size" : "positions";
  switch (fault) {
  case DeclaredFault::Size:
    part = "size";
    break;
  case DeclaredFault::Length:
  case DeclaredFault::Unfilled:
    part = "edges";
    break;
  case DeclaredFault::Slots:
    part = "positions";
    break;
  case DeclaredFault::Outside:
    part = positions;
    other = "insert";
    break;
  case DeclaredFault::Differs:
    other = "insert";
    break;
  case DeclaredFault::Unordered:
    other = positions;
    break;
  }
  std::vector<support::Note> notes;
  if (other)
    notes.push_back({source.parts.at(other), "this is what it does not agree with"});
  throw support::SyntaxError(source.name, source.text, source.parts.at(part),
                             where + ": " + faultText(fault, parent, value), notes);
}

} // namespace tulle::format
