// One pass over the text without regard to locales; the cursor fails at the token that does not fit.
#include "support/Lexer.h"
#include <charconv>
#include <fmt/format.h>

namespace tulle::support {
namespace {

// Locale-free: the C functions answer differently for bytes above 127.
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isWordPart(char c) { return isLetter(c) || isDigit(c); }
bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool isHexadecimal(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

class Lexer {
public:
  Lexer(const Language &language, std::string_view text, std::string_view name)
      : language(language), text(text), name(name) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(std::min<size_t>(text.size() / 2 + 1, 128));
    for (skipBlanks(); at < text.size(); skipBlanks()) {
      if (tokens.size() == language.maxTokens)
        fail(at, at + 1,
             fmt::format("the text has more than {} tokens; split it into several programs",
                         language.maxTokens));
      const size_t begin = at;
      const Token::Kind kind = next();
      tokens.push_back({kind, text.substr(begin, at - begin), {begin, at}});
    }
    tokens.push_back({Token::End, text.substr(at), {at, at}});
    return tokens;
  }

private:
  [[noreturn]] void fail(size_t begin, size_t end, const std::string &message) const {
    throw SyntaxError(name, text, {begin, end}, message);
  }

  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  template <bool (*belongs)(char)> void skip() {
    while (belongs(peek()))
      ++at;
  }

  void skipBlanks() {
    for (skip<isBlank>(); text.substr(at, 2) == "//"; skip<isBlank>())
      at = std::min(text.find('\n', at), text.size());
  }

  Token::Kind next() {
    if (isDigit(peek()) || (language.complexNumbers && peek() == '.' && isDigit(peek(1))))
      return number();
    if (isLetter(peek())) {
      skip<isWordPart>();
      return Token::Word;
    }
    for (std::string_view sign : language.signs)
      if (sign[0] == text[at] && text.substr(at, sign.size()) == sign) {
        at += sign.size();
        return Token::Sign;
      }
    const unsigned char c = text[at];
    const std::string shown =
        c >= 0x20 && c < 0x7f ? fmt::format("'{}'", char(c)) : fmt::format("byte 0x{:02x}", c);
    fail(at, at + 1, fmt::format(fmt::runtime(language.unexpected), shown));
  }

  Token::Kind number() {
    if (isHexadecimal(text.substr(at, 2))) {
      skip<isWordPart>();
      return Token::Integer;
    }
    const size_t begin = at;
    Token::Kind kind = Token::Integer;
    skip<isDigit>();
    if (peek() == '.') {
      kind = Token::Real;
      ++at;
      skip<isDigit>();
    }
    const size_t exponent = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && isDigit(peek(exponent))) {
      kind = Token::Real;
      at += exponent;
      skip<isDigit>();
    }
    if (!language.complexNumbers || !isWordPart(peek()))
      return kind;
    const bool imaginary = (peek() == 'i' || peek() == 'j') && !isWordPart(peek(1));
    skip<isWordPart>();
    if (!imaginary)
      fail(begin, at, "expected a number; a product needs its '*' (2*x), a complex number ends in i (2i)");
    return Token::Imaginary;
  }

  const Language &language;
  std::string_view text, name;
  size_t at = 0;
};

} // namespace

std::vector<Token> tokenize(const Language &language, std::string_view text, std::string_view name) {
  return Lexer(language, text, name).run();
}

std::errc parseInteger(std::string_view text, int64_t &value) {
  const bool hex = isHexadecimal(text);
  text.remove_prefix(hex ? 2 : 0);
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
  return error == std::errc() && stop != end ? std::errc::invalid_argument : error;
}

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
