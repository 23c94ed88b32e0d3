// Running a kernel: results and conversions are made, arguments checked and laid out in slots, statements
// called in order.
#include "engine/Call.h"
#include "engine/Conversion.h"
#include "engine/Split.h"
#include "notation/Loops.h"
#include "notation/Sparsity.h"
#include "support/Errors.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <list>

namespace tulle::engine {

using notation::TensorDecl;
using runtime::Buffer;
using runtime::Tensor;

bool sameStorage(const format::Encoding &a, const format::Encoding &b) {
  if (!format::isAllDense(a) || !format::isAllDense(b) ||
      (a.posWidth == b.posWidth && a.crdWidth == b.crdWidth))
    return a == b;
  format::Encoding alike = a;
  alike.posWidth = b.posWidth;
  alike.crdWidth = b.crdWidth;
  return alike == b;
}

bool isRowMajor(const format::Encoding &encoding) {
  bool all = encoding.levels.size() == encoding.order() && !encoding.fill && !encoding.explicitVal &&
             !encoding.implicitVal && !format::hasSlices(encoding);
  for (unsigned l = 0; all && l < encoding.levels.size(); ++l) {
    const format::Level &level = encoding.levels[l];
    all = level.format.kind == format::LevelKind::Dense && level.expr->kind == format::ExprKind::Dim &&
          level.expr->value == l;
  }
  return all;
}

std::optional<unsigned> operandWithPattern(const notation::Program &program, unsigned statement) {
  const notation::ResultPattern pattern = notation::resultPattern(program, program.statements[statement]);
  return pattern.kind == notation::PatternKind::Operand ? std::optional(pattern.operand->tensor)
                                                        : std::nullopt;
}

namespace {

/// One run: tensors in the formats the statements want them in, so that none is converted twice.
class Run {
public:
  Run(const notation::Program &program, const Kernel &kernel, std::vector<std::optional<Tensor>> &tensors,
      const Options &options, RunReport &report)
      : program(program), kernel(kernel), tensors(tensors), options(options), report(report),
        converted(tensors.size()) {}

  void all() {
    checkInputs();
    makeParts();
    for (unsigned t = 0; t < program.tensors.size(); ++t)
      if (program.tensors[t].input && program.tensors[t].written && tensors[t])
        tensors[t] = withOwnValues(*tensors[t]); // the caller's data stays as it is
    report.computeMs = 0;
    report.mostBytes = 0;
    report.iterations.assign(kernel.loops.size(), 0);
    auto step = [&](unsigned s) {
      if (report.isInterrupted && report.isInterrupted())
        throw Interrupted();
      const CallReport of = statement(s);
      report.computeMs += of.ms;
      report.mostBytes = std::max(report.mostBytes, of.mostBytes);
      kept.clear();
    };
    notation::runSteps(kernel.loops, 0, unsigned(kernel.statements.size()), step,
                       [&](const notation::Loop &loop) { return goesOn(loop); });
  }

private:
  const notation::Program &program;
  const Kernel &kernel;
  std::vector<std::optional<Tensor>> &tensors;
  const Options &options; ///< of conversions, too
  RunReport &report;
  bool stopped = false;                                 ///< whoever is asked after a round has had enough
  std::vector<std::map<std::string, Tensor>> converted; ///< per tensor, by encoding
  std::list<Tensor> kept;                               ///< old values of what was replaced

  /// Whether a loop runs again, after a round of it.
  bool goesOn(const notation::Loop &loop) {
    ++report.iterations[size_t(&loop - kernel.loops.data())];
    stopped = stopped || (report.goesOn && !report.goesOn(report.iterations));
    return !stopped && !(loop.until && loadScalar(ElementType::Bool, tensors[*loop.until]->values()).i);
  }

  void checkInputs() {
    if (tensors.size() != program.tensors.size())
      throwError("the program has {} tensors, got {}", program.tensors.size(), tensors.size());
    for (unsigned t = 0; t < tensors.size(); ++t) {
      const TensorDecl &decl = program.tensors[t];
      if (tensors[t])
        check(decl, *tensors[t]);
      else if (decl.input && !isPart(t))
        throwError("tensor '{}' is an input of the program, but no data was given for it", decl.name);
    }
    for (unsigned t : needWhole())
      tensors[t] = compact(*tensors[t], options);
    for (unsigned t = 0; t < tensors.size(); ++t)
      if (program.tensors[t].input && program.tensors[t].like)
        shareStructure(t, *program.tensors[t].like);
  }

  /// Tensors whose rows are picked, where a value is written for each of their entries.
  std::vector<unsigned> needWhole() const {
    std::vector<unsigned> found;
    auto add = [&](unsigned t) {
      if (tensors[t] && tensors[t]->pickedSlots)
        found.push_back(t);
    };
    for (const TensorDecl &decl : program.tensors)
      if (decl.like)
        add(*decl.like);
    for (const CompiledStatement &code : kernel.statements)
      for (const Argument &argument : code.arguments)
        if (argument.result && !format::isAllDense(argument.encoding)) {
          add(argument.tensor);
          // Of a result that is no tensor in memory, an earlier statement's is asked for.
          std::optional<unsigned> pattern = argument.tensor;
          for (unsigned s = argument.statement + 1; pattern && s-- > 0;)
            if (program.statements[s].lhs.tensor == *pattern &&
                (s == argument.statement || !tensors[*pattern]))
              pattern = operandWithPattern(program, s);
          if (pattern)
            add(*pattern);
        }
    return found;
  }

  bool isPart(unsigned t) const {
    return std::ranges::any_of(program.decompositions, [&](const notation::Decomposition &d) {
      return std::ranges::count(d.tensors, t) > 0;
    });
  }

  /// Splits what is decomposed, where an earlier run has not; a part may itself be.
  void makeParts() {
    for (const notation::Decomposition &decomposition : program.decompositions) {
      if (std::ranges::all_of(decomposition.tensors, [&](unsigned t) { return tensors[t].has_value(); }))
        continue;
      notation::Decomposition wanted = decomposition;
      for (size_t p = 0; p < wanted.parts.size(); ++p)
        wanted.parts[p].format = program.tensors[wanted.tensors[p]].encoding;
      std::vector<Tensor> parts =
          split(*tensors[wanted.tensor], wanted, {program.schedule, program.scheduleName},
                program.tensors[wanted.tensor].name, options);
      for (size_t p = 0; p < parts.size(); ++p)
        tensors[wanted.tensors[p]] = std::move(parts[p]);
    }
  }

  void shareStructure(unsigned t, unsigned pattern) {
    const std::string &name = program.tensors[t].name, &other = program.tensors[pattern].name;
    if (!format::sharesStructure(tensors[t]->encoding, tensors[pattern]->encoding))
      throwError("tensor '{}' is stored as {}, but it is like '{}', stored as {}", name,
                 format::print(tensors[t]->encoding), other, format::print(tensors[pattern]->encoding));
    try {
      tensors[t] = runtime::shareStructure(*tensors[t], *tensors[pattern]);
    } catch (const Error &error) {
      throwError("tensor '{}' does not have the structure of '{}': {}", name, other, error.what());
    }
  }

  static void check(const TensorDecl &decl, const Tensor &tensor) {
    if (tensor.dims != decl.dims)
      throwError("tensor '{}' has dimensions [{}], but the program was compiled for [{}]", decl.name,
                 fmt::join(tensor.dims, ","), fmt::join(decl.dims, ","));
    if (tensor.type != decl.type)
      throwError("tensor '{}' holds {}, but the program was compiled for {}", decl.name, name(tensor.type),
                 name(decl.type));
  }

  Tensor withOwnValues(const Tensor &tensor) const {
    if (tensor.pickedSlots)
      return compact(tensor, options);
    Tensor copy = tensor;
    copy.buffers.back() = Buffer::copyOf(tensor.buffers.back(), "a copy of the result's start value");
    return copy;
  }

  /// The tensor in `encoding`: as it is, or converted once; `whole`: the one it was cut from.
  const Tensor &in(unsigned t, const format::Encoding &encoding, bool whole = false) {
    if (!tensors[t])
      throw InternalError(fmt::format("tensor '{}' is read before it is computed", program.tensors[t].name));
    const Tensor &stored = whole ? wholeOf(t) : *tensors[t];
    if (sameStorage(stored.encoding, encoding))
      return stored;
    auto [it, isNew] = converted[t].try_emplace((whole ? "whole " : "") + format::print(encoding));
    if (isNew)
      it->second = engine::convert(stored, encoding, options);
    // Code reads buffers of exactly these widths.
    if (!sameStorage(it->second.encoding, encoding))
      throw InternalError(fmt::format("tensor '{}' was converted to {}, but {} is needed",
                                      program.tensors[t].name, format::print(it->second.encoding),
                                      format::print(encoding)));
    return it->second;
  }

  const Tensor &wholeOf(unsigned t) {
    auto [it, isNew] = converted[t].try_emplace("whole");
    if (!isNew)
      return it->second;
    it->second = runtime::whole(*tensors[t]);
    if (coordinatesFit32(program) && !options.wideIndices && !indicesFit32(it->second.dims))
      throwError("'{}' is a slice of a tensor of sizes {}, and the code reads 32-bit indices; convert it to "
                 "a format without slices first",
                 program.tensors[t].name, fmt::join(it->second.dims, " x "));
    return it->second;
  }

  /// The tensor a statement writes: what the caller gave, or an earlier statement left, if it has the
  /// right format.
  Tensor &result(const CompiledStatement &code, const Argument &argument) {
    const unsigned statement = argument.statement;
    std::optional<Tensor> &slot = tensors[argument.tensor];
    const TensorDecl &decl = program.tensors[argument.tensor];
    const notation::Statement &source = program.statements[statement];
    bool sparse = !format::isAllDense(argument.encoding);
    if (source.accumulate) {
      if (!slot)
        throw InternalError(fmt::format("'{}' accumulates into nothing", decl.name));
      if (!sameStorage(slot->encoding, argument.encoding))
        slot = engine::convert(*slot, argument.encoding, options);
    } else if (sparse) {
      const Tensor &like = withStructure(patternOf(statement), argument.encoding, code);
      if (!slot || !isReusable(*slot, decl, argument.encoding, like))
        slot = runtime::likePattern(like, decl.type, argument.encoding, decl.dims,
                                    !isAssignedWhole(argument.encoding, like));
    } else if (!slot) {
      slot = dense(decl, argument.encoding);
    } else if (!sameStorage(slot->encoding, argument.encoding)) { // the code may read what it replaces
      slot = engine::convert(*slot, argument.encoding, options);
    } else if (isAliased(slot->buffers.back())) {
      slot = withOwnValues(*slot);
    }
    converted[argument.tensor].clear(); // copies of the old value
    return *slot;
  }

  /// The tensor that has the pattern of a statement's result: its operand, or what that in turn has the
  /// pattern of, where it is no tensor in memory.
  unsigned patternOf(unsigned statement) const {
    const std::optional<unsigned> pattern = operandWithPattern(program, statement);
    if (!pattern)
      throw InternalError(fmt::format("the pattern of statement {} is not one operand's", statement));
    const unsigned operand = *pattern;
    for (unsigned s = statement; !tensors[operand] && s-- > 0;)
      if (program.statements[s].lhs.tensor == operand)
        return patternOf(s);
    return operand;
  }

  /// Whether another tensor has this memory, too: what a result of an earlier run was converted to.
  static bool isAliased(const Buffer &buffer) { return buffer.own && buffer.owner.use_count() > 1; }

  /// The tensor as it is, where the result can have its structure, else converted: to what the code reads
  /// where the result has outer levels only.
  const Tensor &withStructure(unsigned t, const format::Encoding &encoding, const CompiledStatement &code) {
    if (tensors[t] && format::sharesStructure(encoding, tensors[t]->encoding))
      return *tensors[t];
    if (encoding.order() < program.tensors[t].dims.size())
      for (const Argument &argument : code.arguments)
        if (argument.tensor == t && !argument.result)
          return in(t, argument.encoding);
    return in(t, encoding);
  }

  /// Whether a result of an earlier run has this structure, by identity, and can be overwritten.
  static bool isReusable(const Tensor &slot, const TensorDecl &decl, const format::Encoding &encoding,
                         const Tensor &like) {
    return slot.encoding == encoding && slot.dims == decl.dims && runtime::hasBuffersOf(slot, like) &&
           slot.values() != like.values() && !isAliased(slot.buffers.back());
  }

  /// Whether a statement without an accumulation writes all of the result's memory: of padding it knows
  /// nothing, nor of what a slice was cut from.
  static bool isAssignedWhole(const format::Encoding &encoding, const Tensor &like) {
    return format::hasNoPadding(encoding) && format::hasNoPadding(like.encoding) && like.wholeDims.empty();
  }

  Tensor dense(const TensorDecl &decl, const format::Encoding &encoding) const {
    if (isRowMajor(encoding))
      return runtime::makeDense(decl.type, decl.dims, /*zeroed=*/false);
    return store({decl.type, decl.dims, std::vector<std::vector<int64_t>>(decl.dims.size()), {}}, encoding,
                 options);
  }

  static bool overlap(const Buffer &a, const Buffer &b) {
    auto *aBegin = static_cast<const char *>(a.data), *bBegin = static_cast<const char *>(b.data);
    return a.bytes > 0 && b.bytes > 0 && std::less<>()(aBegin, bBegin + b.bytes) &&
           std::less<>()(bBegin, aBegin + a.bytes);
  }

  CallReport statement(unsigned number) {
    const CompiledStatement &code = kernel.statements[number];
    std::vector<const Tensor *> arguments;
    arguments.reserve(code.arguments.size());
    std::vector<size_t> results; ///< arguments, by the statement that writes them
    for (const Argument &argument : code.arguments) {
      if (argument.result)
        results.push_back(arguments.size());
      arguments.push_back(argument.result   ? nullptr
                          : argument.number ? &*tensors[argument.tensor]
                                            : &in(argument.tensor, argument.encoding, argument.whole));
    }
    std::sort(results.begin(), results.end(),
              [&](size_t a, size_t b) { return code.arguments[a].statement < code.arguments[b].statement; });
    for (size_t r : results)
      place(code, arguments, r);
    return call(code, arguments);
  }

  /// The new tensors take the place of what had their names, and the memory of what the code does not read.
  CallReport call(const CompiledStatement &code, const std::vector<const Tensor *> &arguments) {
    std::vector<Tensor> made;
    for (const MadeTensor &m : code.made)
      made.emplace_back(m.encoding, program.tensors[m.tensor].type, program.tensors[m.tensor].dims);
    std::vector<CallResult> results;
    for (size_t k = 0; k < made.size(); ++k)
      results.push_back({program.tensors[code.made[k].tensor].name, &made[k]});
    if (results.empty())
      results.push_back({program.tensors[code.tensor].name});
    for (const MadeTensor &m : code.made)
      if (std::ranges::none_of(code.arguments, [&](const Argument &a) { return a.tensor == m.tensor; }))
        tensors[m.tensor].reset();
    ThreadSettings threads = threadSettings(options);
    threads.isInterrupted = report.isInterrupted ? &report.isInterrupted : nullptr;
    const CallReport called = engine::call(code, arguments, results, threads);
    for (size_t k = 0; k < made.size(); ++k) {
      const unsigned t = code.made[k].tensor;
      tensors[t] = std::move(made[k]);
      converted[t].clear(); // copies of the old value
    }
    return called;
  }

  /// Gives a result its memory. It may replace an operand, whose old value is what the right-hand side means.
  void place(const CompiledStatement &code, std::vector<const Tensor *> &arguments, size_t r) {
    auto keep = [&](size_t k, Tensor tensor) { arguments[k] = &kept.emplace_back(std::move(tensor)); };
    for (size_t k = 0; k < arguments.size(); ++k)
      if (arguments[k] && code.arguments[k].tensor == code.arguments[r].tensor)
        keep(k, *arguments[k]);
    Tensor &out = result(code, code.arguments[r]);
    for (size_t k = 0; k < arguments.size(); ++k)
      if (arguments[k] && overlap(arguments[k]->buffers.back(), out.buffers.back()))
        keep(k, withOwnValues(*arguments[k])); // generated code takes buffers to be distinct
    arguments[r] = &out;
  }
};

} // namespace

const std::vector<std::string> &Executable::remarks() const { return kernel->remarks; }

void Executable::run(std::vector<std::optional<Tensor>> &tensors, RunReport *report) const {
  RunReport unread;
  Run(checked, *kernel, tensors, options, report ? *report : unread).all();
  for (size_t t = 0; t < tensors.size(); ++t)
    if (const notation::TensorDecl &decl = checked.tensors[t]; decl.withoutValues && tensors[t])
      tensors[t] = convert(*tensors[t], *decl.withoutValues, options);
}

} // namespace tulle::engine
