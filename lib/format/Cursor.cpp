#include "format/Cursor.h"
#include <charconv>

namespace tulle::format {

Token Cursor::take() {
  Token token = peek();
  if (token.kind != Token::End)
    ++at;
  return token;
}

bool Cursor::accept(std::string_view wanted) {
  bool found = next(wanted);
  if (found)
    ++at;
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
  size_t begin = peek().range.begin;
  bool minus = negative && accept("-");
  if (peek().kind != Token::Integer)
    failExpected(std::string(what));
  std::string_view digits = take().text;
  bool hex = digits.size() > 1 && (digits[1] == 'x' || digits[1] == 'X');
  digits.remove_prefix(hex ? 2 : 0);
  int64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range)
    fail(since(begin), "this integer does not fit 64 bits");
  if (error != std::errc() || end != digits.data() + digits.size())
    fail(since(begin), "this is no hexadecimal integer");
  return minus ? -value : value;
}

support::SourceRange Cursor::since(size_t begin) const {
  return {begin, at == 0 ? begin : std::max(begin, tokens[at - 1].range.end)};
}

void Cursor::fail(support::SourceRange range, const std::string &message) const {
  throw support::SyntaxError(name, text, range, message);
}

void Cursor::failExpected(const std::string &expected) const {
  std::string got = peek().kind == Token::End ? "the end" : "'" + std::string(peek().text) + "'";
  fail(peek().range, "expected " + expected + ", got " + got);
}

} // namespace tulle::format
