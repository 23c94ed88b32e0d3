// For each bit of a level's coordinate, the bit of a dimension's coordinate that it is: an expression's
// operations move, mask or unite the 63 sources of their operands, and the inverse gathers the bits from the
// levels.
#include "format/Bits.h"
#include <algorithm>
#include <bit>

namespace tulle::format {
namespace {

constexpr unsigned width = std::tuple_size_v<BitSources>;

BitSources shifted(const BitSources &x, int64_t left) {
  BitSources out;
  for (int64_t b = 0; b < int64_t(width); ++b)
    if (int64_t from = b - left; from >= 0 && from < int64_t(width))
      out[b] = x[from];
  return out;
}

BitSources masked(BitSources x, int64_t mask) {
  for (unsigned b = 0; b < width; ++b)
    if (!(mask >> b & 1))
      x[b] = {};
  return x;
}

/// `exclusive`: equal bits cancel, and carries do not arise, only where at most one side has a bit.
BitSources united(const BitSources &x, const BitSources &y, bool exclusive) {
  BitSources out;
  for (unsigned b = 0; b < width; ++b) {
    if (x[b].kind == BitSource::Zero || y[b].kind == BitSource::Zero)
      out[b] = x[b].kind == BitSource::Zero ? y[b] : x[b];
    else
      out[b] = !exclusive && x[b] == y[b] ? x[b] : BitSource{BitSource::Mixed};
  }
  return out;
}

bool disjoint(const BitSources &x, const BitSources &y) {
  return std::ranges::equal(x, y, [](const BitSource &a, const BitSource &b) {
    return a.kind == BitSource::Zero || b.kind == BitSource::Zero;
  });
}

std::optional<int64_t> constantOf(const Expr &e) {
  return e->kind == ExprKind::Constant && e->value >= 0 ? std::optional(e->value) : std::nullopt;
}

std::optional<BitSources> ofBinary(const Expr &e, const std::vector<unsigned> &dimBits) {
  if (e->kind == ExprKind::And && constantOf(e->lhs) && !constantOf(e->rhs))
    return ofBinary(binary(ExprKind::And, e->rhs, e->lhs), dimBits);
  std::optional<BitSources> x = bitSources(e->lhs, dimBits);
  if (!x)
    return std::nullopt;
  if (std::optional<int64_t> n = constantOf(e->rhs)) {
    bool power = *n > 0 && std::has_single_bit(uint64_t(*n));
    int64_t log2 = power ? std::countr_zero(uint64_t(*n)) : 0;
    if (e->kind == ExprKind::And || (e->kind == ExprKind::Mod && power))
      return masked(*x, e->kind == ExprKind::And ? *n : *n - 1);
    if (e->kind == ExprKind::Shl || e->kind == ExprKind::Shr)
      return shifted(*x, e->kind == ExprKind::Shl ? *n : -*n);
    if (power && (e->kind == ExprKind::Mul || e->kind == ExprKind::FloorDiv))
      return shifted(*x, e->kind == ExprKind::Mul ? log2 : -log2);
    return std::nullopt;
  }
  std::optional<BitSources> y = bitSources(e->rhs, dimBits);
  if (!y)
    return std::nullopt;
  if (e->kind == ExprKind::Or)
    return united(*x, *y, false);
  if (e->kind == ExprKind::Xor || (e->kind == ExprKind::Add && disjoint(*x, *y)))
    return united(*x, *y, true);
  return std::nullopt;
}

/// Moves the bits of `mask` together at the low end: in each step those that have an odd number of 2^s gaps
/// left below them move by 2^s.
Expr extract(unsigned level, uint64_t mask) {
  Expr x = binary(ExprKind::And, levelVar(level), constant(int64_t(mask)));
  std::vector<Expr> steps;
  std::string name = "x" + std::to_string(level) + "_" + std::to_string(mask);
  for (unsigned s = 0; s < 6; ++s) {
    uint64_t moving = 0, after = 0;
    for (unsigned b = 0, seen = 0; b < width; ++b)
      if (mask >> b & 1) {
        bool odd = (b - seen++) >> s & 1;
        moving |= uint64_t(odd) << b;
        after |= uint64_t(1) << (odd ? b - (1u << s) : b);
      }
    if (moving == 0)
      continue;
    Expr now = variable(name + "_" + std::to_string(s), x);
    steps.push_back(now);
    Expr part = binary(ExprKind::And, now, constant(int64_t(moving)));
    x = binary(ExprKind::Or, binary(ExprKind::And, now, constant(int64_t(mask & ~moving))),
               binary(ExprKind::Shr, part, constant(int64_t(1) << s)));
    mask = after;
  }
  for (; !steps.empty(); steps.pop_back())
    x = let(steps.back()->name, steps.back()->bound, x);
  return x;
}

} // namespace

std::optional<BitSources> bitSources(const Expr &e, const std::vector<unsigned> &dimBits) {
  switch (e->kind) {
  case ExprKind::Dim: {
    BitSources out;
    for (unsigned b = 0; b < std::min(width, dimBits[e->value]); ++b)
      out[b] = {BitSource::FromDim, unsigned(e->value), b};
    return out;
  }
  case ExprKind::Constant:
    return e->value == 0 ? std::optional(BitSources{}) : std::nullopt;
  case ExprKind::Variable:
    return bitSources(e->bound, dimBits);
  default:
    return isBinary(e) ? ofBinary(e, dimBits) : std::nullopt;
  }
}

std::optional<BitSources> bitSources(const Expr &e, unsigned bits) {
  return bitSources(e, std::vector<unsigned>(maxDims, bits));
}

Expr invertBits(const std::vector<std::optional<BitSources>> &levels, unsigned dim, unsigned bits) {
  Expr sum;
  std::vector<bool> used(levels.size());
  // Runs of the dimension's bits that one level keeps, from the lowest bit on.
  for (unsigned have = 0; have < bits;) {
    unsigned next = have;
    for (unsigned l = 0; l < levels.size() && next == have; ++l) {
      if (!levels[l] || used[l])
        continue;
      uint64_t mask = 0;
      for (unsigned b = 0; b < width; ++b)
        if ((*levels[l])[b] == BitSource{BitSource::FromDim, dim, next}) {
          mask |= uint64_t(1) << b;
          ++next;
        }
      if (mask == 0)
        continue;
      used[l] = true;
      Expr part = extract(l, mask);
      if (have > 0)
        part = binary(ExprKind::Shl, part, constant(have));
      sum = sum ? binary(ExprKind::Add, sum, part) : part;
    }
    if (next == have)
      return nullptr;
    have = next;
  }
  return sum;
}

} // namespace tulle::format
