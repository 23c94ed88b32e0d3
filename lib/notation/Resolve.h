// Which tensor and which index every name of the text means, and how large they are. Private to this folder.
#pragma once
#include "notation/Syntax.h"

namespace tulle::notation {

/// One access in the text, with the ranges diagnostics point at.
struct Use {
  unsigned statement = 0;
  Access access;
  std::vector<SourceRange> subscriptRanges;
  std::vector<std::optional<int64_t>> limits; ///< of slices
  bool written = false;
};

struct Resolved {
  std::string_view text;
  std::vector<syntax::Statement> statements;           ///< bare masks have got their subscripts
  std::vector<std::string> tensors;                    ///< in order of first appearance
  std::vector<unsigned> orders;                        ///< of each tensor
  std::vector<IndexVar> indices;                       ///< of all statements; sizes -1 until inferred
  std::vector<std::map<std::string, unsigned>> scopes; ///< of each statement: index name -> number
  std::vector<Use> uses;                  ///< statement by statement: left side, right side, mask
  std::vector<std::vector<int64_t>> dims; ///< of each tensor; -1 unknown

  [[noreturn]] void fail(SourceRange range, const std::string &message,
                         const std::vector<support::Note> &notes = {}) const {
    throw support::SyntaxError(sourceName, text, range, message, notes);
  }
  std::optional<unsigned> tensor(std::string_view name) const;
  Access access(unsigned statement, const syntax::Access &access) const;
};

/// Parses, and gives every name its number. Throws SyntaxError for an order clash (naming both uses), a left
/// side that is not made of distinct indices, a result that is read by its own statement.
Resolved resolve(std::string_view text);

/// Fills `indices[…].size` and `dims` as far as `known` (by tensor name) decides them; the rest stays -1.
/// Throws SyntaxError for a clash (naming both uses) and for a subscript that leaves its dimension.
void inferSizes(Resolved &resolved, const std::map<std::string, std::vector<int64_t>> &known);

} // namespace tulle::notation
