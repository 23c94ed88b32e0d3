// Names, numbers and accesses of tensors, of which expressions, masks and statements are made.
#pragma once
#include "notation/Resolve.h"
#include "support/Lexer.h"

namespace tulle::notation {

/// Parses accesses, and gives their tensors and indices numbers. Private to the parser, which is one of
/// these.
class AccessParser : protected support::Cursor {
protected:
  using Token = support::Token;
  static constexpr unsigned maxDepth = 500; ///< of everything that can stand in something of its kind

  explicit AccessParser(std::string_view text);

  /// Guards every recursion, so that no text overflows the stack.
  struct Nested {
    AccessParser &parser;
    explicit Nested(AccessParser &parser);
    ~Nested() { --parser.nesting; }
  };

  [[noreturn]] void failFound(const Token &token, std::string_view expected) const;
  Token expectKind(Token::Kind kind, std::string_view what);
  /// What closes `open`, behind elements with commas between them.
  void expectClose(const Token &open, std::string_view close);
  /// Fails where the name is a word of the notation.
  void checkName(const Token &name, std::string_view what) const;
  int64_t integer(const Token &token) const;
  double real(const Token &token) const;
  /// The name has been taken.
  Access access(const Token &name);
  /// The index of the statement that has this name.
  Affine indexOf(const Token &name);

  ParsedProgram out;

private:
  struct Term;
  int64_t bounded(const Token &token, __int128 value) const;
  Affine subscript(const Access &access);
  unsigned numberOf(const std::string &index);
  void term(Affine &s, std::vector<Term> &terms, std::vector<Indirection> &indirections, int sign);
  void addTerm(std::vector<Term> &terms, std::vector<Indirection> &indirections, const Token &name,
               int64_t coefficient);
  void digit(Affine &s, std::vector<Term> &terms, const std::vector<Indirection> &indirections);
  std::string textOf(const Access &access) const;
  void give(Affine &subscript, std::vector<Indirection> &indirections, std::vector<Term> &terms,
            const Access &access);

  unsigned nesting = 0;
};

} // namespace tulle::notation
