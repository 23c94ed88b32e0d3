// Loops around statements of a random program, and statements that give the results of a round to the next.
#include "Case.h"
#include "Random.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <regex>
#include <set>

namespace tulle::differential {
namespace {

/// Whether the checker takes the program, and no statement would fill a sparse result.
bool isProgram(const Case &c) {
  try {
    const notation::Program program = checked(c, pack(c));
    return std::ranges::none_of(program.statements, [&](const notation::Statement &s) {
      return !isDense(program.tensors[s.lhs.tensor]) &&
             resultPattern(program, s).kind == notation::PatternKind::Dense;
    });
  } catch (const Error &) {
    return false;
  }
}

/// Narrow floats round what one round passes to the next, which would need tolerances of its own.
bool hasOneWideType(const Case &c) {
  return std::ranges::all_of(c.inputs, [&](const auto &input) {
    const ElementType type = input.second.type;
    return type == c.inputs.begin()->second.type && type != ElementType::F16 && type != ElementType::BF16;
  });
}

/// An input that a statement may write: it has storage, a structure and values of its own, and holds any
/// entries, not two of every four alone.
bool isWritable(const Case &c, const std::string &name, const Given &given) {
  return given.slices.empty() && given.format != "NV24" && !c.likes.count(name) &&
         std::ranges::none_of(c.likes, [&](const auto &like) { return like.second == name; }) &&
         !format::parseFormat(given.format, unsigned(given.dims.size())).explicitVal;
}

/// Accesses like `A(i,j)`, whose subscripts are different indices.
void plainAccesses(const Tree &tree, std::set<std::string> &found) {
  static const std::regex plain(R"([A-X]\((\w(,\w)*)?\))");
  std::string indices;
  for (char c : tree.head)
    if (std::islower(static_cast<unsigned char>(c)))
      indices += c;
  std::ranges::sort(indices);
  if (tree.kind == Tree::Kind::Leaf && std::regex_match(tree.head, plain) &&
      std::ranges::adjacent_find(indices) == indices.end())
    found.insert(tree.head);
  for (const Tree &arg : tree.args)
    plainAccesses(arg, found);
}

/// Whether small differences stay small: rounds amplify what functions and quotients make of them.
bool isTame(const Tree &tree) {
  static const std::set<std::string> wild = {"/",   "%",   "**",   "sqrt", "exp", "log",
                                             "sin", "cos", "tanh", "pow",  "mod", "<",
                                             ">",   "<=",  ">=",   "==",   "!=",  "select"};
  return !wild.contains(tree.head) && std::ranges::all_of(tree.args, isTame);
}

/// The next round reads what the last statement has made in the place of an input, or what is made from both.
std::optional<StatementText> feedback(const Case &c, Random &random) {
  const std::string &made = c.statements.back().lhs;
  const ElementType type = c.inputs.empty() ? ElementType::F64 : c.inputs.begin()->second.type;
  auto tame = [](const StatementText &s) { return isTame(s.rhs); };
  if ((isFloat(type) || isComplex(type)) && !std::ranges::all_of(c.statements, tame))
    return std::nullopt;
  std::set<std::string> accesses;
  for (const StatementText &s : c.statements)
    plainAccesses(s.rhs, accesses);
  for (const std::string &access : accesses) {
    const std::string name = access.substr(0, access.find('('));
    if (!isWritable(c, name, c.inputs.at(name)) || random.chance(0.2))
      continue;
    StatementText next{access, random.chance(0.3) ? "+=" : "=", {Tree::Kind::Leaf, made, {}}, ""};
    if (random.chance(0.5)) // its own old value
      next.rhs = {Tree::Kind::Infix,
                  random.pick<std::string>({"+", "*"}),
                  {{Tree::Kind::Leaf, access, {}}, next.rhs}};
    return next;
  }
  return std::nullopt;
}

LoopText randomLoop(const Case &c, unsigned begin, unsigned end, Random &random) {
  LoopText loop{begin, end, unsigned(random.pick({1, 2, 2, 3})), ""};
  for (unsigned s = begin; s < end; ++s)
    if (const std::string &lhs = c.statements[s].lhs; lhs.ends_with("()") && random.chance(0.5))
      loop.until = lhs + " > 1";
  return loop;
}

} // namespace

void addLoops(Case &c) {
  Random random(c.seed * 16 + 0x100b);
  if (!random.chance(0.35) || !hasOneWideType(c))
    return;
  Case next = c;
  if (std::optional<StatementText> last = feedback(next, random)) {
    next.statements.push_back(*last);
    if (!isProgram(next))
      next.statements.pop_back();
  }
  const auto count = unsigned(next.statements.size());
  const auto begin = unsigned(random.chance(0.7) ? 0 : random.below(count));
  next.loops.push_back(randomLoop(next, begin, count, random));
  if (random.chance(0.3))
    next.loops.push_back(randomLoop(next, begin, begin + 1 + unsigned(random.below(count - begin)), random));
  if (isProgram(next))
    c = next;
}

} // namespace tulle::differential
