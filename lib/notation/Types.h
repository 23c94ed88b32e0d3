// Element types of expressions: promotion, and the conversions that make them explicit. Private to this
// folder.
#pragma once
#include "notation/Resolve.h"

namespace tulle::notation {

/// The type operations on values of `type` compute in: f32 for f16 and bf16, else `type`.
ElementType computeType(ElementType type);

/// An expression whose type is decided. A literal, and what is made of literals alone, takes the type of what
/// it meets.
struct Typed {
  Expr expr;
  ElementType natural = ElementType::F64; ///< before widening to the compute type
  bool weak = false;
};

class Typer {
public:
  /// `types` of the tensors, by number: those read must be set.
  Typer(const Resolved &resolved, const std::vector<std::optional<ElementType>> &types)
      : resolved(resolved), types(types) {}

  /// The tree of a statement's right side. Throws SyntaxError for an operation its operands' types do not
  /// have.
  Typed type(unsigned statement, const syntax::Expr &expr) const;

  /// `value` as `target`, by a Convert node unless it has that type already; literals change in place.
  Expr convert(const Typed &value, ElementType target) const;

  Mask mask(unsigned statement, const syntax::Mask &mask) const;

private:
  const Resolved &resolved;
  const std::vector<std::optional<ElementType>> &types;

  [[noreturn]] void refuse(const syntax::Node &node, ElementType type, std::string_view cure) const;
  ElementType common(const std::vector<Typed> &args, bool &weak) const;
  Typed build(Op op, const syntax::Node &node, std::vector<Typed> args, ElementType operands,
              ElementType result, bool weak) const;
  Typed unary(const syntax::Node &node, Typed arg) const;
  Typed binary(const syntax::Node &node, std::vector<Typed> args) const;
  Typed select(const syntax::Node &node, std::vector<Typed> args) const;
};

} // namespace tulle::notation
