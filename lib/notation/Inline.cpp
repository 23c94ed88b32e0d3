// compute_inline: an access of a statement's result becomes the statement's right side, at the access's
// subscripts. What the statement masks out becomes a mask of the reader, where the reader is neutral there.
#include "notation/Loops.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tulle::notation {
namespace {

/// As deep as the parser's trees may be, so that recursion over them stays safe; and a size at which code is
/// no longer compiled in a moment: statements that read the one before them twice double it.
constexpr unsigned mostDepth = 500;
constexpr size_t mostNodes = 2000;
/// As large as the parser's coefficients may be.
constexpr int64_t mostFactor = int64_t(1) << 40;

bool reads(const Expr &expr, unsigned tensor) {
  bool found = false;
  forEachAccess(expr, [&](const Access &access) { found |= access.tensor == tensor; });
  return found;
}

/// Puts a statement's right side in the place of an access, or its mask in that of none.
class Substitution {
public:
  Substitution(const Statement &producer, const Access &access) {
    for (size_t d = 0; d < access.subscripts.size(); ++d)
      subscripts[producer.lhs.subscripts[d].terms[0].first] = access.subscripts[d];
  }

  Expr apply(const Expr &expr) const {
    ExprNode node = *expr;
    for (Affine &subscript : node.access.subscripts)
      subscript = apply(subscript);
    for (Expr &arg : node.args)
      arg = apply(arg);
    return std::make_shared<const ExprNode>(std::move(node));
  }

private:
  std::map<unsigned, Affine> subscripts;

  /// Of a digit, the index is another; sums are of sums (whyNotAt has seen to that).
  Affine apply(const Affine &own) const {
    if (own.isVariable())
      return subscripts.at(own.terms[0].first);
    Affine result = own;
    result.terms.clear();
    std::map<unsigned, int64_t> sums;
    for (auto [index, coefficient] : own.terms) {
      const Affine &at = subscripts.at(index);
      result.constant += coefficient * at.constant;
      if (result.limit && !at.isVariable())
        result.limit.reset(); // the size of the index has it
      for (auto [other, factor] : at.terms)
        sums[other] += coefficient * factor;
    }
    for (const auto &term : sums)
      if (term.second != 0)
        result.terms.push_back(term);
    result.isSum |= result.startsAtZero();
    return result;
  }
};

/// Whether a subscript can be computed where another stands for one of its indices, with this factor.
bool composes(const Affine &own, int64_t factor, const Affine &at) {
  auto isSmall = [&](int64_t number) {
    const __int128 product = __int128(number) * factor;
    return product <= mostFactor && product >= -mostFactor;
  };
  if (own.isVariable() || at.isVariable())
    return true;
  return !own.isDigit() && !at.isDigit() && isSmall(at.constant) &&
         std::ranges::all_of(at.terms, [&](const auto &term) { return isSmall(term.second); });
}

class Inliner {
public:
  Inliner(const Program &program, const Statement &producer)
      : program(program), producer(producer), tensor(producer.lhs.tensor) {}

  /// The reader with the producer's right side in it. `why` says what stands against it, and is empty
  /// otherwise.
  Statement inlined(Statement reader, std::string &why) {
    if (reads(reader.where, tensor))
      why = "its pattern is a mask";
    for (const Indirection &given : reader.indirections)
      if (given.source.tensor == tensor)
        why = "it gives indices";
    if (reader.concat.isWhole())
      why = "a concatenation reads it";
    if (producer.where && why.empty())
      mask(reader, why);
    if (why.empty())
      reader.rhs = replaced(reader.rhs, why);
    if (why.empty() && (nodes > mostNodes || depthOf(reader.rhs) > mostDepth))
      why = "the expression would be too large";
    if (why.empty() && !isDense(program.tensors[reader.lhs.tensor]))
      if (ResultPattern pattern = resultPattern(program, reader); pattern.kind == PatternKind::Dense)
        why = pattern.reason;
    return reader;
  }

private:
  const Program &program;
  const Statement &producer;
  unsigned tensor;
  size_t nodes = 0;

  /// Where the producer is masked out the reader must be neutral: then the mask is its own, too.
  void mask(Statement &reader, std::string &why) const {
    std::vector<const Access *> uses;
    forEachAccess(reader.rhs, [&](const Access &access) {
      if (access.tensor == tensor)
        uses.push_back(&access);
    });
    for (const Access *use : uses) {
      if (!isNeutral(program, reader, [&](const Access &a) { return sameAccess(a, *use); })) {
        why = "it has a mask, and what reads it has a value outside of that as well";
        return;
      }
      Expr own = Substitution(producer, *use).apply(producer.where);
      reader.where =
          !reader.where
              ? own
              : std::make_shared<const ExprNode>(ExprNode{.op = Op::And, .args = {reader.where, own}});
    }
  }

  Expr replaced(const Expr &expr, std::string &why) {
    ++nodes;
    if (expr->op == Op::Access && expr->access.tensor == tensor)
      return valueAt(expr, why);
    ExprNode node = *expr;
    for (Expr &arg : node.args)
      arg = replaced(arg, why);
    return std::make_shared<const ExprNode>(std::move(node));
  }

  /// Rounded to the type that the tensor would have stored.
  Expr valueAt(const Expr &use, std::string &why) {
    if (why = whyNotAt(use->access); !why.empty())
      return use;
    Expr value = Substitution(producer, use->access).apply(producer.rhs);
    nodes += sizeOf(value);
    const ElementType type = program.tensors[tensor].type;
    if (value->type != type)
      value = std::make_shared<const ExprNode>(
          ExprNode{.op = Op::Convert, .type = type, .args = {value}, .range = use->range});
    return value;
  }

  /// A computed subscript is put where its index has a use, which is where its size comes from.
  std::string whyNotAt(const Access &access) const {
    std::map<unsigned, const Affine *> at;
    for (size_t d = 0; d < access.subscripts.size(); ++d)
      at[producer.lhs.subscripts[d].terms[0].first] = &access.subscripts[d];
    std::set<unsigned> used;
    bool composed = true;
    forEachSubscript(producer.rhs, [&](const Affine &subscript) {
      for (auto [index, coefficient] : subscript.terms) {
        composed &= composes(subscript, coefficient, *at.at(index));
        used.insert(index);
      }
    });
    for (auto [index, subscript] : at)
      composed &= subscript->isVariable() || used.contains(index);
    return composed ? "" : "it is read at computed coordinates";
  }

  static size_t sizeOf(const Expr &expr) {
    size_t size = 1;
    for (const Expr &arg : expr->args)
      size += sizeOf(arg);
    return size;
  }
  static unsigned depthOf(const Expr &expr) {
    unsigned depth = 0;
    for (const Expr &arg : expr->args)
      depth = std::max(depth, depthOf(arg));
    return depth + 1;
  }
};

bool inSameLoops(const Program &program, unsigned first, unsigned second) {
  return std::ranges::all_of(program.loops, [&](const Loop &loop) {
    auto holds = [&](unsigned statement) { return loop.begin <= statement && statement < loop.end; };
    return holds(first) == holds(second);
  });
}

/// What stands against it whoever the reader is.
std::string whyNot(const Program &program, size_t number) {
  const Statement &s = program.statements[number];
  const unsigned tensor = s.lhs.tensor;
  if (!s.reductionIndices.empty())
    return "it is a reduction, which would be computed again for each read";
  if (!s.concat.isNone())
    return "it is a concatenation";
  if (!s.assign || s.accumulate)
    return "it is no assignment";
  if (!s.indirections.empty())
    return "it reads at coordinates that a tensor gives";
  if (!s.loops.isEmpty() || s.plan != AssemblyPlan::Auto)
    return "a primitive before this one is put on its loops";
  if (reads(s.rhs, tensor) || reads(s.where, tensor))
    return "it reads its own old value";
  if (carriedTensors(program)[tensor])
    return "the next round of a loop reads it";
  for (const TensorDecl &other : program.tensors)
    if (other.like == tensor)
      return fmt::format("'{}' has its structure", other.name);
  size_t last = number;
  for (size_t k = number + 1; k < program.statements.size(); ++k) {
    const Statement &later = program.statements[k];
    const bool isReader =
        std::ranges::any_of(accesses(later), [&](const Access *a) { return a->tensor == tensor; });
    if (later.lhs.tensor == tensor)
      return fmt::format("{} changes it", nameOf(program, k));
    if (isReader && !inSameLoops(program, unsigned(number), unsigned(k)))
      return fmt::format("{} is in another loop", nameOf(program, k));
    last = isReader ? k : last;
  }
  for (size_t k = number + 1; k < last; ++k)
    if (reads(s.rhs, program.statements[k].lhs.tensor) || reads(s.where, program.statements[k].lhs.tensor))
      return fmt::format("{} changes what it is computed from", nameOf(program, k));
  return "";
}

} // namespace

std::string inlineStatement(Program &program, size_t number) {
  std::string why = whyNot(program, number);
  if (!why.empty())
    return why;
  const unsigned tensor = program.statements[number].lhs.tensor;
  std::vector<Statement> statements = program.statements;
  for (size_t k = number + 1; k < statements.size(); ++k)
    if (std::ranges::any_of(accesses(statements[k]), [&](const Access *a) { return a->tensor == tensor; })) {
      statements[k] = Inliner(program, program.statements[number]).inlined(statements[k], why);
      if (!why.empty())
        return why;
    }
  if (!program.tensors[tensor].result) {
    statements.erase(statements.begin() + ptrdiff_t(number));
    for (Loop &loop : program.loops) {
      loop.begin -= loop.begin > number;
      loop.end -= loop.end > number;
    }
    program.tensors[tensor].written = false;
  }
  program.statements = std::move(statements);
  return "";
}

} // namespace tulle::notation
