// What the text says, before names mean anything: the parser's output, private to this folder.
#pragma once
#include "notation/Program.h"
#include <functional>

namespace tulle::notation {

/// The name under which diagnostics of an expression are printed.
inline constexpr std::string_view sourceName = "<expr>";

} // namespace tulle::notation

namespace tulle::notation::syntax {

struct Term {
  std::string index;
  int64_t coefficient = 1;
  SourceRange range;
};

struct Subscript {
  std::vector<Term> terms;
  int64_t constant = 0;
  std::optional<int64_t> limit; ///< `i+1:n`: the subscript stays below n
  SourceRange range;
  bool isVariable() const {
    return terms.size() == 1 && terms[0].coefficient == 1 && constant == 0 && !limit;
  }
};

struct Access {
  std::string tensor;
  std::vector<Subscript> subscripts;
  bool bare = false; ///< no parentheses
  SourceRange nameRange, range;
};

struct Node;
using Expr = std::shared_ptr<const Node>;

struct Node {
  Op op = Op::Literal;                 ///< Convert: a cast `f32(x)` to `type`
  ElementType type = ElementType::F64; ///< Literal: i64, f64, c128 or bool
  Scalar literal;
  Access access;
  std::vector<Expr> args;
  SourceRange range;
  SourceRange opRange; ///< the operator or the function's name
  unsigned depth = 1;
};

struct MaskNode;
using Mask = std::shared_ptr<const MaskNode>;
struct MaskNode {
  MaskOp op;
  Access access;
  Mask lhs, rhs;
  SourceRange range;
  unsigned depth = 1;
};

struct Statement {
  Access lhs;
  std::optional<Reduce> reduce; ///< absent: `=`
  Expr rhs;
  Mask where;
  SourceRange assignRange, range;
};

/// Throws SyntaxError. Trees are at most 500 deep, so that recursion over them is safe.
std::vector<Statement> parse(std::string_view text);

/// The spelling of an operation that is written as a function, else empty.
std::string_view functionName(Op op);
/// The spelling of a binary operator (`+`), else empty; and how tightly it binds (1: comparisons … 8: `**`).
std::string_view operatorName(Op op);
int precedence(Op op);

/// Every access of a tree, in the order of the text.
void forEachAccess(const Expr &expr, const std::function<void(const Access &)> &visit);
void forEachAccess(const Mask &mask, const std::function<void(const Access &)> &visit);

} // namespace tulle::notation::syntax
