// The first access of a tensor, by where it begins in the text.
#include "notation/ErrorPlace.h"
#include "Resolve.h"
#include "notation/Sparsity.h"
#include "support/Diagnostic.h"

namespace tulle::notation {

void throwErrorAt(const Program &program, unsigned tensor, const std::string &message) {
  const std::string &name = program.tensors[tensor].name;
  const Access *first = nullptr;
  auto look = [&](const Access &access) {
    const std::string_view text = program.text;
    if (access.tensor == tensor && access.range.begin < text.size() &&
        text.substr(access.range.begin).starts_with(name) &&
        (!first || access.range.begin < first->range.begin))
      first = &access;
  };
  for (const Statement &statement : program.statements) {
    look(statement.lhs);
    for (const Access *access : accesses(statement))
      look(*access);
  }
  if (!first)
    throw Error(message);
  throw support::SyntaxError(sourceName, program.text, first->range, message);
}

} // namespace tulle::notation
