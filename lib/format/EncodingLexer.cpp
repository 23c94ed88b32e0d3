#include "format/EncodingLexer.h"
#include <array>

namespace tulle::format {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Lexer {
public:
  Lexer(std::string_view text, std::string_view name) : text(text), name(name) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do
      tokens.push_back(next());
    while (tokens.back().kind != Token::End);
    return tokens;
  }

private:
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  void skipBlanks() {
    while (at < text.size()) {
      char c = text[at];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        ++at;
      else if (c == '/' && peek(1) == '/')
        at = std::min(text.find('\n', at), text.size());
      else
        return;
    }
  }

  Token::Kind number() {
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at += 2;
      while (isDigit(peek()) || isLetter(peek()))
        ++at;
      return Token::Integer;
    }
    Token::Kind kind = Token::Integer;
    auto digits = [&] {
      while (isDigit(peek()))
        ++at;
    };
    digits();
    if (peek() == '.') {
      kind = Token::Real;
      ++at;
      digits();
    }
    size_t sign = peek(1) == '+' || peek(1) == '-';
    if ((peek() == 'e' || peek() == 'E') && isDigit(peek(1 + sign))) {
      kind = Token::Real;
      at += 1 + sign;
      digits();
    }
    return kind;
  }

  Token next() {
    skipBlanks();
    size_t begin = at;
    Token::Kind kind = Token::Sign;
    if (at == text.size())
      kind = Token::End;
    else if (isDigit(text[at]))
      kind = number();
    else if (isLetter(text[at])) {
      kind = Token::Word;
      while (isLetter(peek()) || isDigit(peek()))
        ++at;
    } else
      sign();
    return {kind, text.substr(begin, at - begin), {begin, at}};
  }

  void sign() {
    constexpr std::array<std::string_view, 3> pairs = {"->", "<<", ">>"};
    for (std::string_view pair : pairs)
      if (text.substr(at, 2) == pair) {
        at += 2;
        return;
      }
    constexpr std::string_view single = "()[]{}<>,:;.=+-*/%&|^#?";
    if (single.find(text[at]) == std::string_view::npos)
      throw support::SyntaxError(name, text, {at, at + 1}, "this character has no meaning in an encoding");
    ++at;
  }

  std::string_view text, name;
  size_t at = 0;
};

} // namespace

std::vector<Token> tokenize(std::string_view text, std::string_view name) { return Lexer(text, name).run(); }

} // namespace tulle::format
