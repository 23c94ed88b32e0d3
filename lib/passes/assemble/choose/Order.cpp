// Follows the digits of the sort keys, level by level: what they fix and what they leave open.
#include "passes/assemble/choose/Order.h"
#include "mlir/IR/AffineExpr.h"
#include <limits>

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;

namespace {

constexpr int64_t kWhole = std::numeric_limits<int64_t>::max();

/// The digits of a quantity from weight `low` to below `high`: (x floordiv low) mod (high / low).
struct Part {
  unsigned quantity = 0;
  int64_t low = 1, high = kWhole;
};

/// Follows the order of a stream, level by level. A quantity is a dimension, or an expression that is no
/// digit of one and is taken as a whole.
class Follower {
public:
  explicit Follower(const std::vector<Expr> &keys) {
    for (const Expr &key : keys)
      append(partOf(key));
  }

  /// From here on, these coordinates are looked at one at a time.
  void fix(const Expr &e) { markFixed(partOf(e)); }

  /// The stream ascends by this next expression where all before agree; they then agree on this too.
  bool advance(const Expr &e) {
    if (e->kind == ExprKind::Counter)
      return advanceCounter(*e);
    const Part whole = partOf(e);
    deduce(); // what is known may say all of it
    for (Part part : unfixed(whole))
      if (!consume(part))
        return false;
    return true;
  }

private:
  /// A key that has the digits below those of the key before is one with it: by `i floordiv 6, i mod 6` is by
  /// i.
  void append(const Part &key) {
    if (!rest.empty() && rest.back().quantity == key.quantity && rest.back().low == key.high)
      rest.back().low = key.low;
    else
      rest.push_back(key);
  }

  /// Where nothing but the dimensions that a counter names is fixed, it numbers what comes next, one after
  /// the other (Strategies.h: countersAscend), and so fixes all there is; where all is fixed, it is as well.
  bool advanceCounter(const format::ExprNode &counter) {
    if (!nextKey())
      return true;
    const std::vector<Expr> named = dimensionsOf(counter.dims);
    const bool knowsAll = llvm::all_of(named, [&](const Expr &dim) { return isFixed(dim); });
    auto isNamed = [&](const Part &part) {
      return llvm::any_of(named,
                          [&](const Expr &dim) { return format::equal(quantities[part.quantity], dim); });
    };
    if (!knowsAll || !llvm::all_of(fixed, isNamed))
      return false;
    for (const Part &key : std::vector<Part>(rest))
      markFixed(key);
    return true;
  }

  bool consume(Part part) {
    part = reduce(part);
    while (part.low < part.high) {
      std::optional<Part> head = nextKey();
      if (head)
        head = reduce(*head);
      if (!head || head->quantity != part.quantity || head->high != part.high)
        return false;
      int64_t low = std::max(head->low, part.low);
      // Digits of different radices do not split each other.
      if ((head->low <= part.low ? part.low % head->low : head->low % part.low) != 0)
        return false;
      markFixed({part.quantity, low, part.high});
      part.high = low;
    }
    return true;
  }

  /// With one operand fixed, a sum ascends with the other, and a difference with what it is taken from.
  Part reduce(Part part) {
    Expr e = quantities[part.quantity];
    if (part.low != 1 || part.high != kWhole || (e->kind != ExprKind::Add && e->kind != ExprKind::Sub))
      return part;
    auto known = [&](const Expr &x) { return isConstant(x) || isFixed(x); };
    if (known(e->rhs))
      return reduce(partOf(e->lhs));
    return e->kind == ExprKind::Add && known(e->lhs) ? reduce(partOf(e->rhs)) : part;
  }

  /// The most significant part of the keys that is not fixed yet.
  std::optional<Part> nextKey() const {
    for (const Part &key : rest)
      if (std::vector<Part> parts = unfixed(key); !parts.empty())
        return parts.front();
    return std::nullopt;
  }

  /// What of a part is not fixed, most significant first.
  std::vector<Part> unfixed(Part part) const {
    std::vector<Part> parts{part};
    for (const Part &known : fixed) {
      if (known.quantity != part.quantity)
        continue;
      std::vector<Part> next;
      for (const Part &p : parts) {
        if (known.high <= p.low || known.low >= p.high || !nested(known, p)) {
          next.push_back(p);
          continue;
        }
        if (p.high > known.high)
          next.push_back({p.quantity, known.high, p.high});
        if (p.low < known.low)
          next.push_back({p.quantity, p.low, known.low});
      }
      parts = next;
    }
    return parts;
  }

  /// Whether the edges of two parts divide each other: digits of different radices do not split each other.
  static bool nested(const Part &a, const Part &b) {
    auto divide = [](int64_t x, int64_t y) { return x == kWhole || y == kWhole || x % y == 0 || y % x == 0; };
    return divide(a.low, b.low) && divide(a.low, b.high) && divide(a.high, b.low) && divide(a.high, b.high);
  }

  void markFixed(const Part &part) {
    fixed.push_back(part);
    deduce();
  }

  bool isFixed(const Expr &e) { return unfixed(partOf(e)).empty(); }
  static bool isConstant(const Expr &e) { return e->kind == ExprKind::Constant; }

  /// What follows from what is fixed: an expression of fixed ones is fixed, and of a sum or difference the
  /// third part when two are.
  void deduce() {
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned q = 0; q < quantities.size(); ++q) {
        Expr e = quantities[q];
        if (e->kind == ExprKind::Dim || !e->lhs || !e->rhs)
          continue;
        bool whole = unfixed({q, 1, kWhole}).empty();
        bool lhs = isConstant(e->lhs) || isFixed(e->lhs), rhs = isConstant(e->rhs) || isFixed(e->rhs);
        bool invertible = e->kind == ExprKind::Add || e->kind == ExprKind::Sub || e->kind == ExprKind::Xor;
        auto add = [&](const Part &part) {
          fixed.push_back(part);
          changed = true;
        };
        if (lhs && rhs && !whole)
          add({q, 1, kWhole});
        else if (whole && invertible && lhs != rhs)
          add(partOf(lhs ? e->rhs : e->lhs));
      }
    }
  }

  /// `e` as digits of a quantity.
  Part partOf(const Expr &e) {
    bool isDigit = (e->kind == ExprKind::FloorDiv || e->kind == ExprKind::Mod) && isConstant(e->rhs) &&
                   e->rhs->value >= 1;
    if (isDigit) {
      Part part = partOf(e->lhs);
      int64_t n = e->rhs->value, edge;
      bool fits = !__builtin_mul_overflow(part.low, n, &edge);
      if (e->kind == ExprKind::FloorDiv && fits && edge < kWhole &&
          (part.high == kWhole || (part.high % edge == 0 && edge <= part.high)))
        return {part.quantity, edge, part.high};
      if (e->kind == ExprKind::Mod && fits && (part.high == kWhole || part.high % edge == 0))
        return {part.quantity, part.low, edge};
    }
    return {quantityOf(e), 1, kWhole};
  }

  unsigned quantityOf(const Expr &e) {
    for (unsigned q = 0; q < quantities.size(); ++q)
      if (format::equal(quantities[q], e))
        return q;
    // Its parts are quantities too, so that what is known of them is found.
    quantities.push_back(e);
    unsigned number = unsigned(quantities.size() - 1);
    if (e->lhs && !isConstant(e->lhs))
      (void)partOf(e->lhs);
    if (e->rhs && !isConstant(e->rhs))
      (void)partOf(e->rhs);
    return number;
  }

  std::vector<Expr> quantities;
  std::vector<Part> rest, fixed;
};

/// The expression with `let` variables written out; counters and ranks stay what they are.
Expr writeOut(const Expr &e, std::map<std::string, Expr> &lets) {
  switch (e->kind) {
  case ExprKind::Let:
    lets[e->name] = writeOut(e->lhs, lets);
    return writeOut(e->rhs, lets);
  case ExprKind::Variable: {
    auto found = lets.find(e->name);
    return found == lets.end() ? e : found->second;
  }
  default:
    return e->lhs && e->rhs ? format::binary(e->kind, writeOut(e->lhs, lets), writeOut(e->rhs, lets)) : e;
  }
}

/// An affine expression in the form that encodings are written in: `d1 - d0` is a difference there, and
/// `d1 + d0 * -1` here.
Expr exprOf(mlir::AffineExpr e) {
  using mlir::AffineExprKind;
  if (auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(e))
    return format::constant(constant.getValue());
  if (auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(e))
    return format::dim(dim.getPosition());
  auto binary = mlir::cast<mlir::AffineBinaryOpExpr>(e);
  mlir::AffineExpr left = binary.getLHS(), right = binary.getRHS();
  auto minus = [](mlir::AffineExpr x) -> mlir::AffineExpr {
    auto product = mlir::dyn_cast<mlir::AffineBinaryOpExpr>(x);
    bool negated = product && product.getKind() == AffineExprKind::Mul &&
                   product.getRHS() == mlir::getAffineConstantExpr(-1, x.getContext());
    return negated ? product.getLHS() : mlir::AffineExpr();
  };
  switch (e.getKind()) {
  case AffineExprKind::Add:
    if (mlir::AffineExpr subtracted = minus(right))
      return format::binary(ExprKind::Sub, exprOf(left), exprOf(subtracted));
    if (mlir::AffineExpr subtracted = minus(left))
      return format::binary(ExprKind::Sub, exprOf(right), exprOf(subtracted));
    return format::binary(ExprKind::Add, exprOf(left), exprOf(right));
  case AffineExprKind::Mul:
    return format::binary(ExprKind::Mul, exprOf(left), exprOf(right));
  case AffineExprKind::Mod:
    return format::binary(ExprKind::Mod, exprOf(left), exprOf(right));
  default:
    return format::binary(ExprKind::FloorDiv, exprOf(left), exprOf(right));
  }
}

} // namespace

unsigned Order::sortedLevels(unsigned fixed) const {
  Follower follower(keys);
  for (unsigned l = 0; l < fixed; ++l)
    follower.fix(levels[l]);
  unsigned l = fixed;
  while (l < levels.size() && follower.advance(levels[l]))
    ++l;
  return l - fixed;
}

const format::Encoding &encodingOf(mlir::Value tensor) {
  return dialect::getEncoding(mlir::cast<mlir::RankedTensorType>(tensor.getType())).getValue();
}

std::vector<Expr> dimensionsOf(const std::vector<unsigned> &dims) {
  std::vector<Expr> out;
  for (unsigned d : dims)
    out.push_back(format::dim(d));
  return out;
}

Order makeOrder(std::vector<Expr> keys, const format::Encoding &target, bool unique) {
  Order order{std::move(keys), {}, unique};
  std::map<std::string, Expr> lets;
  for (const format::Level &level : target.levels)
    order.levels.push_back(writeOut(level.expr, lets));
  return order;
}

mlir::Value Stream::leastBound(mlir::OpBuilder &b, mlir::Location loc) const {
  if (!bound || !distinct)
    return bound ? bound : distinct;
  return mlir::arith::MinUIOp::create(b, loc, bound, distinct);
}

static Order orderBy(std::optional<mlir::AffineMap> map, const format::Encoding &target, bool unique) {
  std::vector<Expr> keys;
  if (map)
    for (mlir::AffineExpr e : map->getResults())
      keys.push_back(exprOf(e));
  return makeOrder(std::move(keys), target, unique);
}

Stream streamOf(dialect::AssembleOp op) {
  return {&op.getBody(), op.getBound(), op.getEntries(),
          orderBy(op.getOrder(), dialect::getEncoding(op.getResult().getType()).getValue(), op.getUnique())};
}

Stream streamOf(dialect::EntriesOp op, const format::Encoding &target) {
  return {&op.getBody(), op.getBound(), op.getDistinct(), orderBy(op.getOrder(), target, op.getUnique()),
          int64_t(op.getAligned().value_or(1))};
}

} // namespace tulle::assemble
