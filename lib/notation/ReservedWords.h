// The reserved words of the notation.
#pragma once
#include "notation/Program.h"
#include "support/Suggest.h"

namespace tulle::notation {

struct Function {
  std::string_view name;
  Op op;
  unsigned minArgs, maxArgs;
};
/// Null for a name that is no function.
const Function *findFunction(std::string_view name);

/// Functions, types, `where`, literals: what no tensor and no index may be called.
bool isReserved(std::string_view name);

std::vector<std::string> functionNames();

} // namespace tulle::notation
