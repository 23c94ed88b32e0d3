// Tokens of the texts that users write: encodings, index notation, schedules, queries.
#pragma once
#include "support/Diagnostic.h"
#include <cstdint>
#include <span>
#include <system_error>

namespace tulle::support {

struct Token {
  enum Kind : uint8_t { End, Word, Integer, Real, Imaginary, Sign } kind = End;
  std::string_view text; ///< into the source
  SourceRange range;
  bool is(std::string_view wanted) const { return kind != End && text == wanted; }
};

/// What one language has beyond words, numbers, blanks, and comments from `//` to the end of the line.
struct Language {
  std::span<const std::string_view> signs; ///< the first that matches is taken: longer ones come first
  std::string_view unexpected;             ///< the error for any other character, which is `{}` in it
  /// Numbers may begin with '.' and end in i or j, and no letter may follow one.
  bool complexNumbers = false;
  size_t maxTokens = SIZE_MAX;
};

/// Splits `text`; the last token is End. Throws SyntaxError.
std::vector<Token> tokenize(const Language &language, std::string_view text, std::string_view name);

/// The value of an Integer token, decimal or `0x…`: no error, `result_out_of_range`, or `invalid_argument`
/// for letters that are no hexadecimal digits.
std::errc parseInteger(std::string_view text, int64_t &value);

} // namespace tulle::support
