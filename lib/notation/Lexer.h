// Characters to tokens, each with its place in the text.
#pragma once
#include "support/Diagnostic.h"
#include <complex>
#include <cstdint>

namespace tulle::notation {

/// The name every diagnostic of an expression is printed under.
inline constexpr std::string_view sourceName = "<expr>";

enum class TokenKind : uint8_t { Name, Integer, Float, Imaginary, Punctuation, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text; ///< into the source
  int64_t integer = 0;
  double real = 0; ///< Float, and the magnitude of Imaginary
  support::SourceRange range;
  bool is(std::string_view punctuation) const {
    return kind == TokenKind::Punctuation && text == punctuation;
  }
};

/// All tokens, ended by one End token. `//` starts a comment up to the end of the line. Throws SyntaxError
/// for a character no token starts with, a number that fits no type, and a text of more than 4000 tokens.
std::vector<Token> tokenize(std::string_view text);

} // namespace tulle::notation
