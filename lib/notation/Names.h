// The reserved words of the notation, and guesses at misspelt ones.
#pragma once
#include "notation/Program.h"

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

/// The candidate within two edits of `name` that is closest; empty when there is none.
std::string nearest(std::string_view name, const std::vector<std::string> &candidates);
std::vector<std::string> functionNames();

} // namespace tulle::notation
