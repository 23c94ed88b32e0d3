// Where the parsers of encodings stand in their text.
#pragma once
#include "format/EncodingLexer.h"
#include "support/Suggest.h"

namespace tulle::format {

class Cursor {
public:
  Cursor(std::string_view text, std::string_view name)
      : text(text), name(name), tokens(tokenize(text, name)) {}

  const Token &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  bool next(std::string_view wanted) const { return peek().is(wanted); }
  Token take();
  bool accept(std::string_view wanted);
  /// Takes the sign or word `wanted`, or fails with "expected 'wanted' <where>, got …".
  Token expect(std::string_view wanted, std::string_view where);
  Token expectWord(std::string_view what);
  /// An integer, with a sign before it if `negative`.
  int64_t expectInteger(std::string_view what, bool negative = false);
  /// The range from `begin` to the end of the last token taken.
  support::SourceRange since(size_t begin) const;

  [[noreturn]] void fail(support::SourceRange range, const std::string &message) const;
  /// "expected …, got 'token'" at the next token.
  [[noreturn]] void failExpected(const std::string &expected) const;

private:
  std::string_view text, name;
  std::vector<Token> tokens;
  size_t at = 0;
};

} // namespace tulle::format
