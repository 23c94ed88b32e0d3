#include "support/Cursor.h"

namespace tulle::support {

bool Cursor::accept(std::string_view wanted) {
  const bool found = next(wanted);
  at += found;
  return found;
}

Token Cursor::expect(std::string_view wanted, std::string_view where) {
  if (!next(wanted))
    failExpected("'" + std::string(wanted) + "' " + std::string(where));
  return take();
}

Token Cursor::expectWord(std::string_view what) {
  if (peek().kind != Token::Word)
    failExpected(std::string(what));
  return take();
}

int64_t Cursor::expectInteger(std::string_view what, bool negative) {
  const size_t begin = peek().range.begin;
  const bool minus = negative && accept("-");
  if (peek().kind != Token::Integer)
    failExpected(std::string(what));
  int64_t value = 0;
  const std::errc error = parseInteger(take().text, value);
  if (error == std::errc::result_out_of_range)
    fail(since(begin), "this integer does not fit 64 bits");
  if (error != std::errc())
    fail(since(begin), "this is no hexadecimal integer");
  return minus ? -value : value;
}

SourceRange Cursor::since(size_t begin) const {
  return {begin, at == 0 ? begin : std::max(begin, tokens[at - 1].range.end)};
}

void Cursor::failExpected(const std::string &expected) const {
  fail(peek().range, "expected " + expected + ", got " + shown(peek()));
}

std::string Cursor::shown(const Token &token) {
  return token.kind == Token::End ? "the end" : "'" + std::string(token.text) + "'";
}

} // namespace tulle::support
