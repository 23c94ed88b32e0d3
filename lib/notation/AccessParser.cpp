// Recursive descent into what a subscript holds: other accesses may stand in it.
#include "notation/AccessParser.h"
#include "notation/Operations.h"
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::notation {

static constexpr std::string_view signs[] = {"**", "<<", ">>", "<=", ">=", "==", "!=", "+=", "*=", "-=",
                                             "/=", "|=", "&=", "^=", "+",  "-",  "*",  "/",  "%",  "&",
                                             "|",  "^",  "~",  "!",  "\\", "<",  ">",  "=",  "(",  ")",
                                             "[",  "]",  "{",  "}",  ",",  ":",  ";"};
static constexpr support::Language language = {
    signs, "unexpected {}; names, numbers, operators, ( ) [ ] {{ }} , : ; and // comments are understood",
    true, 16000};

/// Coefficients and constants of subscripts: sums of a few of them times sizes stay far inside 128 bits.
static constexpr int64_t maxSubscript = int64_t(1) << 40;

/// A term of a subscript, by the name of its index in the statement.
struct AccessParser::Term {
  std::string index;
  int64_t coefficient;
};

AccessParser::AccessParser(std::string_view text) : Cursor(language, text, sourceName) { out.text = text; }

AccessParser::Nested::Nested(AccessParser &parser) : parser(parser) {
  if (++parser.nesting > maxDepth)
    parser.fail(parser.peek().range,
                fmt::format("nested deeper than {} levels; split the expression with ';'", maxDepth));
}

void AccessParser::failFound(const Token &token, std::string_view expected) const {
  fail(token.range, fmt::format("expected {}, found {}", expected, shown(token)));
}

support::Token AccessParser::expectKind(Token::Kind kind, std::string_view what) {
  if (peek().kind != kind)
    failFound(peek(), what);
  return take();
}

void AccessParser::checkName(const Token &name, std::string_view what) const {
  if (isReserved(name.text))
    fail(name.range, fmt::format("'{}' is a word of the notation; {} needs another name", name.text, what));
}

/// The name has been taken.
Access AccessParser::access(const Token &name) {
  checkName(name, "a tensor");
  const unsigned number = out.tensor(name.text).value_or(out.tensors.size());
  if (number == out.tensors.size())
    out.tensors.emplace_back(name.text);
  Access result{number, {}, name.range, !next("(") && !next("[")};
  if (result.bare)
    return result;
  Token open = take();
  std::string_view close = open.is("(") ? ")" : "]";
  if (!next(close))
    do {
      if (result.subscripts.size() == 32)
        fail(peek().range, fmt::format("'{}' has more than 32 subscripts", name.text));
      result.subscripts.push_back(subscript(result));
    } while (accept(","));
  expectClose(open, close);
  result.range = since(name.range.begin);
  return result;
}

void AccessParser::expectClose(const Token &open, std::string_view close) {
  if (!accept(close))
    fail(peek().range, fmt::format("expected ',' or '{}', found {}", close, shown(peek())),
         {{open.range, fmt::format("to match this '{}'", open.text)}});
}

int64_t AccessParser::integer(const Token &token) const {
  int64_t value = 0;
  if (support::parseInteger(token.text, value) == std::errc())
    return value;
  fail(token.range, token.text.starts_with("0x") || token.text.starts_with("0X")
                        ? "expected a hexadecimal integer below 0x8000000000000000"
                        : "the integer does not fit 64 bits; write it with a decimal point to get f64");
}

double AccessParser::real(const Token &token) const {
  double value = 0;
  if (std::from_chars(token.text.data(), token.text.data() + token.text.size(), value).ec != std::errc())
    fail(token.range, "the number does not fit f64; write inf, or 0");
  return value;
}

int64_t AccessParser::bounded(const Token &token, __int128 value) const {
  if (value > maxSubscript || value < -maxSubscript)
    fail(token.range, "a number in a subscript is beyond 2^40");
  return int64_t(value);
}

/// Sum of terms `i`, `2*i`, `i*2`, `p(i)`, `3`, with signs; then `:n`. It is the next one of `access`.
Affine AccessParser::subscript(const Access &access) {
  Affine s;
  std::vector<Term> terms;
  std::vector<Indirection> indirections;
  const size_t begin = peek().range.begin;
  int sign = accept("-") ? -1 : 1;
  do {
    term(s, terms, indirections, sign);
    sign = next("-") ? -1 : 1;
  } while (accept("+") || accept("-"));
  digit(s, terms, indirections);
  give(s, indirections, terms, access);
  if (accept(":")) {
    Token end = expectKind(Token::Integer, "the integer a slice ends before, as in A(i+1:8)");
    s.limit = bounded(end, integer(end));
  }
  s.range = since(begin);
  for (const Term &term : terms)
    s.terms.emplace_back(numberOf(term.index), term.coefficient);
  s.isSum &= s.startsAtZero() && indirections.empty();
  return s;
}

unsigned AccessParser::numberOf(const std::string &index) {
  const auto [known, isNew] = out.statements.back().scope.emplace(index, out.indices.size());
  if (isNew)
    out.indices.push_back({known->first, -1});
  return known->second;
}

Affine AccessParser::indexOf(const Token &name) {
  Affine s;
  s.terms = {{numberOf(std::string(name.text)), 1}};
  s.range = name.range;
  return s;
}

void AccessParser::term(Affine &s, std::vector<Term> &terms, std::vector<Indirection> &indirections,
                        int sign) {
  Token token = take();
  if (token.kind == Token::Integer) {
    int64_t value = bounded(token, __int128(integer(token)) * sign);
    if (accept("*"))
      return addTerm(terms, indirections, expectKind(Token::Word, "an index after '*' in a subscript"),
                     value);
    s.constant = bounded(token, __int128(s.constant) + value);
    s.isSum = true;
    return;
  }
  if (token.kind != Token::Word)
    failFound(token, "an index, such as i, i+1 or 2*i");
  addTerm(terms, indirections, token, sign);
}

/// `p` of `p(i)` has been taken, or the name of an index; a factor may stand behind it.
void AccessParser::addTerm(std::vector<Term> &terms, std::vector<Indirection> &indirections,
                           const Token &name, int64_t coefficient) {
  std::string index(name.text);
  if (next("(") || next("[")) {
    Nested guard(*this);
    Indirection &given = indirections.emplace_back();
    given.source = access(name);
    index = textOf(given.source);
  } else {
    checkName(name, "an index");
  }
  if (accept("*")) {
    Token factor =
        expectKind(Token::Integer, "an integer after '*': a subscript is a sum of integer * index");
    coefficient = bounded(factor, __int128(integer(factor)) * coefficient);
  }
  auto same = std::ranges::find(terms, index, &Term::index);
  if (same == terms.end())
    same = terms.insert(same, {index, 0});
  same->coefficient = bounded(name, __int128(same->coefficient) + coefficient);
  if (same->coefficient == 0)
    terms.erase(same);
}

/// What stands behind an index of which the subscript is a digit: `l / 64`, `l % 64`, `l / 8 % 8`.
void AccessParser::digit(Affine &s, std::vector<Term> &terms, const std::vector<Indirection> &indirections) {
  const Token sign = peek();
  auto number = [&](std::string_view which) {
    const Token token = expectKind(Token::Integer, "a positive integer, as in l / 64");
    const int64_t value = bounded(token, integer(token));
    if (value == 0)
      fail(token.range, fmt::format("a subscript '{} 0' has no value", which));
    return value;
  };
  if (accept("/"))
    s.divisor = number("/");
  if (accept("%"))
    s.modulus = number("%");
  const bool single =
      terms.size() == 1 && terms[0].coefficient == 1 && s.constant == 0 && indirections.empty();
  if ((sign.is("/") || sign.is("%")) && !single)
    fail(sign.range, fmt::format("'{}' stands behind a single index, as in A(l / 64, l % 64)", sign.text));
  if (s.modulus == 1) { // 0
    terms.clear();
    s.divisor = 1;
    s.modulus = 0;
  }
}

/// `p(i)`, as every text that means the same.
std::string AccessParser::textOf(const Access &access) const {
  std::vector<std::string> subscripts;
  for (const Affine &subscript : access.subscripts)
    subscripts.push_back(print(subscript, out.indices));
  return fmt::format("{}({})", out.tensors[access.tensor], fmt::join(subscripts, ","));
}

/// Indices that tensors give, each for one dimension of one tensor; behind them may stand what is read, or
/// written, where they give no coordinate of it.
void AccessParser::give(Affine &subscript, std::vector<Indirection> &indirections, std::vector<Term> &terms,
                        const Access &access) {
  Outside outside = Outside::Error;
  const Token word = peek();
  const bool unique = accept("unique");
  if (accept("clamp")) {
    if (unique)
      fail(word.range,
           "integers that are clamped meet at the ends of the dimension; leave out 'unique', or 'clamp'");
    outside = Outside::Nearest;
  } else if (accept("else")) {
    if (!accept("0") && !accept("skip"))
      failFound(peek(), "0 after 'else', which is what is read outside of a tensor, or 'skip' on the left");
    outside = Outside::Nothing;
  }
  const bool any = unique || outside != Outside::Error;
  const char *example = unique ? "unique" : outside == Outside::Nearest ? "clamp" : "else 0";
  if (any && indirections.empty())
    fail(word.range,
         fmt::format("'{}' is for subscripts that a tensor gives, as in X(p(i) {})", word.text, example));
  // Of a sum of several, each could be inside by itself and the sum outside, or the other way round.
  if (any && (terms.size() != 1 || terms[0].coefficient != 1))
    fail(word.range, fmt::format("'{}' stands behind one integer and a constant, as in X(p(i)-1 {}); compute "
                                 "the sum in a tensor of its own, and let that give the subscript",
                                 word.text, example));
  ParsedStatement &statement = out.statements.back();
  for (Indirection &given : indirections) {
    std::string text = textOf(given.source);
    const auto term = std::ranges::find(terms, text, &Term::index);
    if (term == terms.end())
      continue; // p(i) - p(i)
    if (terms.size() == 1 && term->coefficient == 1 && subscript.constant != 0) {
      given.shift = std::exchange(subscript.constant, 0);
      text += fmt::format("{:+}", given.shift);
    }
    // No name of an index has a sign in it.
    const std::string key =
        fmt::format("{}@{}.{}.{}.{:d}", text, access.tensor, access.subscripts.size(), int(outside), unique);
    term->index = key;
    const auto [known, isNew] = statement.scope.emplace(key, out.indices.size());
    if (!isNew)
      continue;
    given.index = known->second;
    out.indices.push_back({text, -1, outside, unique});
    statement.indirections.push_back(given);
  }
}

} // namespace tulle::notation
