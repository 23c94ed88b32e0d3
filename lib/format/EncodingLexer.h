// Tokens of the encoding language.
#pragma once
#include "support/Diagnostic.h"

namespace tulle::format {

struct Token {
  enum Kind { End, Word, Integer, Real, Sign } kind = End;
  std::string_view text;
  support::SourceRange range;
  bool is(std::string_view wanted) const { return kind != End && text == wanted; }
};

/// Splits `text`; comments run from `//` to the end of the line. The last token is End. Throws
/// support::SyntaxError.
std::vector<Token> tokenize(std::string_view text, std::string_view name);

} // namespace tulle::format
