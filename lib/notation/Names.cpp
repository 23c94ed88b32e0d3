#include "notation/Names.h"
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

unsigned editDistance(std::string_view a, std::string_view b) {
  std::vector<unsigned> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    unsigned diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      unsigned next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row[b.size()];
}

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

std::string nearest(std::string_view name, const std::vector<std::string> &candidates) {
  std::string best;
  unsigned bestDistance = 3;
  if (name.size() > 64)
    return best;
  for (const std::string &candidate : candidates) {
    unsigned distance = candidate.size() > 64 ? bestDistance : editDistance(name, candidate);
    // Two edits turn any two-letter word into any other: a guess must share something with the name.
    if (distance < bestDistance && distance < candidate.size() && distance < name.size()) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::vector<std::string> functionNames() {
  std::vector<std::string> names;
  for (const Function &f : functions)
    names.emplace_back(f.name);
  return names;
}

} // namespace tulle::notation
