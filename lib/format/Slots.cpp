#include "format/Slots.h"

namespace tulle::format {

/// Levels that store each coordinate hold those of entries only.
static bool readsImplied(const Encoding &encoding, const Expr &e) {
  if (!e)
    return false;
  if (e->kind != ExprKind::Level)
    return readsImplied(encoding, e->lhs) || readsImplied(encoding, e->rhs);
  switch (encoding.levels[e->value].format.kind) {
  case LevelKind::Compressed:
  case LevelKind::LooseCompressed:
  case LevelKind::Singleton:
  case LevelKind::Fixed:
  case LevelKind::Hashed:
    return false;
  default:
    return true;
  }
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
