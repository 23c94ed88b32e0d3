// An index at whose digits a dense result of another statement is read becomes these digits: `v(l) = C(l /
// 64, l % 64)` has the loops of C, and fuses with them, where a loop over l would divide at each element. So
// does one of which a sparse tensor has some digits: `v(l) = A(l / 64) * x(l)` is `v(64*a + b) = A(a) *
// x(64*a + b)`, whose loop over a follows A.
// (RFC on structured codegen beyond rectangular arrays: fusion through reshapes.)
#include "notation/SplitDigits.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <span>

namespace tulle::notation {
namespace {

/// The digits of one index, coarsest first, as indices of their own.
class Digits {
public:
  /// Nothing where the subscripts of the statement are no digits of one number system, or no more than one.
  static std::optional<Digits> of(const Program &program, const Statement &statement, unsigned index) {
    Digits made(index, program.indices[index].size);
    std::set<int64_t> cuts{1};
    bool any = false;
    forEachSubscriptOf(statement, [&](const Affine &s) {
      if (!s.isDigit() || s.terms[0].first != index)
        return;
      any = true;
      if (s.divisor < made.size)
        cuts.insert(s.divisor);
      if (s.modulus != 0 && s.modulus <= made.size / s.divisor) // else the product may not fit 64 bits
        cuts.insert(s.divisor * s.modulus);
    });
    cuts.erase(cuts.lower_bound(made.size), cuts.end());
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
      const int64_t end = std::next(cut) == cuts.end() ? made.size : *std::next(cut);
      if (end % *cut != 0)
        return std::nullopt;
      made.places.insert(made.places.begin(), {*cut, end / *cut, 0});
    }
    bool fits = any && made.places.size() > 1;
    forEachSubscriptOf(statement, [&](const Affine &s) { fits &= made.canReplace(s); });
    for (const Access *access : operandsOf(statement))
      fits = fits && made.areWhole(program, *access);
    return fits ? std::optional(made) : std::nullopt;
  }

  void declare(Program &program) {
    for (Place &place : places) {
      place.index = unsigned(program.indices.size());
      std::string name = program.indices[index].name;
      name += place.stride == 1 ? "" : fmt::format("/{}", place.stride);
      name += &place == places.data() ? "" : fmt::format("%{}", place.count);
      program.indices.push_back({name, place.count});
    }
  }

  /// The elements that have the same digits but for the finest one, which is that of consecutive ones.
  int64_t rowSize() const { return places.back().count; }
  /// The loops over all digits but the finest.
  std::vector<std::string> rowLoops(const Program &program) const {
    std::vector<std::string> names;
    for (const Place &place : std::span(places).first(places.size() - 1))
      names.push_back(program.indices[place.index].name);
    return names;
  }

  Statement replaced(Statement s) const {
    replace(s.lhs);
    s.rhs = replaced(s.rhs);
    s.where = replaced(s.where);
    if (const auto at = std::ranges::find(s.reductionIndices, index); at != s.reductionIndices.end()) {
      const auto next = s.reductionIndices.erase(at);
      std::vector<unsigned> own;
      for (const Place &place : places)
        own.push_back(place.index);
      s.reductionIndices.insert(next, own.begin(), own.end());
    }
    return s;
  }

private:
  struct Place {
    int64_t stride, count;
    unsigned index;
  };
  unsigned index;
  int64_t size;
  std::vector<Place> places;

  Digits(unsigned index, int64_t size) : index(index), size(size) {}

  template <class Visit> static void forEachSubscriptOf(const Statement &s, const Visit &visit) {
    std::ranges::for_each(s.lhs.subscripts, visit);
    forEachSubscript(s.rhs, visit);
    forEachSubscript(s.where, visit);
  }

  bool has(const Affine &s) const {
    return std::ranges::any_of(s.terms, [&](const auto &term) { return term.first == index; });
  }
  bool canReplace(const Affine &s) const {
    return !has(s) || (!s.limit && (!s.isDigit() || placeOf(s) != places.end()));
  }
  /// Whether digits run over all of the dimensions at which they are read: a loop has one size.
  bool areWhole(const Program &program, const Access &access) const {
    const std::vector<int64_t> &dims = program.tensors[access.tensor].dims;
    for (size_t d = 0; d < access.subscripts.size(); ++d)
      if (const Affine &s = access.subscripts[d]; s.isDigit() && has(s) && placeOf(s)->count != dims[d])
        return false;
    return true;
  }
  std::vector<Place>::const_iterator placeOf(const Affine &digit) const {
    return std::ranges::find_if(places, [&](const Place &place) {
      const bool isHighest = &place == places.data();
      return place.stride == digit.divisor &&
             (digit.modulus == place.count ||
              (isHighest && (digit.modulus == 0 || digit.modulus > place.count)));
    });
  }

  void replace(Access &access) const {
    for (Affine &s : access.subscripts)
      s = replaced(s);
  }
  Affine replaced(const Affine &s) const {
    if (!has(s))
      return s;
    Affine made = s;
    made.terms.clear();
    made.divisor = 1;
    made.modulus = 0;
    if (s.isDigit()) {
      made.terms = {{placeOf(s)->index, 1}};
      return made;
    }
    for (const auto &[other, factor] : s.terms)
      if (other != index)
        made.terms.emplace_back(other, factor);
      else
        for (const Place &place : places)
          made.terms.emplace_back(place.index, factor * place.stride);
    return made;
  }
  Expr replaced(const Expr &expr) const {
    if (!expr)
      return expr;
    ExprNode node = *expr;
    replace(node.access);
    for (Expr &arg : node.args)
      arg = replaced(arg);
    return std::make_shared<const ExprNode>(std::move(node));
  }
};

/// Whether a primitive of the schedule names the index as a loop.
bool isScheduled(const Statement &s, const std::string &name) {
  auto in = [&](const std::vector<std::string> &loops) { return std::ranges::count(loops, name) > 0; };
  return in(s.loops.order) ||
         std::ranges::count(s.loops.strategies, name, &LoopSchedule::Strategy::loop) > 0 ||
         std::ranges::count(s.loops.directives, name, &LoopSchedule::Directive::loop) > 0 ||
         std::ranges::count(s.loops.bounds, name, &LoopSchedule::Bound::index) > 0 ||
         std::ranges::any_of(s.loops.derived, in, &LoopSchedule::Derived::from);
}

/// The indices at whose digits the statement reads what the test says.
std::set<unsigned> indicesOfDigits(const Statement &s, const std::function<bool(const Access &)> &isMeant) {
  std::set<unsigned> found;
  for (const Access *access : operandsOf(s))
    for (const Affine &subscript : access->subscripts)
      if (subscript.isDigit() && isMeant(*access))
        found.insert(subscript.terms[0].first);
  return found;
}

/// Those at whose digits sparse tensors are read, which would have no levels for the index.
std::set<unsigned> splitIndices(const Program &program, const Statement &s) {
  return indicesOfDigits(s, [&](const Access &access) { return readsAsDigits(program, access); });
}

/// Whether the format has levels for parts of a dimension.
bool hasBlocks(const format::Encoding &encoding) {
  const std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
  return !digits || std::ranges::any_of(*digits, [](const format::Digit &digit) {
    return digit.stride != 1 || digit.modulus != 0;
  });
}

/// Whether the left side can be a sum of digits, which are none of the result's own.
bool hasPlainResult(const Program &program, const Statement &s) {
  const TensorDecl &result = program.tensors[s.lhs.tensor];
  return s.indirections.empty() && s.concat.isNone() && !s.part && isDense(result) &&
         !hasBlocks(result.encoding);
}

/// A tile of fewer elements is less than vectors hold.
constexpr int64_t smallTile = 64;

/// Whether the statement has loops of its own over dense tensors, which may be those of another one.
bool isDenseThroughout(const Program &program, const Statement &s) {
  return hasPlainResult(program, s) && !s.accumulate &&
         std::ranges::all_of(operandsOf(s), [&](const Access *a) {
           return isDense(program.tensors[a->tensor]) && !hasDigits(*a);
         });
}

/// Where the statement is split into small tiles of an index in which others are computed, and the schedule
/// says nothing else of these loops: the split. Elements of different tiles do not depend on each other, and
/// whole rows of what is read at digits are done as vectors that need no memory, where a tile is a part of
/// one.
const LoopSchedule::Derived *smallTilesOf(const Program &program, const Statement &s, const std::string &name,
                                          const Digits &digits) {
  const auto split = std::ranges::find_if(s.loops.derived, [&](const LoopSchedule::Derived &derived) {
    return derived.kind == LoopSchedule::Derived::Split && derived.from == std::vector{name};
  });
  if (split == s.loops.derived.end() || split->size >= std::min(smallTile, digits.rowSize()))
    return nullptr;
  Statement others = s;
  others.loops.derived.erase(others.loops.derived.begin() + (split - s.loops.derived.begin()));
  if (s.loops.order == split->into)
    others.loops.order.clear();
  if (isScheduled(others, name) || isScheduled(others, split->into[0]) || isScheduled(others, split->into[1]))
    return nullptr;
  bool any = false;
  for (const Statement &producer : program.statements) {
    if (!producer.loops.place || std::ranges::count(producer.loops.place->loops, split->into[0]) == 0)
      continue;
    if (producer.loops.place->loops.size() != 1 || !isDenseThroughout(program, producer))
      return nullptr;
    any = true;
  }
  return any ? &*split : nullptr;
}

/// The statement without such a split; what was computed in its tiles is computed for each row.
void useRows(Program &program, Statement &s, const LoopSchedule::Derived &split, const Digits &digits) {
  for (Statement &producer : program.statements)
    if (producer.loops.place && producer.loops.place->loops == std::vector{split.into[0]})
      producer.loops.place->loops = digits.rowLoops(program);
  if (s.loops.order == split.into)
    s.loops.order.clear();
  s.loops.derived.erase(s.loops.derived.begin() + (&split - s.loops.derived.data()));
}

/// Those at whose digits it reads results of others before it, and need not be loops.
std::set<unsigned> candidates(const Program &program, const Statement &s, const std::vector<bool> &written) {
  auto isSparse = [&](const Access *access) { return !isDense(program.tensors[access->tensor]); };
  if (!hasPlainResult(program, s) || std::ranges::any_of(operandsOf(s), isSparse))
    return {};
  std::set<unsigned> found = indicesOfDigits(s, [&](const Access &access) { return written[access.tensor]; });
  std::erase_if(found, [&](unsigned index) {
    const std::string &name = program.indices[index].name;
    const std::optional<Digits> digits = Digits::of(program, s, index);
    return isScheduled(s, name) && !(digits && smallTilesOf(program, s, name, *digits));
  });
  return found;
}

} // namespace

bool readsAsDigits(const Program &program, const Access &access) {
  const TensorDecl &tensor = program.tensors[access.tensor];
  if (!hasDigits(access) || isDense(tensor))
    return false;
  const Reshape reshape = reshapeOf(access);
  return !format::reshaped(tensor.encoding, reshape.digits, unsigned(reshape.subscripts.size()));
}

bool canSplitDigits(const Program &program, const Statement &statement) {
  const std::set<unsigned> split = splitIndices(program, statement);
  return split.empty() ||
         (hasPlainResult(program, statement) && std::ranges::all_of(split, [&](unsigned index) {
            return Digits::of(program, statement, index).has_value();
          }));
}

Program splitDigits(Program program) {
  std::vector<bool> written(program.tensors.size());
  for (Statement &s : program.statements) {
    std::set<unsigned> split = splitIndices(program, s);
    for (unsigned index : split)
      if (const std::string &name = program.indices[index].name; isScheduled(s, name))
        throw support::SyntaxError(
            "<expr>", program.text, s.range,
            fmt::format(
                "the schedule names the loop over '{0}', but a sparse tensor is read at digits of '{0}' "
                "that are loops of their own; leave it out, or make that tensor dense",
                name));
    split.merge(candidates(program, s, written));
    for (const unsigned index : split)
      if (std::optional<Digits> digits = Digits::of(program, s, index)) {
        const LoopSchedule::Derived *tiles = smallTilesOf(program, s, program.indices[index].name, *digits);
        digits->declare(program);
        if (tiles)
          useRows(program, s, *tiles, *digits);
        s = digits->replaced(s);
      }
    written[s.lhs.tensor] = true;
  }
  return program;
}

} // namespace tulle::notation
