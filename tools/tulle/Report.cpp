#include "Report.h"
#include "interpreter/Interpreter.h"
#include "runtime/tensor/Levels.h"
#include "tulle/error.h"
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>

namespace tulle::cli {

using notation::Expr;
using notation::Op;
using notation::Program;
using notation::Statement;

static std::string scalarText(ElementType type, const Scalar &value) {
  if (isComplex(type))
    return fmt::format("{}{:+}i", value.f.real(), value.f.imag());
  return isFloat(type) ? fmt::format("{}", value.f.real()) : fmt::format("{}", value.i);
}

std::string summarize(const std::string &name, const runtime::Tensor &tensor) {
  constexpr int64_t shown = 6;
  std::string text =
      fmt::format("{}: {} [{}], {}, {} stored:", name, tulle::name(tensor.type), fmt::join(tensor.dims, "x"),
                  format::displayName(tensor.encoding), tensor.storedCount());
  const runtime::StoredValues values(tensor);
  for (int64_t i = 0; i < std::min(shown, tensor.storedCount()); ++i)
    text += " " + scalarText(tensor.type, loadScalar(tensor.type, values[i]));
  return text + (tensor.storedCount() > shown ? " …" : "");
}

/// Arithmetic operations and tensors read in an expression.
static void survey(const Expr &expr, int &operations, std::vector<const notation::Access *> &accesses) {
  if (expr->op == Op::Access)
    accesses.push_back(&expr->access);
  else if (expr->op != Op::Literal && expr->op != Op::Convert)
    ++operations;
  for (const Expr &arg : expr->args)
    survey(arg, operations, accesses);
}

static double countStatement(const Program &program, const Statement &statement,
                             const std::vector<int64_t> &entries) {
  int operations = 0;
  std::vector<const notation::Access *> accesses;
  survey(statement.rhs, operations, accesses);
  operations += !statement.assign;
  std::set<unsigned> used;
  auto note = [&](const notation::Access &access) {
    for (const notation::Affine &subscript : access.subscripts)
      for (auto [index, coefficient] : subscript.terms)
        used.insert(index);
  };
  note(statement.lhs);
  for (const notation::Access *access : accesses)
    note(*access);
  auto iterations = [&](const std::set<unsigned> &skipped, double begin) {
    for (unsigned index : used)
      if (!skipped.count(index))
        begin *= double(program.indices[index].size);
    return begin;
  };
  // The sparse operand that leaves the fewest iterations bounds them all.
  double fewest = iterations({}, 1);
  for (const notation::Access *access : accesses) {
    if (entries[access->tensor] < 0 || format::isAllDense(program.tensors[access->tensor].encoding))
      continue;
    std::set<unsigned> bound;
    for (const notation::Affine &subscript : access->subscripts)
      if (subscript.isVariable())
        bound.insert(subscript.terms[0].first);
    fewest = std::min(fewest, iterations(bound, double(entries[access->tensor])));
  }
  return fewest * operations;
}

double countOperations(const Program &program, const std::vector<int64_t> &entries) {
  double total = 0;
  for (const Statement &statement : program.statements)
    total += countStatement(program, statement, entries);
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
    throw Error(fmt::format("--check: {}({}) is {}, but {} says {}", name, fmt::join(at, ","),
                            scalarText(want.type, found), whose, scalarText(want.type, wanted)));
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

void checkAgainstInterpreter(const LoadedProgram &loaded, const Tensors &results) {
  constexpr double most = 3e8;
  const Program &program = loaded.program;
  for (const Statement &statement : program.statements)
    if (double dense = countStatement(program, statement, std::vector<int64_t>(program.tensors.size(), -1));
        dense > most)
      throw Error(fmt::format(
          "--check: the dense interpreter would do {:.2g} operations, more than {:.2g}; check with "
          "smaller tensors",
          dense, most));
  std::vector<interpreter::DenseTensor> dense(program.tensors.size());
  for (size_t t = 0; t < dense.size(); ++t)
    if (loaded.tensors[t])
      dense[t] = input(program.tensors[t].name, *loaded.given[t], *loaded.tensors[t]);
  interpreter::run(program, dense);
  for (size_t t = 0; t < dense.size(); ++t)
    if (program.tensors[t].written)
      compare(program.tensors[t].name, dense[t], interpreter::fromTensor(runtime::toDense(*results[t])),
              "the dense interpreter");
}

} // namespace tulle::cli
