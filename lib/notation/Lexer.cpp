#include "notation/Lexer.h"
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace tulle::notation {
namespace {

// Locale-free: the C functions answer differently for bytes above 127.
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }
bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr size_t maxTokens = 4000;
// Longest first, so that the first match is the longest.
constexpr std::array<std::string_view, 34> punctuation = {
    "**", "<<", ">>", "<=", ">=", "==", "!=", "+=", "*=", "-=", "/=", "|=", "&=", "^=", "+", "-", "*",
    "/",  "%",  "&",  "|",  "^",  "~",  "!",  "\\", "<",  ">",  "=",  "(",  ")",  "[",  "]", ",", ":"};

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (skipBlank(); at < text.size(); skipBlank()) {
      if (tokens.size() == maxTokens)
        throw support::SyntaxError(
            sourceName, text, {at, at + 1},
            fmt::format("the text has more than {} tokens; split it into several programs", maxTokens));
      tokens.push_back(next());
    }
    tokens.push_back({TokenKind::End, text.substr(text.size()), 0, 0, {text.size(), text.size() + 1}});
    return tokens;
  }

private:
  std::string_view text;
  size_t at = 0;

  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  void skipBlank() {
    while (at < text.size()) {
      if (isSpace(text[at]))
        ++at;
      else if (text.substr(at, 2) == "//")
        at = std::min(text.find('\n', at), text.size());
      else
        return;
    }
  }

  Token make(TokenKind kind, size_t begin) const {
    return {kind, text.substr(begin, at - begin), 0, 0, {begin, at}};
  }

  Token next() {
    size_t begin = at;
    if (isNameStart(peek())) {
      while (isNamePart(peek()))
        ++at;
      return make(TokenKind::Name, begin);
    }
    if (isDigit(peek()) || (peek() == '.' && isDigit(peek(1))))
      return number();
    if (peek() == ';') {
      ++at;
      return make(TokenKind::Punctuation, begin);
    }
    for (std::string_view p : punctuation)
      if (text.substr(at, p.size()) == p) {
        at += p.size();
        return make(TokenKind::Punctuation, begin);
      }
    unsigned char c = text[at];
    std::string shown =
        c >= 0x20 && c < 0x7f ? fmt::format("'{}'", char(c)) : fmt::format("byte 0x{:02x}", c);
    throw support::SyntaxError(
        sourceName, text, {at, at + 1},
        fmt::format("unexpected {}; names, numbers, operators, ( ) [ ] , : ; and // comments are understood",
                    shown));
  }

  [[noreturn]] void tooLarge(size_t begin, std::string_view message) const {
    throw support::SyntaxError(sourceName, text, {begin, at}, std::string(message));
  }

  Token number() {
    size_t begin = at;
    Token token;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at += 2;
      size_t digits = at;
      while (isNamePart(peek()))
        ++at;
      token = make(TokenKind::Integer, begin);
      auto [end, error] = std::from_chars(text.data() + digits, text.data() + at, token.integer, 16);
      if (error != std::errc() || end != text.data() + at)
        tooLarge(begin, "expected a hexadecimal integer below 0x8000000000000000");
      return token;
    }
    bool isFloat = false;
    while (isDigit(peek()))
      ++at;
    if (peek() == '.') {
      isFloat = true;
      ++at;
      while (isDigit(peek()))
        ++at;
    }
    size_t exponent = (peek(1) == '+' || peek(1) == '-') ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && isDigit(peek(exponent))) {
      isFloat = true;
      at += exponent;
      while (isDigit(peek()))
        ++at;
    }
    size_t end = at;
    bool imaginary = (peek() == 'i' || peek() == 'j') && !isNamePart(peek(1));
    if (imaginary)
      ++at;
    else if (isNamePart(peek())) {
      while (isNamePart(peek()))
        ++at;
      tooLarge(begin, "expected a number; a product needs its '*' (2*x), a complex number ends in i (2i)");
    }
    token = make(imaginary ? TokenKind::Imaginary : isFloat ? TokenKind::Float : TokenKind::Integer, begin);
    if (token.kind == TokenKind::Integer) {
      if (std::from_chars(text.data() + begin, text.data() + end, token.integer).ec != std::errc())
        tooLarge(begin, "the integer does not fit 64 bits; write it with a decimal point to get f64");
    } else if (std::from_chars(text.data() + begin, text.data() + end, token.real).ec != std::errc()) {
      tooLarge(begin, "the number does not fit f64; write inf, or 0");
    }
    return token;
  }
};

} // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

} // namespace tulle::notation
