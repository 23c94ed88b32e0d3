// Linear searches in the table of operations: programs are short.
#include "notation/Operations.h"
#include <algorithm>

namespace tulle::notation {

const Operation &operation(Op op) { return *std::ranges::find(operations, op, &Operation::op); }

const Operation *findFunction(std::string_view name) {
  const Operation *found = std::ranges::find(operations, name, &Operation::function);
  return name.empty() || found == std::end(operations) ? nullptr : found;
}

std::vector<std::string> functionNames() {
  std::vector<std::string> names;
  for (const Operation &operation : operations)
    if (!operation.function.empty())
      names.emplace_back(operation.function);
  return names;
}

bool isReserved(std::string_view name) {
  constexpr std::string_view words[] = {"where", "inf", "nan", "true", "false"};
  return findFunction(name) || parseElementType(name) || std::ranges::find(words, name) != std::end(words);
}

} // namespace tulle::notation
