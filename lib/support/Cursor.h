// Where a parser stands in its text.
#pragma once
#include "support/Lexer.h"
#include <algorithm>

namespace tulle::support {

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
  /// The range from `begin` to the end of the last token taken.
  SourceRange since(size_t begin) const;

  [[noreturn]] void fail(SourceRange range, const std::string &message,
                         const std::vector<Note> &notes = {}) const {
    throw SyntaxError(name, text, range, message, notes);
  }
  /// "expected …, got 'token'" at the next token.
  [[noreturn]] void failExpected(const std::string &expected) const;
  /// The token as errors show it.
  static std::string shown(const Token &token);

private:
  std::string_view text, name;
  std::vector<Token> tokens;
  size_t at = 0;
};

} // namespace tulle::support
