// precompute: a part of a statement's right side becomes a statement of its own, whose result it reads
// instead: the inverse of compute_inline. Sums over what only that part depends on go with it.
#include "notation/Sparsity.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tulle::notation {
namespace {

std::string withoutSpaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' '; });
  return text;
}

/// The indices of an expression, in the order of the text.
std::vector<unsigned> indicesOf(const Expr &expr) {
  std::vector<unsigned> found;
  forEachSubscript(expr, [&](const Affine &subscript) {
    for (auto [index, coefficient] : subscript.terms)
      if (std::ranges::count(found, index) == 0)
        found.push_back(index);
  });
  return found;
}

/// Finds the parts of an expression that read as the text does, and replaces them.
class Occurrences {
public:
  Occurrences(const Program &program, const std::string &text)
      : program(program), wanted(withoutSpaces(text)), inBrackets("(" + wanted + ")") {}

  Expr found;
  unsigned count = 0;
  bool isFactor = true; ///< of the whole, so that sums over it may be moved inside

  void find(const Expr &expr, bool factor = true) {
    if (matches(expr)) {
      found = expr;
      ++count;
      isFactor &= factor;
      return;
    }
    for (size_t k = 0; k < expr->args.size(); ++k)
      find(expr->args[k],
           factor && (expr->op == Op::Mul || expr->op == Op::Neg || (expr->op == Op::Div && k == 0)));
  }

  Expr replaced(const Expr &expr, const Expr &by) const {
    if (matches(expr))
      return by;
    ExprNode node = *expr;
    for (Expr &arg : node.args)
      arg = replaced(arg, by);
    return std::make_shared<const ExprNode>(std::move(node));
  }

  /// What there is to choose from.
  std::vector<std::string> candidates(const Expr &expr) const {
    std::vector<std::string> all;
    if (!expr->args.empty())
      all.push_back(print(program, expr));
    for (const Expr &arg : expr->args)
      std::ranges::move(candidates(arg), std::back_inserter(all));
    return all;
  }

private:
  const Program &program;
  std::string wanted, inBrackets;

  bool matches(const Expr &expr) const {
    const std::string own = withoutSpaces(print(program, expr));
    return own == wanted || own == inBrackets || "(" + own + ")" == wanted;
  }
};

/// The statement that computes the part, of indices of its own.
class Workspace {
public:
  Workspace(Program &program, const Statement &reader, const Expr &part, const std::vector<unsigned> &indices,
            const std::vector<unsigned> &sums)
      : program(program) {
    made.rhs = part;
    made.range = reader.range;
    made.reduce = reader.reduce;
    for (unsigned index : indices)
      subscripts.push_back(variable(index));
    made.lhs.subscripts = renamed(subscripts);
    for (unsigned index : sums)
      made.reductionIndices.push_back(renamed(index));
    made.assign = sums.empty();
    made.rhs = renamed(part);
  }

  Statement made;
  std::vector<Affine> subscripts; ///< of the reader's access

private:
  Program &program;
  std::map<unsigned, unsigned> own;

  static Affine variable(unsigned index) {
    Affine subscript;
    subscript.terms = {{index, 1}};
    return subscript;
  }
  unsigned renamed(unsigned index) {
    auto [known, isNew] = own.try_emplace(index, unsigned(program.indices.size()));
    if (isNew)
      program.indices.push_back(IndexVar(program.indices[index]));
    return known->second;
  }
  std::vector<Affine> renamed(std::vector<Affine> all) {
    for (Affine &subscript : all)
      for (auto &[index, coefficient] : subscript.terms)
        index = renamed(index);
    return all;
  }
  Expr renamed(const Expr &expr) {
    ExprNode node = *expr;
    node.access.subscripts = renamed(node.access.subscripts);
    for (Expr &arg : node.args)
      arg = renamed(arg);
    return std::make_shared<const ExprNode>(std::move(node));
  }
};

/// Makes `loop` the first index, whose coordinates have a row each, and the tensor's format one of rows that
/// are stored. Why that cannot be; empty otherwise.
std::string storeRows(const Program &program, const std::vector<std::string> &loops, WorkspaceKind kind,
                      std::vector<unsigned> &indices, TensorDecl &decl) {
  const std::string &loop = loops.back();
  auto isRow = [&](unsigned index) { return program.indices[index].name == loop; };
  const auto row = std::ranges::find_if(indices, isRow);
  if (row == indices.end() || loops.size() > 1)
    return fmt::format("a {} workspace is for one iteration, and no block of them: leave {} out",
                       nameOf(kind), loops.size() > 1 ? loops.front() : fmt::format("': {}'", nameOf(kind)));
  std::rotate(indices.begin(), row, row + 1);
  if (indices.size() != 2)
    return fmt::format("a {} workspace has one index besides {}, and this part has {}: leave ': {}' out",
                       nameOf(kind), loop, indices.size() - 1, nameOf(kind));
  decl.encoding = format::parseFormat("CSR", 2);
  return "";
}

/// Why the part stores nothing of its own, or everything; empty otherwise.
std::string whyNotSparse(const Program &program, const Statement &made, WorkspaceKind kind) {
  const ResultPattern pattern = resultPattern(program, made);
  if (pattern.kind == PatternKind::Dense)
    return fmt::format("{}; leave ': {}' out", pattern.reason.substr(0, pattern.reason.rfind("; ")),
                       nameOf(kind));
  return pattern.kind == PatternKind::Operand
             ? fmt::format("it stores what {} does, and nothing is accumulated: leave ': {}' out",
                           program.tensors[pattern.operand->tensor].name, nameOf(kind))
             : "";
}

/// A result that is stored where an operand is stays there, whatever the workspace stores: by a mask.
void keepPattern(const Program &before, const Statement &old, Statement &now) {
  const ResultPattern was = resultPattern(before, old);
  if (isDense(before.tensors[old.lhs.tensor]) || was.kind != PatternKind::Operand || old.where)
    return;
  ExprNode mask;
  mask.op = Op::Access;
  mask.type = before.tensors[was.operand->tensor].type;
  mask.access = *was.operand;
  now.where = std::make_shared<const ExprNode>(std::move(mask));
}

/// Whether the sparse result would be stored elsewhere; why.
std::string whyNotStored(const Program &before, const Statement &old, const Program &after,
                         const Statement &now) {
  if (isDense(before.tensors[old.lhs.tensor]))
    return "";
  const ResultPattern was = resultPattern(before, old), is = resultPattern(after, now);
  if (is.kind == PatternKind::Dense)
    return is.reason;
  const bool same = was.kind == is.kind && bool(was.operand) == bool(is.operand) &&
                    (!was.operand || was.operand->tensor == is.operand->tensor);
  return same ? "" : fmt::format("'{}' would store other coordinates", before.tensors[old.lhs.tensor].name);
}

} // namespace

std::string precomputeExpression(Program &program, size_t number, const std::string &text,
                                 const std::vector<std::string> &loops, const std::string &name,
                                 WorkspaceKind kind) {
  const Statement &reader = program.statements[number];
  if (!reader.indirections.empty())
    return fmt::format("{} reads at coordinates that a tensor gives", nameOf(program, number));
  if (reader.concat.isWhole())
    return fmt::format("{} is a concatenation, which computes nothing", nameOf(program, number));
  Occurrences part(program, text);
  part.find(reader.rhs);
  if (part.count == 0) {
    std::string known;
    for (const std::string &candidate : part.candidates(reader.rhs))
      known += (known.empty() ? "" : "; ") + candidate;
    return fmt::format("{} has no such part{}", nameOf(program, number),
                       known.empty() ? ": it computes nothing" : ": its parts are " + known);
  }
  // What the rest of the statement depends on, and which sums are over the part alone.
  ExprNode nothing;
  std::set<unsigned> others;
  auto note = [&](const Expr &expr) {
    for (unsigned index : expr ? indicesOf(expr) : std::vector<unsigned>())
      others.insert(index);
  };
  note(part.replaced(reader.rhs, std::make_shared<const ExprNode>(nothing)));
  note(reader.where);
  std::vector<unsigned> indices, sums;
  for (unsigned index : indicesOf(part.found))
    (std::ranges::count(reader.reductionIndices, index) > 0 && !others.contains(index) ? sums : indices)
        .push_back(index);
  const std::string &loop = loops.back();
  if (std::ranges::none_of(indices, [&](unsigned i) {
        return program.indices[i].name == loop || program.indices[i].name + "_block" == loop;
      }))
    return fmt::format("it is the same in all iterations of the loop over {}, or is summed over {}", loop,
                       loop);
  const bool isSum = !sums.empty();
  if (isSum && (reader.reduce != Reduce::Add || !part.isFactor || part.count > 1))
    return fmt::format(
        "it is summed over {}, and the statement does more with it than to multiply what is summed",
        program.indices[sums.front()].name);

  Program next = program;
  TensorDecl decl;
  decl.name = name;
  decl.type = part.found->type;
  decl.encoding = format::denseEncoding(unsigned(indices.size()));
  if (std::string why =
          kind == WorkspaceKind::Dense ? std::string() : storeRows(program, loops, kind, indices, decl);
      !why.empty())
    return why;
  for (unsigned index : indices)
    decl.dims.push_back(program.indices[index].size);
  decl.written = true;
  const auto tensor = unsigned(next.tensors.size());
  next.tensors.push_back(std::move(decl));

  Workspace workspace(next, reader, part.found, indices, sums);
  workspace.made.lhs.tensor = tensor;
  workspace.made.loops.place = {loops, {}};
  if (std::string why =
          kind == WorkspaceKind::Dense ? std::string() : whyNotSparse(next, workspace.made, kind);
      !why.empty())
    return why;
  ExprNode access;
  access.op = Op::Access;
  access.type = part.found->type;
  access.access.tensor = tensor;
  access.access.subscripts = workspace.subscripts;
  Statement now = reader;
  now.rhs = part.replaced(reader.rhs, std::make_shared<const ExprNode>(std::move(access)));
  std::erase_if(now.reductionIndices, [&](unsigned index) { return std::ranges::count(sums, index) > 0; });
  now.assign = now.assign || (isSum && !now.accumulate && now.reductionIndices.empty());
  if (kind != WorkspaceKind::Dense)
    keepPattern(program, reader, now);
  if (std::string why = whyNotStored(program, reader, next, now); !why.empty())
    return why;
  next.statements[number] = std::move(now);
  next.statements.insert(next.statements.begin() + ptrdiff_t(number), std::move(workspace.made));
  for (Loop &around : next.loops) {
    around.begin += around.begin > number;
    around.end += around.end > number;
  }
  program = std::move(next);
  return "";
}

} // namespace tulle::notation
