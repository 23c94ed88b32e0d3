// Programs on the way from text to checked statements: parsed, then with every name resolved and every size
// inferred. Private to this folder.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// The name under which diagnostics of an expression are printed.
inline constexpr std::string_view sourceName = "<expr>";

struct ParsedStatement {
  Access lhs;
  std::optional<Reduce> reduce; ///< absent: `=`
  Expr rhs;
  Mask where; ///< `where A` has no subscripts until it is resolved
  SourceRange assignRange, range;
  bool condition = false;                             ///< what stands behind `until`
  std::map<std::string, unsigned, std::less<>> scope; ///< the numbers of its indices
  std::vector<Indirection> indirections;
  Concatenation concat;
  bool isSet = false; ///< `set(MASK)`, which is `true where MASK`
};

/// Names have numbers: tensors in the whole text, indices in each statement.
struct ParsedProgram {
  std::string_view text;
  std::vector<ParsedStatement> statements;
  std::vector<Loop> loops;
  std::vector<std::string> tensors; ///< in order of first appearance
  std::vector<IndexVar> indices;    ///< of all statements; sizes -1 until inferred

  [[noreturn]] void fail(SourceRange range, const std::string &message,
                         const std::vector<support::Note> &notes = {}) const {
    throw support::SyntaxError(sourceName, text, range, message, notes);
  }
  std::optional<unsigned> tensor(std::string_view name) const;
  /// Whether some loop holds both statements.
  bool inOneLoop(unsigned first, unsigned last) const;
  /// Whether a statement adds to its result round by round, which needs a value that was there before.
  bool addsInRounds(unsigned statement) const {
    return statements[statement].reduce == Reduce::Add && inOneLoop(statement, statement);
  }
};

/// The canonical text of a subscript; `nothing` is what stands behind one that may lie outside.
std::string print(const Affine &affine, const std::vector<IndexVar> &indices,
                  std::string_view nothing = " else 0");

/// Throws SyntaxError.
ParsedProgram parse(std::string_view text);

/// One access in the text.
struct Use {
  unsigned statement = 0;
  Access access;
  bool written = false;
};

struct ResolvedProgram : ParsedProgram {
  std::vector<unsigned> orders;              ///< of each tensor
  std::vector<Use> uses;                     ///< statement by statement: left side, right side, mask
  std::vector<std::vector<int64_t>> dims;    ///< of each tensor; -1 unknown
  std::vector<std::optional<unsigned>> like; ///< of each tensor: the one whose structure it has
};

/// Gives bare masks their subscripts. Throws SyntaxError for an order clash (naming both uses), a left side
/// that is not made of distinct indices, a condition with indices. A result with the structure of another
/// tensor is computed where that one stores an entry: its statements get that mask.
ResolvedProgram resolve(std::string_view text, const Likes &likes = {});

/// Fills `indices[…].size` and `dims` as far as `known` (by tensor name) decides them; the rest stays -1.
/// Throws SyntaxError for a clash (naming both uses) and for a subscript that leaves its dimension.
void inferSizes(ResolvedProgram &resolved, const std::map<std::string, std::vector<int64_t>> &known);

/// The type operations on values of `type` compute in: f32 for f16 and bf16, else `type`.
ElementType computeType(ElementType type);

/// An expression whose type is decided. A literal, and what is made of literals alone, takes the type of what
/// it meets.
struct Typed {
  Expr expr;
  ElementType natural = ElementType::F64; ///< before widening to the compute type
  bool weak = false;
};

/// The typed tree of a statement's right side. `types` of the tensors, by number: those read must be set.
/// Throws SyntaxError for an operation its operands' types do not have.
Typed decideTypes(const ParsedProgram &program, const std::vector<std::optional<ElementType>> &types,
                  const Expr &expr);

/// `value` as `target`, by a Convert node unless it has that type already; literals change in place.
Expr convertTo(const ParsedProgram &program, const Typed &value, ElementType target);

/// The summation convention: in `y(i) = b(i) - A(i,j) * x(j)` each term is summed over its own indices, so
/// that y = b - A x. A statement whose terms do not all have the same reduction indices becomes one statement
/// per set of indices, the later ones added to the first. Products are expanded where that separates terms.
/// Only sums split: `max=` and the like take the right side as a whole. Terms that read the result itself
/// come first, as long as it has its old value; at most one of the statements may have some.
std::vector<Statement> splitTerms(const Statement &statement);

} // namespace tulle::notation
