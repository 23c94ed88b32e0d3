// One loop per index around one evaluation per point; an absent operand may decide the value alone.
#include "interpreter/Interpreter.h"
#include "notation/Arithmetic.h"
#include "notation/Loops.h"
#include "notation/Sparsity.h"
#include "runtime/tensor/Elements.h"
#include "support/Errors.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <span>

namespace tulle::interpreter {
namespace {

using notation::Access;
using notation::Affine;
using notation::Expr;
using notation::ExprNode;
using notation::Indirection;
using notation::Op;
using notation::Program;
using notation::Statement;

int64_t elements(const std::vector<int64_t> &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies());
}

/// The row-major position of an element, by its coordinate in each dimension.
template <class CoordinateOf>
int64_t linear(const std::vector<int64_t> &dims, const CoordinateOf &coordinateOf) {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    at = at * dims[d] + coordinateOf(d);
  return at;
}

using format::LevelKind;
using Coordinates = std::vector<int64_t>;

/// The inverse of `linear`.
Coordinates coordinatesOf(const std::vector<int64_t> &dims, size_t at) {
  Coordinates found(dims.size());
  for (size_t d = dims.size(); d-- > 0; at /= size_t(dims[d]))
    found[d] = int64_t(at) % dims[d];
  return found;
}

/// Rows that are full up to their last entry.
bool isRagged(LevelKind kind) { return kind == LevelKind::Ragged || kind == LevelKind::Jagged; }

/// Storage that follows from where entries are, level by level.
bool isPlain(const format::Encoding &encoding) {
  return format::digits(encoding) && std::ranges::all_of(encoding.levels, [](const format::Level &level) {
           const bool known = level.format.kind <= LevelKind::Structured || isRagged(level.format.kind);
           return known && level.format.ordered && !level.format.padded;
         });
}

/// What a format stores besides the entries that it is given, level by level.
class StoredBlocks {
public:
  StoredBlocks(DenseTensor &tensor, const format::Encoding &encoding)
      : tensor(tensor), encoding(encoding), digits(*format::digits(encoding)) {}

  void store() {
    std::vector<Coordinates> entries;
    for (size_t at = 0; at < tensor.values.size(); ++at)
      if (tensor.stored[at])
        entries.push_back(coordinatesOf(tensor.dims, at));
    descend(0, Coordinates(tensor.dims.size(), 0), entries);
  }

private:
  /// The entries below a position, which begins at these coordinates, and what is stored with them.
  void descend(unsigned l, const Coordinates &begin, const std::vector<Coordinates> &entries) {
    for (size_t d = 0; d < begin.size(); ++d)
      if (begin[d] >= tensor.dims[d])
        return; // a block reaches beyond the tensor
    if (l == encoding.levels.size()) {
      tensor.stored[size_t(linear(tensor.dims, [&](size_t d) { return begin[d]; }))] = true;
      return;
    }
    const format::Digit &digit = digits[l];
    std::map<int64_t, std::vector<Coordinates>> below;
    for (const Coordinates &entry : entries) {
      const int64_t c = entry[digit.dim] / digit.stride;
      below[digit.modulus ? c % digit.modulus : c].push_back(entry);
    }
    addStored(l, below);
    for (const auto &[coordinate, found] : below) {
      Coordinates first = begin;
      first[digit.dim] += coordinate * digit.stride;
      descend(l + 1, first, found);
    }
  }

  /// Coordinates that a level has below a parent without an entry.
  void addStored(unsigned l, std::map<int64_t, std::vector<Coordinates>> &below) const {
    const format::LevelFormat &format = encoding.levels[l].format;
    int64_t end = 0; // of those that are all stored
    if (format::isFull(format))
      end = format::levelSize(digits[l], tensor.dims);
    else if (isRagged(format.kind) && !below.empty())
      end = below.rbegin()->first;
    for (int64_t c = 0; c < end; ++c)
      below.try_emplace(c);
    if (format.kind != LevelKind::Structured)
      return;
    const size_t most = size_t(format.n);
    const int64_t rest = format::levelSize({digits[l].dim, digits[l].stride, 0}, tensor.dims) % format.m;
    if (rest != 0 && rest < format.n)
      throwError("level {} of {} stores {} coordinates in a group, and the last one has {}", l,
                 format::displayName(encoding), most, rest);
    if (below.size() > most)
      throwError("level {} of {} holds {} entries in a group, one has {}", l, format::displayName(encoding),
                 most, below.size());
    for (int64_t free = 0; below.size() < most; ++free)
      below.try_emplace(free);
  }

  DenseTensor &tensor;
  const format::Encoding &encoding;
  std::vector<format::Digit> digits;
};

/// Storage of which each level has all coordinates, or those that entries have there: below the same parent,
/// or (squeezed) anywhere. Coordinates follow from those of the dimensions.
bool followsFromCoordinates(const format::Encoding &encoding) {
  return encoding.symbols.empty() && std::ranges::all_of(encoding.levels, [](const format::Level &level) {
           const LevelKind kind = level.format.kind;
           const bool known = kind <= LevelKind::Singleton || kind == LevelKind::Squeezed ||
                              kind == LevelKind::Offset || kind == LevelKind::Hashed ||
                              kind == LevelKind::Bitmap;
           return known && !level.format.padded && !format::contains(level.expr, format::ExprKind::Rank) &&
                  !format::contains(level.expr, format::ExprKind::Counter);
         });
}

/// What such a format stores: an element whose coordinates each level has.
void storeByCoordinates(DenseTensor &tensor, const format::Encoding &encoding) {
  std::vector<unsigned> levels; // that do not have all coordinates
  for (unsigned l = 0; l < encoding.levels.size(); ++l)
    if (const format::LevelFormat &level = encoding.levels[l].format;
        !format::isFull(level) && level.kind != LevelKind::Offset)
      levels.push_back(l);
  const auto levelCoordinates = [&](size_t at) {
    const Coordinates coordinates = coordinatesOf(tensor.dims, at);
    format::Bindings bindings;
    Coordinates found;
    for (const format::Level &level : encoding.levels)
      found.push_back(format::evaluate(level.expr, coordinates, found, bindings).value());
    return found;
  };
  const auto key = [&](const Coordinates &coordinates, unsigned l) {
    const auto begin =
        coordinates.begin() + (encoding.levels[l].format.kind == LevelKind::Squeezed ? std::ptrdiff_t(l) : 0);
    return Coordinates(begin, coordinates.begin() + std::ptrdiff_t(l) + 1);
  };
  std::vector<std::set<Coordinates>> keys(encoding.levels.size());
  for (size_t at = 0; at < tensor.values.size(); ++at)
    if (tensor.stored[at])
      for (const Coordinates coordinates = levelCoordinates(at); unsigned l : levels)
        keys[l].insert(key(coordinates, l));
  for (size_t at = 0; at < tensor.values.size(); ++at)
    if (!tensor.stored[at]) {
      const Coordinates coordinates = levelCoordinates(at);
      tensor.stored[at] =
          std::ranges::all_of(levels, [&](unsigned l) { return keys[l].contains(key(coordinates, l)); });
    }
}

/// Formats that store whole blocks store all elements below a stored coordinate of their last sparse level,
/// diagonals all of theirs, and a group of structured[n,m] has n: those become stored, with the values they
/// have (the fill). Throws Error where a group has more. Formats that choose positions of their own (rows of
/// equal lengths, windows, …) are left alone.
void storeBlocks(DenseTensor &tensor, const format::Encoding &encoding) {
  if (isPlain(encoding))
    StoredBlocks(tensor, encoding).store();
  else if (followsFromCoordinates(encoding))
    storeByCoordinates(tensor, encoding);
}

/// One statement over the whole space of its indices.
class Evaluation {
public:
  Evaluation(const Program &program, const Statement &statement, std::vector<DenseTensor> &tensors)
      : program(program), statement(statement), tensors(tensors), point(program.indices.size()) {
    for (const Affine &a : statement.lhs.subscripts)
      if (!a.terms.empty() &&
          std::ranges::count(statement.indirections, a.terms[0].first, &Indirection::index) == 0)
        loops.push_back(a.terms[0].first);
    loops.insert(loops.end(), statement.reductionIndices.begin(), statement.reductionIndices.end());
  }

  void run() {
    start();
    for (const Indirection &given : statement.indirections)
      checkValues(given), checkDistinct(given);
    if (statement.concat.isWhole())
      concatenate();
    else
      loop(0);
    finish();
  }

private:
  const Program &program;
  const Statement &statement;
  std::vector<DenseTensor> &tensors;
  std::vector<unsigned> loops;   ///< index variables, outermost first
  std::vector<int64_t> point;    ///< the current value of every index variable
  DenseTensor old;               ///< the result before the statement, where that reads it
  std::vector<bool> contributed; ///< of the result: some contribution that is not neutral
  bool keepsFill = false;        ///< where the result is not stored, nothing changes it
  const notation::AccessTest stored = [this](const Access &a) {
    return bool(operand(a.tensor).stored[position(a)]);
  };
  const std::function<std::optional<bool>(const notation::Expr &)> isTrue = [this](const notation::Expr &e) {
    return std::optional(evaluate(e).i != 0);
  };
  const notation::AccessTest unstored = [this](const Access &a) { return !stored(a); };

  DenseTensor &result() { return tensors[statement.lhs.tensor]; }

  const DenseTensor &operand(unsigned tensor) const {
    return tensor == statement.lhs.tensor ? old : tensors[tensor];
  }

  bool isSparse() const { return !isDense(program.tensors[statement.lhs.tensor]); }

  void start() {
    const notation::TensorDecl &decl = program.tensors[statement.lhs.tensor];
    DenseTensor &r = result();
    int64_t count = elements(decl.dims);
    for (const Access *access : accesses(statement))
      if (access->tensor == statement.lhs.tensor)
        old = r;
    const bool goesOn = statement.accumulate || (statement.part && r.dims == decl.dims);
    if (!goesOn) {
      r = {decl.type, decl.dims, {}, std::vector<bool>(count, false)};
      Scalar unset = isSparse() ? format::fillValue(decl.encoding, decl.type) : Scalar{};
      r.values.assign(count, statement.assign ? unset : notation::identity(statement.reduce, decl.type));
    }
    contributed.assign(count, false);
    keepsFill = statement.accumulate && isSparse() &&
                absorbs(statement.reduce, decl.type, format::fillValue(decl.encoding, decl.type));
  }

  /// Whether the reduction leaves a value as it is, whatever it is combined with.
  static bool absorbs(notation::Reduce reduce, ElementType type, const Scalar &value) {
    switch (reduce) {
    case notation::Reduce::Mul:
    case notation::Reduce::And:
      return notation::sameValue(type, value, {});
    case notation::Reduce::Or:
      return notation::sameValue(type, value, notation::identity(notation::Reduce::And, type));
    case notation::Reduce::Add:
      return isFloat(type) && std::isinf(value.f.real());
    default:
      return false;
    }
  }

  void concatenate() {
    for (size_t p = 0; p < statement.concat.parts.size(); ++p) {
      const Access &part = statement.concat.parts[p];
      const DenseTensor &from = tensors[part.tensor];
      std::vector<int64_t> begin;
      for (unsigned d = 0; d < result().dims.size(); ++d)
        begin.push_back(offsetsOf(program, statement.concat, d)[p]);
      for (size_t at = 0; at < from.values.size(); ++at) {
        if (!from.stored[at])
          continue;
        Coordinates own = coordinatesOf(from.dims, at);
        if (statement.concat.stacks)
          own.insert(own.begin() + statement.concat.dims[0], 0);
        const int64_t to = linear(result().dims, [&](size_t d) { return begin[d] + own[d]; });
        result().values[to] = notation::convert(from.values[at], from.type, statement.rhs->type);
        contributed[to] = true;
      }
    }
  }

  void loop(unsigned depth) {
    if (depth == loops.size())
      return contribute();
    int64_t &index = point[loops[depth]];
    for (index = 0; index < program.indices[loops[depth]].size; ++index)
      loop(depth + 1);
  }

  /// Where nothing is read at some coordinate, the others of the tensor have to be right all the same.
  void checkValues(const Indirection &given) const {
    const notation::IndexVar &index = program.indices[given.index];
    if (index.outside == notation::Outside::Nothing ||
        (index.outside == notation::Outside::Nearest && index.size > 0))
      return;
    const DenseTensor &integers = operand(given.source.tensor);
    for (size_t at = 0; at < integers.values.size(); ++at) {
      const int64_t coordinate = shifted(integers.values[at].i, given);
      if ((coordinate < 0 || coordinate >= index.size) &&
          mayRead(given.source, coordinatesOf(integers.dims, at)))
        throwError("{} is {}, outside of 0 .. {}", index.name, coordinate, index.size - 1);
    }
  }

  /// Each coordinate is given once at most.
  void checkDistinct(const Indirection &given) const {
    const notation::IndexVar &index = program.indices[given.index];
    if (!index.unique)
      return;
    const DenseTensor &integers = operand(given.source.tensor);
    std::set<int64_t> seen;
    for (size_t at = 0; at < integers.values.size(); ++at) {
      const int64_t coordinate = shifted(integers.values[at].i, given);
      if (coordinate >= 0 && coordinate < index.size &&
          mayRead(given.source, coordinatesOf(integers.dims, at)) && !seen.insert(coordinate).second)
        throwError("{} is {} twice", index.name, coordinate);
    }
  }

  /// Whether the coordinates are those of the access where that has constants.
  static bool mayRead(const Access &access, const Coordinates &at) {
    for (size_t d = 0; d < at.size(); ++d)
      if (access.subscripts[d].isConstant() && access.subscripts[d].constant != at[d])
        return false;
    return true;
  }

  /// What is beyond 64 bits is no coordinate, whatever it wraps to.
  static int64_t shifted(int64_t integer, const Indirection &given) {
    return int64_t(uint64_t(integer) + uint64_t(given.shift));
  }

  /// Reads the indices that tensors give; false where one lies outside.
  bool giveIndices() {
    for (const Indirection &given : statement.indirections) {
      const notation::IndexVar &index = program.indices[given.index];
      const int64_t integer = evaluate(given.source).i, value = shifted(integer, given);
      const bool inside = value >= 0 && value < index.size;
      if (!inside && index.outside == notation::Outside::Nothing)
        return false;
      point[given.index] = inside ? value : integer < -given.shift ? 0 : index.size - 1;
    }
    return true;
  }

  void contribute() {
    if (!giveIndices())
      return;
    if (statement.where && !*admits(statement.where, stored, isTrue))
      return;
    int64_t at = position(statement.lhs);
    if (keepsFill && !result().stored[at])
      return; // an absent factor is an absorbing element, also where it is the result's old value
    Scalar value = evaluate(statement.rhs);
    Scalar &target = result().values[at];
    target =
        statement.assign ? value : notation::combine(statement.reduce, statement.rhs->type, target, value);
    if (!isNeutral(program, statement, unstored))
      contributed[at] = true;
  }

  /// Rounds to the element type, and decides what is stored.
  void finish() {
    DenseTensor &r = result();
    const notation::TensorDecl &decl = program.tensors[statement.lhs.tensor];
    notation::ResultPattern pattern = resultPattern(program, statement);
    bool likeOperand = isSparse() && pattern.kind == notation::PatternKind::Operand;
    for (size_t at = 0; at < r.values.size(); ++at) {
      r.values[at] = notation::rounded(r.values[at], r.type);
      r.stored[at] = !isSparse() || (likeOperand ? isStoredIn(operand(pattern.operand->tensor), r, at)
                                                 : r.stored[at] || contributed[at]);
      if (!r.stored[at])
        r.values[at] = format::fillValue(decl.encoding, decl.type);
    }
    const bool hasOuterLevels = likeOperand && pattern.operand->subscripts.size() > decl.dims.size();
    if (isSparse() && (!likeOperand || hasOuterLevels))
      storeBlocks(r, decl.encoding);
  }

  /// Whether the pattern of a tensor, which has its first dimensions, or all and further ones, stores
  /// something at an element.
  static bool isStoredIn(const DenseTensor &pattern, const DenseTensor &tensor, size_t at) {
    const size_t own = tensor.values.size(), other = pattern.stored.size();
    if (other <= own)
      return other > 0 && pattern.stored[at / (own / other)];
    const size_t below = other / own;
    const auto first = pattern.stored.begin() + std::ptrdiff_t(at * below);
    return std::find(first, first + std::ptrdiff_t(below), true) != first + std::ptrdiff_t(below);
  }

  int64_t position(const Access &access) const {
    return linear(program.tensors[access.tensor].dims,
                  [&](size_t d) { return coordinate(access.subscripts[d]); });
  }

  int64_t coordinate(const Affine &subscript) const {
    int64_t sum = subscript.constant;
    for (const auto &[index, coefficient] : subscript.terms)
      sum += coefficient * point[index];
    if (!subscript.isDigit()) // a division takes longer than all else here
      return sum;
    sum /= subscript.divisor;
    return subscript.modulus ? sum % subscript.modulus : sum;
  }

  const Scalar &evaluate(const Access &access) const {
    return operand(access.tensor).values[position(access)];
  }

  /// An absent operand may decide the value alone: as an absorbing element (annihilator) even of inf and nan.
  Scalar evaluate(const Expr &expr) const {
    const ExprNode &node = *expr;
    if (node.op == Op::Literal)
      return node.literal;
    if (auto implied = impliedValue(program, expr, unstored))
      return *implied;
    if (node.op == Op::Index)
      return {coordinate(node.access.subscripts[0]), 0};
    if (node.op == Op::Access)
      return evaluate(node.access);
    if (node.op == Op::Select)
      return evaluate(node.args[evaluate(node.args[0]).i ? 1 : 2]);
    std::vector<Scalar> args;
    for (const Expr &arg : node.args)
      args.push_back(evaluate(arg));
    ElementType operands = node.args[0]->type;
    return node.op == Op::Convert ? notation::convert(args[0], operands, node.type)
                                  : apply(node.op, operands, args);
  }
};

} // namespace

bool knowsWhatIsStored(const format::Encoding &encoding) {
  return isPlain(encoding) || followsFromCoordinates(encoding);
}

DenseTensor fromTensor(const runtime::Tensor &tensor) {
  int64_t count = elements(tensor.dims);
  bool dense = format::isAllDense(tensor.encoding);
  DenseTensor result = {tensor.type, tensor.dims,
                        std::vector<Scalar>(count, format::fillValue(tensor.encoding, tensor.type)),
                        std::vector<bool>(count, dense)};
  const runtime::StoredValues values(tensor);
  runtime::forEachStored(tensor, [&](std::span<const int64_t> coords, int64_t value) {
    const int64_t at = linear(tensor.dims, [&](size_t d) { return coords[d]; });
    result.values[at] = loadScalar(tensor.type, values[value]);
    result.stored[at] = true;
  });
  return result;
}

DenseTensor fromEntries(const runtime::Entries &entries, const Scalar &fill) {
  const size_t count = size_t(elements(entries.dims)), width = byteWidth(entries.type);
  DenseTensor result = {entries.type, entries.dims, std::vector<Scalar>(count, fill),
                        std::vector<bool>(count, false)};
  for (size_t e = 0; e < size_t(entries.count()); ++e) {
    const int64_t at = linear(entries.dims, [&](size_t d) { return int64_t(entries.coords[d][e]); });
    std::byte sum[16];
    std::memcpy(sum, entries.values.data() + e * width, width);
    if (result.stored[at]) {
      std::byte before[16];
      storeScalar(entries.type, before, result.values[at]);
      runtime::addScalar(entries.type, sum, before);
    }
    result.values[at] = loadScalar(entries.type, sum);
    result.stored[at] = true;
  }
  return result;
}

void run(const Program &program, std::vector<DenseTensor> &tensors) {
  tensors.resize(program.tensors.size());
  auto step = [&](unsigned s) { Evaluation(program, program.statements[s], tensors).run(); };
  auto again = [&](const notation::Loop &loop) {
    return !loop.until || tensors[*loop.until].values.front().i == 0;
  };
  notation::runSteps(program.loops, 0, unsigned(program.statements.size()), step, again);
}

} // namespace tulle::interpreter
