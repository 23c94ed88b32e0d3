// Parts of a tensor: which of its entries each one stores, and in what format.
//
//   [DIA @ j - i in {-1, 0, 1}, BCSR(4,4) @ fill(4,4) >= 1/2, CSR @ rest]
//
// An entry is in the first part whose pattern holds for it; what a pattern counts are entries that no part
// before took.
#pragma once
#include "format/Encoding.h"
#include "format/Expr.h"
#include "support/Lexer.h"

namespace tulle::notation {

struct TensorDecl;

/// A comparison that holds for an entry or not. Dimensions are called i, j, k, … in order.
struct Condition {
  enum Measure : uint8_t {
    Value, ///< of an expression of the entry's coordinates
    Count, ///< of the entries with the same coordinates, blocks aside
    Fill   ///< the same, as a fraction of a block
  };
  enum Comparison : uint8_t { Less, LessEqual, Equal, GreaterEqual, Greater, OneOf };

  Measure measure = Value;
  format::Expr value;          ///< of Value
  std::vector<int64_t> blocks; ///< of the others, by dimension: coordinates are the same when they agree
                               ///< divided by it; 0: any are
  Comparison comparison = Equal;
  std::vector<int64_t> bounds; ///< one, or several of OneOf
  int64_t divisor = 1;         ///< of the bound of Fill
};

struct Part {
  format::Encoding format;
  std::vector<Condition> conditions; ///< all must hold; none: `rest`
  support::SourceRange range;
};

/// A tensor split into parts, which are tensors of the program.
struct Decomposition {
  unsigned tensor = 0;
  std::vector<Part> parts;
  std::vector<unsigned> tensors; ///< of each part
  support::SourceRange range;    ///< of the list of parts
};

/// Whether a later part of the same tensor has no entry at a coordinate of the dimension at which an earlier
/// one has entries, whatever the tensor stores.
bool areDisjoint(const Part &earlier, const Part &later, unsigned dimension);
/// Whether each segment of the part's `fixed[n]` level holds n entries, so that there is no padding.
bool hasNoPadding(const Part &part);

/// What the language of parts has beyond words and numbers; schedules have the same.
extern const support::Language partsLanguage;

/// Takes `[FORMAT @ PATTERN, …]` or `hyb(c,k)`, for a tensor of these sizes. `text` is what the cursor stands
/// in. Throws SyntaxError.
std::vector<Part> parseParts(support::Cursor &cursor, std::string_view text, const TensorDecl &decl);
/// The same of a text of its own.
std::vector<Part> parseParts(std::string_view text, const TensorDecl &decl, std::string_view name);

/// Takes a format of the tensor, to which its entries can be converted, up to one of the signs `ends`.
format::Encoding parseOperandFormat(support::Cursor &cursor, std::string_view text, const TensorDecl &decl,
                                    std::initializer_list<std::string_view> ends);

/// Canonical text of a list of parts.
std::string print(const std::vector<Part> &parts);

} // namespace tulle::notation
