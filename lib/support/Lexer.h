// Tokens of the texts that users write (encodings, index notation, schedules, queries), and where a parser
// stands in them.
#pragma once
#include "support/Diagnostic.h"
#include <algorithm>
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

/// Where a parser stands in its text.
class Cursor {
public:
  Cursor(const Language &language, std::string_view text, std::string_view name)
      : text(text), name(name), tokens(tokenize(language, text, name)) {}

  const Token &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  bool next(std::string_view wanted) const { return peek().is(wanted); }
  bool atEnd() const { return peek().kind == Token::End; }
  Token take() { return atEnd() ? tokens[at] : tokens[at++]; }
  bool accept(std::string_view wanted);
  /// Takes the sign or word `wanted`, or fails with "expected 'wanted' <where>, got …".
  Token expect(std::string_view wanted, std::string_view where);
  Token expectWord(std::string_view what);
  /// An integer, with a sign before it if `negative`.
  int64_t expectInteger(std::string_view what, bool negative = false);
  /// Elements separated by commas, at least one, and `close`, which is expected `where`.
  template <class Element> void list(std::string_view close, std::string_view where, const Element &element) {
    do
      element();
    while (accept(","));
    expect(close, where);
  }
  /// The range from `begin` to the end of the last token taken.
  SourceRange since(size_t begin) const;

  [[noreturn]] void fail(SourceRange range, const std::string &message,
                         const std::vector<Note> &notes = {}) const {
    throw SyntaxError(name, text, range, message, notes);
  }
  /// "expected …, got 'token'" at the next token.
  [[noreturn]] void failExpected(const std::string &expected) const;
  /// The whole text, and what it is called, for errors that are found after it was read.
  std::string_view wholeText() const { return text; }
  std::string_view textName() const { return name; }
  /// The token as errors show it.
  static std::string shown(const Token &token);

private:
  std::string_view text, name;
  std::vector<Token> tokens;
  size_t at = 0;
};

} // namespace tulle::support
