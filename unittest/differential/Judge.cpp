#include "Case.h"
#include "Ragged.h"
#include "Schedules.h"
#include "engine/Conversion.h"
#include "engine/Engine.h"
#include "interpreter/Interpreter.h"
#include "notation/Sparsity.h"
#include "support/Errors.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::differential {
namespace {

using interpreter::DenseTensor;
using notation::Program;

double unit(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return 1.0 / 128;
  case ElementType::F16:
    return 1.0 / 1024;
  case ElementType::F32:
  case ElementType::C64:
    return 1e-6;
  default:
    return 1e-13;
  }
}

} // namespace

double tolerance(const Program &program, ElementType type, const DenseTensor &expected) {
  double points = 16, largest = 0, coarsest = unit(type);
  for (const notation::IndexVar &index : program.indices)
    points *= double(std::max<int64_t>(index.size, 1));
  for (const Scalar &s : expected.values)
    if (std::isfinite(std::abs(s.f)))
      largest = std::max(largest, std::abs(s.f));
  // What is stored narrow was computed at least in f32.
  for (const notation::TensorDecl &t : program.tensors)
    coarsest =
        std::max(coarsest,
                 unit(t.type == ElementType::F16 || t.type == ElementType::BF16 ? ElementType::F32 : t.type));
  return 8 * unit(type) * largest + coarsest * (largest + points);
}

namespace {

bool agree(double a, double b, double tolerance) {
  return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= tolerance;
}

bool isFinite(const Scalar &s) { return std::isfinite(s.f.real()) && std::isfinite(s.f.imag()); }

bool agree(ElementType type, const Scalar &a, const Scalar &b, double tolerance) {
  if (isInteger(type) || type == ElementType::Bool)
    return a.i == b.i;
  // Which part of a complex product overflows to what is open: C (ISO 9899, annex G) takes any number with an
  // infinite part as infinite.
  if (isComplex(type) && !isFinite(a) && !isFinite(b))
    return true;
  return agree(a.f.real(), b.f.real(), tolerance) && agree(a.f.imag(), b.f.imag(), tolerance);
}

std::string show(ElementType type, const Scalar &s) {
  if (isInteger(type) || type == ElementType::Bool)
    return std::to_string(s.i);
  return isComplex(type) ? fmt::format("{} + {}i", s.f.real(), s.f.imag()) : fmt::format("{}", s.f.real());
}

/// Whether a result's entries come from the pattern algebra: then none may be stored that it does not know.
/// (The compiler may find out more: that `0 * x` is 0.)
bool isComputed(const Program &program, unsigned t) {
  for (const notation::Statement &s : program.statements)
    if (s.lhs.tensor == t && resultPattern(program, s).kind == notation::PatternKind::Computed)
      return true;
  return false;
}

bool reads(const notation::Expr &e, const std::vector<bool> &tensors) {
  bool found = false;
  forEachAccess(e, [&](const notation::Access &access) { found |= tensors[access.tensor]; });
  return found;
}

/// Per tensor: whether what is stored of it depends on its format, which the interpreter does not know, or on
/// that of another result that it is computed from.
std::vector<bool> findPadded(const Program &program) {
  std::vector<bool> padded(program.tensors.size());
  // What a loop writes, another round of it reads.
  for (size_t pass = 0; pass <= program.loops.size(); ++pass)
    for (const notation::Statement &s : program.statements)
      if (!interpreter::knowsWhatIsStored(program.tensors[s.lhs.tensor].encoding) || reads(s.rhs, padded) ||
          reads(s.where, padded))
        padded[s.lhs.tensor] = true;
  return padded;
}

std::string compare(const Program &program, unsigned t, const DenseTensor &expected,
                    const runtime::Tensor &actual) {
  const notation::TensorDecl &decl = program.tensors[t];
  if (actual.type != expected.type || actual.dims != expected.dims)
    return fmt::format("{} has another type or shape", decl.name);
  runtime::validate(actual);
  DenseTensor got = interpreter::fromTensor(actual);
  double allowed = tolerance(program, expected.type, expected);
  bool computed = !isDense(decl) && isComputed(program, t);
  bool pads = findPadded(program)[t]; // diagonals, rows of equal lengths, …
  for (size_t at = 0; at < expected.values.size(); ++at) {
    bool sameValue = agree(expected.type, expected.values[at], got.values[at], allowed);
    bool mayBeStored = expected.stored[at] == got.stored[at] || (computed && expected.stored[at]) || pads;
    if (sameValue && mayBeStored)
      continue;
    std::vector<int64_t> coords(decl.dims.size());
    int64_t rest = at;
    for (size_t d = coords.size(); d-- > 0;) {
      coords[d] = rest % decl.dims[d];
      rest /= decl.dims[d];
    }
    if (!sameValue)
      return fmt::format("{}({}) is {}, expected {}", decl.name, fmt::join(coords, ","),
                         show(expected.type, got.values[at]), show(expected.type, expected.values[at]));
    return fmt::format("{}({}) is {}stored", decl.name, fmt::join(coords, ","), got.stored[at] ? "" : "not ");
  }
  return {};
}

} // namespace

std::optional<bool> upstreamPasses, lowerLoops;

/// Where all terms of a sum have a factor that is infinite, some are nan (infinity times 0), and the sum
/// times that factor need not be: whether it is multiplied first is defined with `strictFp` alone.
static bool hasInfinities(const Case &c) {
  return std::ranges::any_of(c.inputs, [](const auto &input) {
    return std::ranges::any_of(input.second.values,
                               [](const Scalar &s) { return std::isinf(std::abs(s.f)); });
  });
}

/// Machine code takes most of the time: LLVM's own optimizations are left to one program of eight, and inputs
/// are stored by the same few conversions. Nothing goes to the user's cache.
static engine::Options optionsOf(const Case &c) {
  engine::Options options;
  options.diskCache = false;
  constexpr unsigned lengths[] = {0, 1, 2, 8, 16};
  options.vectorLength = lengths[c.seed / 7 % 5];
  options.wideIndices = c.seed / 35 % 4 == 0;
  options.anySize = c.seed / 2 % 2 == 0;
  options.tail = c.seed / 140 % 4 == 0 ? "mask" : "auto";
  options.quick = c.seed % 8 != 0;
  // Without threads, and with two or several for tensors of any size.
  constexpr unsigned threads[] = {1, 2, 10};
  options.threads = threads[c.seed % 3];
  options.deterministic = c.seed % 5 == 0;
  options.strictFp = hasInfinities(c);
  options.workPerThread = 1;
  // Whatever MLIR moves, merges and drops between two passes changes no answer.
  if (upstreamPasses.value_or(c.seed % 4 == 1))
    options.upstreamPasses = "canonicalize,cse,loop-invariant-code-motion,control-flow-sink,"
                             "loop-invariant-subset-hoisting";
  // Nor does it matter in which order loops over sets become loops over positions.
  if (lowerLoops.value_or(c.seed / 3 % 6 == 1))
    options.lowerFirst = c.seed + 1;
  // Versions of loops for what no cache holds, and for many rows, run on these small tensors.
  if (c.seed / 18 % 3 == 1)
    options.figures = {{"l2", 1},
                       {"resident_bytes", 1},
                       {"sampled_rows", 1},
                       {"prefetch_rows", 3},
                       {"prefetch_wide_rows", 2},
                       {"prefetch_elements", 60}};
  return options;
}

/// The tensor that the slices are cut from: entries of its own lie before them and between their coordinates.
static runtime::Entries around(runtime::Entries entries,
                               const std::vector<std::optional<format::Slice>> &slices) {
  const unsigned width = byteWidth(entries.type);
  auto addAt = [&](size_t e, size_t d, int64_t coordinate) {
    for (size_t other = 0; other < entries.coords.size(); ++other)
      entries.coords[other].push_back(other == d ? coordinate : entries.coords[other][e]);
    for (unsigned byte = 0; byte < width; ++byte)
      entries.values.push_back(entries.values[e * width + byte]);
  };
  for (size_t d = 0; d < slices.size(); ++d) {
    if (!slices[d])
      continue;
    const int64_t offset = *slices[d]->offset, stride = *slices[d]->stride;
    entries.dims[d] = offset + stride * entries.dims[d] + 1;
    for (int64_t &coordinate : entries.coords[d])
      coordinate = offset + stride * coordinate;
    for (size_t e = 0, count = size_t(entries.count()); e < count; ++e) {
      const int64_t coordinate = entries.coords[d][e];
      if (offset > 0 && e % 2 == 0)
        addAt(e, d, offset - 1);
      if (stride > 1 && e % 3 != 1)
        addAt(e, d, coordinate + 1);
    }
  }
  return entries;
}

/// The tensor's values where the pattern stores an entry, and zeros where it has none there.
static runtime::Tensor inStructure(const runtime::Tensor &tensor, const runtime::Tensor &pattern) {
  const format::Encoding encoding = format::likeEncoding(pattern.encoding, unsigned(tensor.dims.size()));
  runtime::Tensor made = runtime::likePattern(pattern, tensor.type, encoding, tensor.dims);
  const runtime::Tensor dense = runtime::toDense(tensor);
  runtime::forEachStored(made, [&](std::span<const int64_t> at, int64_t p) {
    int64_t element = 0;
    for (size_t d = 0; d < at.size(); ++d)
      element = element * tensor.dims[d] + at[d];
    std::memcpy(made.value(p), dense.value(element), byteWidth(tensor.type));
  });
  return made;
}

std::map<std::string, runtime::Tensor> pack(const Case &c) {
  engine::Options options;
  options.diskCache = false;
  options.quick = true;
  options.threads = 1;
  std::map<std::string, runtime::Tensor> tensors;
  for (const auto &[name, given] : c.inputs) {
    runtime::Entries entries;
    entries.type = given.type;
    entries.dims = given.dims;
    entries.coords.resize(given.dims.size());
    unsigned width = byteWidth(given.type);
    entries.values.resize(given.values.size() * width);
    for (size_t e = 0; e < given.values.size(); ++e) {
      for (size_t d = 0; d < given.dims.size(); ++d)
        entries.coords[d].push_back(given.entries[e][d]);
      storeScalar(given.type, entries.values.data() + e * width, given.values[e]);
    }
    if (!given.slices.empty())
      entries = around(std::move(entries), given.slices);
    if (!given.lengths.empty())
      entries = within(entries, given.lengths);
    tensors[name] = engine::store(entries, format::parseFormat(given.format, given.dims.size()), options);
    for (unsigned d = 0; d < given.slices.size(); ++d)
      if (const auto &s = given.slices[d])
        tensors[name] = runtime::slice(tensors[name], d, *s->offset, *s->size, *s->stride);
  }
  for (const auto &[name, pattern] : c.likes)
    if (tensors.count(name))
      tensors[name] = inStructure(tensors[name], tensors.at(pattern));
  return tensors;
}

notation::Program checked(const Case &c, const std::map<std::string, runtime::Tensor> &inputs) {
  std::map<std::string, notation::Binding> bindings;
  for (const auto &[name, tensor] : inputs)
    bindings[name] = {tensor.type, tensor.dims, tensor.encoding, true, tensor.storedCount()};
  for (const auto &[name, result] : c.results) {
    notation::Binding &b = bindings[name];
    b.type = result.type;
    b.dims = result.dims;
    if (!result.format.empty())
      b.encoding = format::parseFormat(result.format, result.dims.size());
  }
  // Inputs that the statements left after shrinking do not use.
  notation::Likes likes;
  for (const notation::TensorUse &use : notation::tensorsUsed(c.text()))
    if (auto like = c.likes.find(use.name); like != c.likes.end()) {
      likes.insert(*like);
      bindings[use.name].like = like->second;
    }
  std::map<std::string, notation::Binding> used;
  for (const notation::TensorUse &use : notation::tensorsUsed(c.text(), likes))
    if (auto it = bindings.find(use.name); it != bindings.end())
      used.insert(*it);
  return notation::check(c.text(), used);
}

/// With the schedule, or, where the passes refuse that, without.
static std::shared_ptr<engine::Executable> compiled(const Program &program, const Program &unscheduled,
                                                    const std::string &schedule,
                                                    const engine::Options &options) {
  if (schedule.empty())
    return engine::compile(program, options);
  ++scheduleTally.tried;
  try {
    return engine::compile(program, options);
  } catch (const support::SyntaxError &) {
    ++scheduleTally.refused;
    return engine::compile(unscheduled, options);
  }
}

Meaning interpret(const Case &c) {
  const std::map<std::string, runtime::Tensor> inputs = pack(c);
  Meaning made;
  made.program = checked(c, inputs);
  checkLengths(c, made.program, inputs);
  if (c.seed % 2) // intermediate tensors are wanted, too
    for (notation::TensorDecl &tensor : made.program.tensors)
      tensor.result = tensor.written;
  made.expected.resize(made.program.tensors.size());
  made.tensors.resize(made.program.tensors.size());
  for (size_t t = 0; t < made.tensors.size(); ++t)
    if (made.program.tensors[t].input) {
      made.tensors[t] = inputs.at(made.program.tensors[t].name);
      made.expected[t] = interpreter::fromTensor(*made.tensors[t]);
    }
  interpreter::run(made.program, made.expected);
  return made;
}

/// Runs it on the data, and compares all results.
static Verdict runAndCompare(engine::Executable &executable, const Program &program, Meaning &meaning) {
  auto &tensors = meaning.tensors;
  try {
    tensors.resize(executable.program().tensors.size()); // and those that the schedule has added
    executable.run(tensors);
  } catch (const Error &error) {
    return {Verdict::Kind::Refused, error.what()};
  } catch (const std::exception &error) {
    return {Verdict::Kind::Differs, fmt::format("internal error: {}", error.what())};
  }
  for (size_t t = 0; t < meaning.expected.size(); ++t)
    if (program.tensors[t].result) {
      std::string difference;
      try {
        difference = compare(program, t, meaning.expected[t], *tensors[t]);
      } catch (const std::exception &error) {
        difference = fmt::format("result is not valid: {}", error.what());
      }
      if (!difference.empty())
        return {Verdict::Kind::Differs, difference};
    }
  return {};
}

Verdict judge(const Case &c) {
  Meaning meaning;
  try {
    meaning = interpret(c);
  } catch (const Error &error) {
    return {Verdict::Kind::Skipped, error.what()};
  }
  Program program = meaning.program;
  const std::string schedule =
      c.seed / 11 % 3 == 0 ? scheduleRandomly(program, Random(c.seed * 16 + 0x5c4e)) : std::string();
  const std::string with = schedule.empty() ? "" : fmt::format("with the schedule {}: ", schedule);
  std::shared_ptr<engine::Executable> executable;
  try {
    executable = compiled(program, meaning.program, schedule, optionsOf(c));
  } catch (const Error &error) {
    return {Verdict::Kind::Refused, with + error.what()};
  } catch (const std::exception &error) {
    return {Verdict::Kind::Differs, fmt::format("{}internal error: {}", with, error.what())};
  }
  Verdict verdict = runAndCompare(*executable, program, meaning);
  verdict.message = verdict.message.empty() ? "" : with + verdict.message;
  return verdict;
}

/// Whether the compiler refuses the program as it is.
static bool isRefused(const Program &program, const engine::Options &options) {
  return !reasonOf([&] { engine::compile(program, options); }).empty();
}

Verdict judge(const Case &c, const std::string &schedule, unsigned threads) {
  Meaning meaning;
  try {
    meaning = interpret(c);
  } catch (const Error &error) {
    return {Verdict::Kind::Skipped, error.what()};
  }
  engine::Options options;
  options.diskCache = false;
  options.quick = true;
  options.threads = threads;
  options.workPerThread = 1;
  options.vectorLength = c.seed / 2 % 3 == 0 ? 4 : 0;
  options.deterministic = c.seed / 6 % 4 == 0;
  options.strictFp = hasInfinities(c);
  Program program = meaning.program;
  std::shared_ptr<engine::Executable> executable;
  try {
    notation::applySchedule(program, schedule, engine::strategyNames(), "--schedule");
    executable = engine::compile(program, options);
  } catch (const Error &error) {
    using enum Verdict::Kind;
    const bool pointsThere = std::string_view(error.what()).starts_with("--schedule:");
    return {pointsThere ? Refused : isRefused(meaning.program, options) ? Skipped : Differs, error.what()};
  } catch (const std::exception &error) {
    return {Verdict::Kind::Differs, fmt::format("internal error: {}", error.what())};
  }
  return runAndCompare(*executable, program, meaning);
}

std::optional<double> compileTime(const Case &c) {
  engine::Options options;
  options.diskCache = false;
  options.threads = 1;
  auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
  };
  try {
    const Program program = checked(c, pack(c));
    const double start = now();
    engine::compile(program, options);
    return now() - start;
  } catch (const Error &) {
    return std::nullopt;
  }
}

} // namespace tulle::differential
