#include "notation/ReservedWords.h"
#include <algorithm>
#include <array>

namespace tulle::notation {
namespace {

constexpr unsigned many = 64;
constexpr std::array<Function, 16> functions = {{{"abs", Op::Abs, 1, 1},
                                                 {"sqrt", Op::Sqrt, 1, 1},
                                                 {"exp", Op::Exp, 1, 1},
                                                 {"log", Op::Log, 1, 1},
                                                 {"sin", Op::Sin, 1, 1},
                                                 {"cos", Op::Cos, 1, 1},
                                                 {"tanh", Op::Tanh, 1, 1},
                                                 {"relu", Op::Relu, 1, 1},
                                                 {"conj", Op::Conj, 1, 1},
                                                 {"real", Op::Real, 1, 1},
                                                 {"imag", Op::Imag, 1, 1},
                                                 {"pow", Op::Pow, 2, 2},
                                                 {"min", Op::Min, 2, many},
                                                 {"max", Op::Max, 2, many},
                                                 {"select", Op::Select, 3, 3},
                                                 {"mod", Op::Mod, 2, 2}}};
constexpr std::array<std::string_view, 5> words = {"where", "inf", "nan", "true", "false"};

} // namespace

const Function *findFunction(std::string_view name) {
  auto it =
      std::find_if(functions.begin(), functions.end(), [&](const Function &f) { return f.name == name; });
  return it == functions.end() ? nullptr : &*it;
}

bool isReserved(std::string_view name) {
  return findFunction(name) || parseElementType(name) ||
         std::find(words.begin(), words.end(), name) != words.end();
}

std::vector<std::string> functionNames() {
  std::vector<std::string> names;
  for (const Function &f : functions)
    names.emplace_back(f.name);
  return names;
}

} // namespace tulle::notation
