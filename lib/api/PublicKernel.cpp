// tulle::Kernel: calls a compiled program; for other sizes its machine code is taken from the cache.
#include "Impl.h"
#include "engine/CompareLengths.h"
#include "engine/Engine.h"
#include "engine/ExplainPage.h"
#include "notation/Program.h"
#include "support/Errors.h"
#include "tulle/kernel.h"
#include <algorithm>
#include <cstring>
#include <fmt/ranges.h>
#include <list>
#include <mutex>

namespace tulle {

using detail::Access;

struct detail::KernelImpl {
  std::string text, schedule;
  std::map<std::string, TensorType> types;
  CompileOptions given;
  std::map<std::string, notation::Binding> bindings;
  engine::Options options;
  std::vector<std::string> asked; ///< results that the user asked for
  std::shared_ptr<engine::Executable> executable;
  std::vector<std::string> inputs, results;          ///< results in the order in which they are last written
  std::vector<unsigned> inputTensors, resultTensors; ///< of the program

  std::shared_ptr<engine::Executable> build(const std::map<std::string, notation::Binding> &bindings) const;
  void nameTensors();
  /// The code for inputs of these sizes, and widths where the format that was named leaves them open.
  std::shared_ptr<engine::Executable> forInputs(const std::vector<const AnyTensor *> &given);
  std::vector<AnyTensor> run(const std::vector<const AnyTensor *> &given, RunReport *report,
                             const std::vector<const AnyTensor *> &outputs);

private:
  /// What of an input is free: the code for it may differ.
  struct Input {
    std::vector<int64_t> dims;
    format::Encoding encoding; ///< of the named format, with this tensor's widths
  };

  notation::Binding bindingFor(const std::string &name, const runtime::Tensor &tensor) const;

  /// Executables by all inputs, the latest first: checking a program takes longer than many a run.
  static constexpr size_t kMostVersions = 8;
  std::mutex mutex;
  std::list<std::pair<std::vector<Input>, std::shared_ptr<engine::Executable>>> versions;
};

std::shared_ptr<engine::Executable>
detail::KernelImpl::build(const std::map<std::string, notation::Binding> &bindings) const {
  notation::Program program = notation::check(text, bindings);
  notation::applySchedule(program, schedule, engine::strategyNames());
  notation::addResults(program, asked);
  notation::resolveWidths(program);
  return engine::compile(program, options);
}

/// Gives operands without sizes some that fit each other, for choices which need any. Code is compiled again
/// where it depends on those that it meets.
static void chooseSizes(std::map<std::string, notation::Binding> &bindings, const std::string &program,
                        const std::vector<notation::TensorUse> &uses, const notation::Likes &likes) {
  constexpr int64_t usual = 4096;
  std::map<std::string, std::vector<int64_t>> known;
  for (const notation::TensorUse &use : uses)
    if (const notation::Binding &binding = bindings.at(use.name); binding.dims)
      known[use.name] = *binding.dims;
  auto isOpen = [&](const notation::TensorUse &use) {
    return bindings.at(use.name).input && !bindings.at(use.name).dims;
  };
  // The sizes that formats limit are chosen before those that have to equal them.
  for (bool limited : {true, false})
    for (const notation::TensorUse &use : uses) {
      if (!isOpen(use))
        continue;
      const std::optional<format::Encoding> &encoding = bindings.at(use.name).encoding;
      std::vector<int64_t> dims = notation::inferDims(program, known, likes).at(use.name);
      for (unsigned d = 0; d < dims.size(); ++d) {
        const int64_t size = encoding ? std::min(usual, format::largestSize(*encoding, d)) : usual;
        if (dims[d] >= 0 || (limited && size == usual))
          continue;
        dims[d] = size;
        known[use.name] = dims;
        dims = notation::inferDims(program, known, likes).at(use.name);
      }
      if (!limited)
        bindings.at(use.name).dims = known[use.name] = dims;
    }
}

ProgramTensors tensorsOf(const std::string &program) {
  ProgramTensors names;
  for (const notation::TensorUse &use : notation::tensorsUsed(program))
    if (use.first)
      names.operands.push_back(use.name);
  names.written = notation::tensorsWritten(program);
  return names;
}

static std::string namesOf(const std::vector<notation::TensorUse> &uses) {
  std::vector<std::string> names;
  for (const notation::TensorUse &use : uses)
    names.push_back(use.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Kernel compile(const std::string &program, const std::map<std::string, TensorType> &types,
               const CompileOptions &options) {
  auto impl = std::make_shared<detail::KernelImpl>();
  impl->text = program;
  impl->types = types;
  impl->given = options;
  impl->schedule = options.schedule;
  impl->asked = options.results;
  impl->options.strictFp = options.strictFp;
  impl->options.vectorLength = options.vectorLength;
  impl->options.scalable = options.scalable;
  impl->options.tail = options.tail;
  impl->options.wideIndices = options.wideIndices;
  impl->options.diskCache = options.diskCache;
  impl->options.threads = options.threads;
  impl->options.deterministic = options.deterministic;
  impl->options.objectCode = options.objectCode;
  notation::Likes likes;
  for (const auto &[name, type] : types)
    if (auto pattern = notation::likeName(type.format.text()))
      likes[name] = *pattern;
  std::vector<notation::TensorUse> uses = notation::tensorsUsed(program, likes);
  for (const auto &[name, type] : types)
    if (std::ranges::count(uses, name, &notation::TensorUse::name) == 0)
      throwError("'{}' is given, but the program does not use it; it uses {}", name, namesOf(uses));
  for (const std::string &name : options.given)
    if (std::ranges::count(uses, name, &notation::TensorUse::name) == 0)
      throwError("tulle::compile: '{}' is given a first value, but the program does not use it", name);
  for (const notation::TensorUse &use : uses) {
    auto given = types.find(use.name);
    const bool input = use.first || std::ranges::count(options.given, use.name) > 0;
    if (given == types.end()) {
      if (input)
        throwError("tulle::compile: the program reads '{}', but its type is not given", use.name);
      impl->bindings[use.name].encoding = format::denseEncoding(use.order);
      continue;
    }
    notation::Binding binding;
    if (!given->second.element.empty())
      binding.type = detail::elementType(given->second.element);
    if (auto like = likes.find(use.name); like != likes.end())
      binding.like = like->second;
    else
      binding.encoding = format::parseFormat(given->second.format.text(), use.order, "format of " + use.name);
    if (std::string why = binding.encoding ? format::whyNotExecutable(*binding.encoding) : ""; !why.empty())
      throwError("tulle::compile: the format of '{}': {}", use.name, why);
    if (!given->second.dims.empty() || (input && use.order == 0))
      binding.dims = given->second.dims;
    binding.input = input;
    if (input)
      impl->inputs.push_back(use.name);
    impl->bindings[use.name] = std::move(binding);
  }
  const bool hasSizes = std::ranges::any_of(impl->bindings, [](const auto &binding) {
    return binding.second.dims && !binding.second.dims->empty();
  });
  impl->options.anySize = options.anySize || !hasSizes;
  chooseSizes(impl->bindings, program, uses, likes);
  impl->executable = impl->build(impl->bindings);
  impl->nameTensors();
  return Kernel(std::move(impl));
}

[[noreturn]] static void refuseFormat(const std::string &name, const format::Encoding &given,
                                      const format::Encoding &expected) {
  throwError(
      "'{}' is stored as {}, but the kernel was compiled for {}; convert it with to(), or compile with "
      "its type()",
      name, format::print(given), format::print(expected));
}

/// Whether format and sizes are those of the declaration; throws Error for elements of another type.
static bool matches(const runtime::Tensor &tensor, const notation::TensorDecl &decl) {
  if (tensor.type != decl.type)
    throwError("'{}' has elements of type {}, but the kernel was compiled for {}", decl.name,
               name(tensor.type), name(decl.type));
  return tensor.encoding == decl.encoding && tensor.dims == decl.dims;
}

/// What the kernel was compiled for, of this tensor's sizes, and its widths where none were asked for; throws
/// Error for a tensor of another format.
notation::Binding detail::KernelImpl::bindingFor(const std::string &name,
                                                 const runtime::Tensor &tensor) const {
  notation::Binding binding = bindings.at(name);
  binding.dims = tensor.dims;
  if (!binding.encoding)
    return binding; // as another tensor is stored
  format::Encoding stored = *binding.encoding;
  for (auto width : {&format::Encoding::posWidth, &format::Encoding::crdWidth})
    if (stored.*width == 0)
      stored.*width = (*tensor.encoding).*width;
  if (!(stored == tensor.encoding))
    refuseFormat(name, tensor.encoding, *binding.encoding);
  binding.encoding = tensor.encoding;
  return binding;
}

void detail::KernelImpl::nameTensors() {
  const notation::Program &program = executable->program();
  auto placeOf = [&](const std::string &name) {
    return unsigned(std::ranges::find(program.tensors, name, &notation::TensorDecl::name) -
                    program.tensors.begin());
  };
  for (const std::string &name : inputs)
    inputTensors.push_back(placeOf(name));
  for (const notation::Statement &statement : program.statements) {
    const unsigned t = statement.lhs.tensor;
    if (!program.tensors[t].result)
      continue;
    std::erase(resultTensors, t);
    resultTensors.push_back(t);
  }
  for (unsigned t : resultTensors)
    results.push_back(program.tensors[t].name);
}

std::shared_ptr<engine::Executable>
detail::KernelImpl::forInputs(const std::vector<const AnyTensor *> &given) {
  bool same = true;
  for (size_t k = 0; k < given.size(); ++k)
    same &= matches(Access::unwrap(*given[k]), executable->program().tensors[inputTensors[k]]);
  if (same)
    return executable;
  {
    auto isOf = [](const Input &input, const AnyTensor *tensor) {
      return input.dims == tensor->dims() && input.encoding == Access::unwrap(*tensor).encoding;
    };
    std::lock_guard lock(mutex);
    auto found = std::ranges::find_if(
        versions, [&](const auto &known) { return std::ranges::equal(known.first, given, isOf); });
    if (found != versions.end()) {
      versions.splice(versions.begin(), versions, found);
      return found->second;
    }
  }
  // Most machine code does not depend on sizes: the engine finds it in its cache.
  std::map<std::string, notation::Binding> own = bindings;
  std::vector<Input> key;
  for (size_t k = 0; k < given.size(); ++k) {
    const runtime::Tensor &tensor = Access::unwrap(*given[k]);
    own.at(inputs[k]) = bindingFor(inputs[k], tensor);
    key.push_back({tensor.dims, tensor.encoding});
  }
  std::shared_ptr<engine::Executable> built = build(own);
  for (size_t k = 0; k < given.size(); ++k)
    if (const notation::TensorDecl &decl = built->program().tensors[inputTensors[k]];
        !matches(Access::unwrap(*given[k]), decl))
      refuseFormat(decl.name, Access::unwrap(*given[k]).encoding, decl.encoding);
  std::lock_guard lock(mutex);
  versions.emplace_front(std::move(key), built);
  if (versions.size() > kMostVersions)
    versions.pop_back();
  return built;
}

/// Throws Error for an output that cannot be the memory of this result.
static void checkOutput(const runtime::Tensor &output, const notation::TensorDecl &decl,
                        const std::vector<std::optional<runtime::Tensor>> &inputs) {
  if (!format::isAllDense(decl.encoding))
    throwError("'{}' is computed in format {}; only dense results can be written to memory that is given",
               decl.name, format::displayName(decl.encoding));
  if (!(output.encoding == decl.encoding))
    refuseFormat(decl.name, output.encoding, decl.encoding);
  if (!matches(output, decl))
    throwError("'{}' has sizes {}, but the output that is given for it has {}", decl.name,
               fmt::join(decl.dims, " x "), fmt::join(output.dims, " x "));
  const runtime::Buffer &memory = output.buffers.back();
  for (const auto &input : inputs)
    if (input)
      for (const runtime::Buffer &read : input->buffers)
        if (const auto *begin = static_cast<const char *>(read.data),
            *own = static_cast<const char *>(memory.data);
            begin < own + memory.bytes && own < begin + read.bytes)
          throwError("the output that is given for '{}' shares memory with an input; give memory of its own",
                     decl.name);
}

std::vector<AnyTensor> detail::KernelImpl::run(const std::vector<const AnyTensor *> &given, RunReport *report,
                                               const std::vector<const AnyTensor *> &outputs) {
  const std::shared_ptr<engine::Executable> code = forInputs(given);
  const std::vector<notation::TensorDecl> &decls = code->program().tensors;
  std::vector<std::optional<runtime::Tensor>> tensors(decls.size());
  std::vector<const runtime::Tensor *> ragged; // empty: none
  for (size_t k = 0; k < given.size(); ++k) {
    const unsigned t = inputTensors[k];
    tensors[t] = Access::unwrap(*given[k]);
    if (Access::hasLengths(*given[k])) {
      ragged.resize(decls.size());
      ragged[t] = &*tensors[t];
    }
  }
  if (!ragged.empty())
    engine::checkLengths(code->program(), ragged);
  for (size_t r = 0; r < outputs.size(); ++r)
    if (outputs[r])
      checkOutput(Access::unwrap(*outputs[r]), decls[resultTensors[r]], tensors);
  // An input that is added to has its first value there.
  for (size_t r = 0; r < outputs.size(); ++r)
    if (const unsigned t = resultTensors[r]; outputs[r] && !decls[t].input)
      tensors[t] = Access::unwrap(*outputs[r]);
  engine::RunReport told;
  if (report) {
    told.goesOn = report->afterRound;
    told.isInterrupted = report->isInterrupted;
  }
  code->run(tensors, &told);
  if (report)
    report->iterations = told.iterations;
  std::vector<AnyTensor> made;
  made.reserve(resultTensors.size());
  for (size_t r = 0; r < resultTensors.size(); ++r) {
    runtime::Tensor &result = *tensors[resultTensors[r]];
    if (r < outputs.size() && outputs[r]) {
      const runtime::Buffer &memory = Access::unwrap(*outputs[r]).buffers.back(),
                            &from = result.buffers.back();
      if (memory.data != from.data)
        std::memcpy(memory.data, from.data, size_t(memory.bytes));
      made.push_back(*outputs[r]);
    } else {
      made.push_back(Access::wrap(std::move(result)));
    }
  }
  return made;
}

std::map<std::string, AnyTensor> Kernel::run(const std::map<std::string, AnyTensor> &inputs,
                                             RunReport *report,
                                             const std::map<std::string, AnyTensor> &outputs) const {
  std::vector<const AnyTensor *> given, into(impl->results.size());
  for (const std::string &name : impl->inputs) {
    auto found = inputs.find(name);
    if (found == inputs.end())
      throwError("the kernel reads '{}', which is not given; it reads {}", name,
                 fmt::join(impl->inputs, ", "));
    given.push_back(&found->second);
  }
  for (const auto &[name, tensor] : inputs)
    if (std::ranges::count(impl->inputs, name) == 0)
      throwError("'{}' is no input of this kernel; it reads {}", name, fmt::join(impl->inputs, ", "));
  for (const auto &[name, tensor] : outputs) {
    auto found = std::ranges::find(impl->results, name);
    if (found == impl->results.end())
      throwError("'{}' is no result of this kernel; it computes {}", name, fmt::join(impl->results, ", "));
    into[size_t(found - impl->results.begin())] = &tensor;
  }
  std::vector<AnyTensor> made = impl->run(given, report, into);
  std::map<std::string, AnyTensor> results;
  for (size_t r = 0; r < made.size(); ++r)
    results[impl->results[r]] = std::move(made[r]);
  return results;
}

AnyTensor Kernel::call(const std::vector<AnyTensor> &inputs, RunReport *report,
                       const AnyTensor &output) const {
  if (inputs.size() != impl->inputs.size())
    throwError("the kernel is called with {} tensors, but reads {}: {}", inputs.size(), impl->inputs.size(),
               fmt::join(impl->inputs, ", "));
  std::vector<const AnyTensor *> given, into(impl->results.size());
  for (const AnyTensor &input : inputs)
    given.push_back(&input);
  into.back() = output.empty() ? nullptr : &output;
  return impl->run(given, report, into).back();
}

const std::vector<std::string> &Kernel::inputs() const { return impl->inputs; }
const std::vector<std::string> &Kernel::results() const { return impl->results; }
std::vector<std::string> Kernel::remarks() const { return impl->executable->remarks(); }
std::string Kernel::explain(const std::string &stage) const {
  return engine::explain(impl->executable->program(), stage, impl->options);
}
std::string Kernel::explainPage() const {
  return engine::explainPage(impl->executable->program(), impl->options);
}
double Kernel::compileMs() const { return impl->executable->compileMs(); }
std::string Kernel::origin() const { return impl->executable->origin(); }
const std::string &Kernel::program() const { return impl->text; }
const std::map<std::string, TensorType> &Kernel::types() const { return impl->types; }
const CompileOptions &Kernel::options() const { return impl->given; }
std::string Kernel::objectCode() const { return impl->executable->objectCode(); }
std::vector<StatementUse> Kernel::statements() const {
  return detail::statementUses(impl->executable->program());
}

} // namespace tulle
