// tulle::Kernel: calls a compiled program; for other sizes its machine code is taken from the cache.
#include "Impl.h"
#include "engine/CompareLengths.h"
#include "engine/Engine.h"
#include "notation/Program.h"
#include "support/Errors.h"
#include "tulle/kernel.h"
#include <algorithm>
#include <fmt/ranges.h>

namespace tulle {

using detail::Access;

struct detail::KernelImpl {
  std::string text, schedule;
  std::map<std::string, notation::Binding> bindings;
  engine::Options options;
  std::shared_ptr<engine::Executable> executable;
  std::vector<std::string> inputs;
  std::vector<std::string> results; ///< those asked for
};

static std::shared_ptr<engine::Executable> build(const detail::KernelImpl &kernel,
                                                 const std::map<std::string, notation::Binding> &bindings) {
  notation::Program program = notation::check(kernel.text, bindings);
  notation::applySchedule(program, kernel.schedule, engine::strategyNames());
  notation::addResults(program, kernel.results);
  notation::resolveWidths(program);
  return engine::compile(program, kernel.options);
}

Kernel compile(const std::string &program, const std::map<std::string, TensorType> &types,
               const CompileOptions &options) {
  auto impl = std::make_shared<detail::KernelImpl>();
  impl->text = program;
  impl->schedule = options.schedule;
  impl->results = options.results;
  impl->options.strictFp = options.strictFp;
  impl->options.diskCache = options.diskCache;
  impl->options.threads = options.threads;
  impl->options.deterministic = options.deterministic;
  notation::Likes likes;
  for (const auto &[name, type] : types)
    if (auto pattern = notation::likeName(type.format.text()))
      likes[name] = *pattern;
  std::vector<notation::TensorUse> uses = notation::tensorsUsed(program, likes);
  for (const auto &[name, type] : types)
    if (std::ranges::count(uses, name, &notation::TensorUse::name) == 0)
      throwError("tulle::compile: a type is given for '{}', which the program does not use", name);
  for (const notation::TensorUse &use : uses) {
    auto given = types.find(use.name);
    bool input = use.first;
    if (given == types.end()) {
      if (input)
        throwError("tulle::compile: the program reads '{}', but its type is not given", use.name);
      impl->bindings[use.name].encoding = format::denseEncoding(use.order);
      continue;
    }
    notation::Binding binding;
    binding.type = detail::elementType(given->second.element);
    if (auto like = likes.find(use.name); like != likes.end())
      binding.like = like->second;
    else
      binding.encoding = format::parseFormat(given->second.format.text(), use.order, "format of " + use.name);
    if (std::string why = binding.encoding ? format::whyNotExecutable(*binding.encoding) : ""; !why.empty())
      throwError("tulle::compile: the format of '{}': {}", use.name, why);
    if (input || !given->second.dims.empty())
      binding.dims = given->second.dims;
    binding.input = input;
    if (input)
      impl->inputs.push_back(use.name);
    impl->bindings[use.name] = std::move(binding);
  }
  impl->executable = build(*impl, impl->bindings);
  return Kernel(std::move(impl));
}

/// Throws Error for another type or format than that of the declaration; whether the sizes are its own, too.
static bool matches(const runtime::Tensor &tensor, const notation::TensorDecl &decl) {
  if (tensor.type != decl.type)
    throwError("'{}' has elements of type {}, but the kernel was compiled for {}", decl.name,
               name(tensor.type), name(decl.type));
  if (!(tensor.encoding == decl.encoding))
    throwError(
        "'{}' is stored as {}, but the kernel was compiled for {}; convert it with to(), or compile with "
        "its type()",
        decl.name, format::print(tensor.encoding), format::print(decl.encoding));
  return tensor.dims == decl.dims;
}

std::map<std::string, AnyTensor> Kernel::run(const std::map<std::string, AnyTensor> &inputs,
                                             RunReport *report) const {
  for (const std::string &name : impl->inputs)
    if (!inputs.count(name))
      throwError("the kernel reads '{}', which is not given; it reads {}", name,
                 fmt::join(impl->inputs, ", "));
  std::shared_ptr<engine::Executable> executable = impl->executable;
  bool sameSizes = true;
  for (const auto &[name, tensor] : inputs) {
    if (std::ranges::count(impl->inputs, name) == 0)
      throwError("'{}' is no input of this kernel; it reads {}", name, fmt::join(impl->inputs, ", "));
    sameSizes &= matches(Access::unwrap(tensor), *std::ranges::find(executable->program().tensors, name,
                                                                    &notation::TensorDecl::name));
  }
  if (!sameSizes) {
    // Machine code does not depend on sizes: the engine finds it in its cache.
    std::map<std::string, notation::Binding> bindings = impl->bindings;
    for (auto &[name, binding] : bindings) {
      auto found = inputs.find(name);
      binding.dims = found == inputs.end() ? std::nullopt : std::optional(found->second.dims());
    }
    executable = build(*impl, bindings);
  }
  const std::vector<notation::TensorDecl> &decls = executable->program().tensors;
  std::vector<std::optional<runtime::Tensor>> tensors(decls.size());
  for (size_t t = 0; t < tensors.size(); ++t)
    if (auto found = inputs.find(decls[t].name); found != inputs.end())
      tensors[t] = Access::unwrap(found->second);
  std::vector<const runtime::Tensor *> ragged(tensors.size());
  for (size_t t = 0; t < tensors.size(); ++t)
    if (tensors[t] && Access::hasLengths(inputs.at(decls[t].name)))
      ragged[t] = &*tensors[t];
  engine::checkLengths(executable->program(), ragged);
  engine::RunReport told;
  if (report)
    told.goesOn = report->afterRound;
  executable->run(tensors, &told);
  if (report)
    report->iterations = told.iterations;
  std::map<std::string, AnyTensor> results;
  for (size_t t = 0; t < tensors.size(); ++t)
    if (decls[t].result)
      results[decls[t].name] = Access::wrap(*tensors[t]);
  return results;
}

AnyTensor Kernel::call(const std::vector<AnyTensor> &inputs) const {
  if (inputs.size() != impl->inputs.size())
    throwError("the kernel is called with {} tensors, but reads {}: {}", inputs.size(), impl->inputs.size(),
               fmt::join(impl->inputs, ", "));
  std::map<std::string, AnyTensor> named;
  for (size_t i = 0; i < inputs.size(); ++i)
    named[impl->inputs[i]] = inputs[i];
  std::map<std::string, AnyTensor> results = run(named);
  const notation::Program &program = impl->executable->program();
  auto isResult = [&](const notation::Statement &s) { return program.tensors[s.lhs.tensor].result; };
  auto last = std::find_if(program.statements.rbegin(), program.statements.rend(), isResult);
  return results.at(program.tensors[last->lhs.tensor].name);
}

const std::vector<std::string> &Kernel::inputs() const { return impl->inputs; }
const std::vector<std::string> &Kernel::remarks() const { return impl->executable->remarks(); }
double Kernel::compileMs() const { return impl->executable->compileMs(); }
std::string Kernel::origin() const { return impl->executable->origin(); }

} // namespace tulle
