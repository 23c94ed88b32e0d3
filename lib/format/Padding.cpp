#include "format/Padding.h"
#include "format/LevelKinds.h"

namespace tulle::format {

/// Levels that store each coordinate hold those of entries only.
static bool readsImplied(const Encoding &encoding, const Expr &e) {
  if (!e)
    return false;
  if (e->kind != ExprKind::Level)
    return readsImplied(encoding, e->lhs) || readsImplied(encoding, e->rhs);
  using enum LevelKind;
  return !isOneOf(encoding.levels[e->value].format.kind,
                  {Compressed, LooseCompressed, Singleton, Fixed, Hashed});
}

bool mayLieOutside(const Encoding &encoding, unsigned dim, const Expr &inverse) {
  if (inverse->kind == ExprKind::Level) {
    const Expr &level = encoding.levels[inverse->value].expr;
    bool isDim = level->kind == ExprKind::Dim && level->value == int64_t(dim);
    if (isDim || level->kind == ExprKind::Rank)
      return false;
  }
  return readsImplied(encoding, inverse);
}

bool hasReserve(const Encoding &encoding, unsigned level) {
  for (unsigned l = 0; l <= level; ++l)
    if (encoding.levels[l].format.kind == LevelKind::LooseCompressed && encoding.levels[l].format.n != 0)
      return true;
  return false;
}

} // namespace tulle::format
