// Counts a statement's operations where every point of its loops does them all, and compares each element of
// a result with the interpreter's.
#include "Report.h"
#include "interpreter/Interpreter.h"
#include "notation/Sparsity.h"
#include "runtime/tensor/Elements.h"
#include "runtime/tensor/LevelShapes.h"
#include "support/Errors.h"
#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <iterator>
#include <set>

namespace tulle::cli {

using notation::Expr;
using notation::Op;
using notation::Program;
using notation::Statement;

/// Of a set, what it holds says more than its values.
static std::string firstCoordinates(const runtime::Tensor &tensor, int64_t shown) {
  std::string text;
  int64_t count = 0;
  runtime::forEachStored(tensor, [&](std::span<const int64_t> at, int64_t) {
    if (++count <= shown)
      text += at.size() == 1 ? fmt::format(" {}", at[0]) : fmt::format(" ({})", fmt::join(at, ","));
  });
  return text + (count > shown ? " …" : "");
}

std::string summarize(const std::string &name, const runtime::Tensor &tensor) {
  constexpr int64_t shown = 6;
  std::string text =
      fmt::format("{}: {} [{}], {}, {} stored:", name, tulle::name(tensor.type), fmt::join(tensor.dims, "x"),
                  format::displayName(tensor.encoding), tensor.storedCount());
  if (tensor.type == ElementType::Bool && !format::isAllDense(tensor.encoding))
    return text + firstCoordinates(tensor, shown);
  const runtime::StoredValues values(tensor);
  for (int64_t i = 0; i < std::min(shown, tensor.storedCount()); ++i)
    text += " " + runtime::scalarText(tensor.type, loadScalar(tensor.type, values[i]));
  return text + (tensor.storedCount() > shown ? " …" : "");
}

/// Arithmetic operations and tensors read in an expression.
static void survey(const Expr &expr, int &operations, std::vector<const notation::Access *> &accesses) {
  if (expr->op == Op::Access)
    accesses.push_back(&expr->access);
  else if (!expr->args.empty() && expr->op != Op::Convert && expr->op != Op::Neg)
    ++operations;
  for (const Expr &arg : expr->args)
    survey(arg, operations, accesses);
}

static std::set<unsigned> indicesOf(const notation::Access &access) {
  std::set<unsigned> used;
  for (const notation::Affine &subscript : access.subscripts)
    for (auto [index, coefficient] : subscript.terms)
      used.insert(index);
  return used;
}

static std::set<unsigned> indicesOf(const Expr &expr) {
  std::set<unsigned> used;
  notation::forEachSubscript(expr, [&](const notation::Affine &subscript) {
    for (auto [index, coefficient] : subscript.terms)
      used.insert(index);
  });
  return used;
}

static std::set<unsigned> indicesOf(const Statement &statement) {
  std::set<unsigned> used = indicesOf(statement.rhs);
  used.merge(indicesOf(statement.lhs));
  return used;
}

static double points(const Program &program, const std::set<unsigned> &indices) {
  double count = 1;
  for (unsigned index : indices)
    count *= double(program.indices[index].size);
  return count;
}

/// Whether each arithmetic operation is done at each point of the loops: on floating point numbers, with
/// operands for every index, so that loops further out cannot do it, nor a sum its factors.
static bool atEveryPoint(const Expr &expr, const std::set<unsigned> &indices,
                         const std::vector<unsigned> &summed) {
  if (!isFloat(expr->type))
    return false;
  if (expr->args.empty()) {
    const std::set<unsigned> own = indicesOf(expr);
    return std::all_of(summed.begin(), summed.end(), [&](unsigned index) { return own.count(index); });
  }
  if (expr->op != Op::Convert && expr->op != Op::Neg && indicesOf(expr) != indices)
    return false;
  return std::all_of(expr->args.begin(), expr->args.end(),
                     [&](const Expr &arg) { return atEveryPoint(arg, indices, summed); });
}

/// Entries of an operand that a statement's loops iterate; nothing where other values of it may come in
/// between.
static std::optional<int64_t> iteratedEntries(const Program &program, unsigned t,
                                              const std::vector<int64_t> &entries, const Tensors &results) {
  auto writes = [t](const Statement &statement) { return statement.lhs.tensor == t; };
  if (std::count_if(program.statements.begin(), program.statements.end(), writes) > (entries[t] < 0))
    return std::nullopt;
  if (!results[t]) { // it passed in registers
    auto writer = std::find_if(program.statements.begin(), program.statements.end(), writes);
    if (writer == program.statements.end())
      return std::nullopt;
    notation::ResultPattern pattern = notation::resultPattern(program, *writer);
    return pattern.kind == notation::PatternKind::Operand
               ? iteratedEntries(program, pattern.operand->tensor, entries, results)
               : std::nullopt;
  }
  if (format::hasSlices(results[t]->encoding))
    return std::nullopt;
  int64_t stored = results[t]->storedCount();
  return entries[t] < 0 ? stored : std::min(entries[t], stored);
}

static std::optional<double> countStatement(const Program &program, const Statement &statement,
                                            const std::vector<int64_t> &entries, const Tensors &results) {
  int operations = !statement.assign;
  std::vector<const notation::Access *> accesses;
  survey(statement.rhs, operations, accesses);
  const std::set<unsigned> indices = indicesOf(statement);
  if (operations == 0)
    return 0;
  if (statement.where || !atEveryPoint(statement.rhs, indices, statement.reductionIndices))
    return std::nullopt;
  const notation::Access *iterated = nullptr;
  for (size_t k = 0; k < accesses.size(); ++k) {
    // What is read twice is computed with once.
    for (size_t other = 0; other < k; ++other)
      if (notation::sameAccess(*accesses[k], *accesses[other]))
        return std::nullopt;
    if (notation::isDense(program.tensors[accesses[k]->tensor]))
      continue;
    if (iterated)
      return std::nullopt; // what both store, or either, is for the loops to find out
    iterated = accesses[k];
  }
  if (!iterated)
    return points(program, indices) * operations;
  const std::set<unsigned> own = indicesOf(*iterated);
  const bool plain = own.size() == iterated->subscripts.size() &&
                     std::all_of(iterated->subscripts.begin(), iterated->subscripts.end(),
                                 [](const notation::Affine &subscript) { return subscript.isVariable(); });
  const bool iterates = plain && notation::isNeutral(program, statement, [&](const notation::Access &access) {
                          return access.tensor == iterated->tensor;
                        });
  std::optional<int64_t> count = iteratedEntries(program, iterated->tensor, entries, results);
  if (!iterates || !count)
    return std::nullopt;
  std::set<unsigned> others;
  std::set_difference(indices.begin(), indices.end(), own.begin(), own.end(),
                      std::inserter(others, others.end()));
  return double(*count) * points(program, others) * operations;
}

std::optional<double> countOperations(const Program &program, const std::vector<int64_t> &entries,
                                      const Tensors &results) {
  if (!program.loops.empty())
    return std::nullopt;
  double total = 0;
  for (const Statement &statement : program.statements) {
    std::optional<double> own = countStatement(program, statement, entries, results);
    if (!own)
      return std::nullopt;
    total += *own;
  }
  return total;
}

/// Relative error allowed for a type: a few thousand roundings, but no less than what one rounding needs.
static double tolerance(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::C128:
    return 1e-12;
  case ElementType::F32:
  case ElementType::C64:
    return 1e-4;
  case ElementType::F16:
    return 2e-2;
  case ElementType::BF16:
    return 1e-1;
  default:
    return 0;
  }
}

/// `whose` says what `want` is, for the message.
static void compare(const std::string &name, const interpreter::DenseTensor &want,
                    const interpreter::DenseTensor &got, std::string_view whose) {
  const bool exact = !isFloat(want.type) && !isComplex(want.type);
  double scale = 0;
  for (const Scalar &value : want.values)
    if (!exact && std::isfinite(std::abs(value.f)))
      scale = std::max(scale, std::abs(value.f));
  for (size_t i = 0; i < want.values.size(); ++i) {
    const Scalar &found = got.values[i], &wanted = want.values[i];
    bool same = exact ? found.i == wanted.i
                      : found.f == wanted.f ||
                            (std::isnan(std::abs(found.f)) && std::isnan(std::abs(wanted.f))) ||
                            std::abs(found.f - wanted.f) <= tolerance(want.type) * scale;
    if (same)
      continue;
    std::vector<int64_t> at(want.dims.size());
    for (size_t d = at.size(), rest = i; d-- > 0; rest /= want.dims[d])
      at[d] = rest % want.dims[d];
    throwError("--check: {}({}) is {}, but {} says {}", name, fmt::join(at, ","),
               runtime::scalarText(want.type, found), whose, runtime::scalarText(want.type, wanted));
  }
}

/// The entries at the coordinates that the tensor's slices show.
static runtime::Entries shown(const runtime::Entries &given, const runtime::Tensor &stored) {
  if (stored.wholeDims.empty())
    return given;
  runtime::Entries out;
  out.type = given.type;
  out.dims = stored.dims;
  out.coords.resize(out.dims.size());
  const size_t width = byteWidth(given.type);
  std::vector<int64_t> at(out.dims.size());
  for (size_t e = 0; e < size_t(given.count()); ++e) {
    for (size_t d = 0; d < at.size(); ++d)
      at[d] = given.coords[d][e];
    if (!runtime::toSlice(stored, at))
      continue;
    for (size_t d = 0; d < at.size(); ++d)
      out.coords[d].push_back(at[d]);
    const std::byte *value = given.values.data() + e * width;
    out.values.insert(out.values.end(), value, value + width);
  }
  return out;
}

/// An input as it was given. What its format stores besides (zeros of blocks) is stored, too.
static interpreter::DenseTensor input(const std::string &name, const runtime::Entries &given,
                                      const runtime::Tensor &stored) {
  interpreter::DenseTensor want =
      interpreter::fromEntries(shown(given, stored), format::fillValue(stored.encoding, stored.type));
  compare(fmt::format("storing {} as {}: {}", name, format::displayName(stored.encoding), name), want,
          interpreter::fromTensor(runtime::toDense(stored)), "what was given");
  want.stored = interpreter::fromTensor(stored).stored;
  return want;
}

/// How often a statement ran.
static double runsOf(const Program &program, unsigned statement, const std::vector<int64_t> &iterations) {
  int64_t runs = 1;
  for (size_t l = 0; l < program.loops.size(); ++l) // the innermost around it comes last
    if (program.loops[l].begin <= statement && statement < program.loops[l].end)
      runs = iterations[l];
  return double(runs);
}

void checkAgainstInterpreter(const LoadedProgram &loaded, const Tensors &results,
                             const std::vector<int64_t> &iterations) {
  constexpr double most = 3e8;
  const Program &program = loaded.unscheduled;
  for (unsigned s = 0; s < program.statements.size(); ++s) {
    const Statement &statement = program.statements[s];
    int operations = !statement.assign;
    std::vector<const notation::Access *> accesses;
    survey(statement.rhs, operations, accesses);
    if (double dense = points(program, indicesOf(statement)) * operations * runsOf(program, s, iterations);
        dense > most)
      throwError("--check: the dense interpreter would do {:.2g} operations, more than {:.2g}; check with "
                 "smaller tensors",
                 dense, most);
  }
  std::vector<interpreter::DenseTensor> dense(program.tensors.size());
  for (size_t t = 0; t < dense.size(); ++t)
    if (loaded.tensors[t])
      dense[t] = input(program.tensors[t].name, *loaded.given[t], *loaded.tensors[t]);
  interpreter::run(program, dense);
  for (size_t t = 0; t < dense.size(); ++t)
    if (loaded.program.tensors[t].result)
      compare(program.tensors[t].name, dense[t], interpreter::fromTensor(runtime::toDense(*results[t])),
              "the dense interpreter");
}

} // namespace tulle::cli
