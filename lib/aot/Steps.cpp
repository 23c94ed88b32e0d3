// Steps are compiled statements; what they read in another format is converted by a step of its own.
#include "aot/Steps.h"
#include "notation/ErrorPlace.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace tulle::aot {

using notation::Program;

bool saysItsLengths(const format::Encoding &encoding) {
  using enum format::LevelKind;
  const auto digits = format::digits(encoding);
  return digits && std::ranges::all_of(encoding.levels, [](const format::Level &level) {
           const format::LevelFormat &format = level.format;
           return format.kind == Dense || format.kind == Compressed || format.kind == Ragged ||
                  (format.kind == Singleton && !format.padded) || format.kind == Structured ||
                  format.kind == Fixed;
         });
}

namespace {

/// Follows which tensors are in memory, and how, from step to step. Inputs that stay as they are are
/// converted first, others right before they are read.
class Steps {
public:
  Steps(const Program &program, Interface &kernel) : program(program), kernel(kernel) {
    for (const notation::TensorDecl &decl : program.tensors)
      present.push_back(decl.input);
  }

  void add(const engine::CompiledStatement &statement, bool beginsLoop) {
    if (beginsLoop)
      std::erase_if(current, [&](unsigned copy) { return !isFirst(copy); });
    begins.push_back(steps.size());
    Step step{statement.function, false, {}, {}, statement.tensor};
    for (const engine::Argument &argument : statement.arguments)
      step.arguments.push_back(argumentOf(argument));
    for (const engine::MadeTensor &made : statement.made) {
      requireStored(made.tensor, made.encoding);
      kernel.tensors[made.tensor].made = true;
      step.made.push_back(made.tensor);
      present[made.tensor] = true;
    }
    for (const StepArgument &argument : step.arguments)
      if (argument.result)
        forget(argument.tensor);
    for (unsigned made : step.made)
      forget(made);
    steps.push_back(std::move(step));
  }

  void finish(const std::vector<notation::Loop> &loops) {
    begins.push_back(steps.size());
    kernel.steps = std::move(first);
    const auto offset = unsigned(kernel.steps.size());
    kernel.steps.insert(kernel.steps.end(), steps.begin(), steps.end());
    kernel.loops = loops;
    for (notation::Loop &loop : kernel.loops) {
      loop.begin = offset + unsigned(begins[loop.begin]);
      loop.end = offset + unsigned(begins[loop.end]);
    }
  }

private:
  const Program &program;
  Interface &kernel;
  std::vector<bool> present;
  std::vector<Step> first, steps;                              ///< `first`: conversions of inputs
  std::vector<size_t> begins;                                  ///< of each statement
  std::map<std::pair<unsigned, std::string>, unsigned> copies; ///< converted tensors, by tensor and format
  std::set<unsigned> current; ///< of these, which have the value that is read

  StepArgument argumentOf(const engine::Argument &argument) {
    StepArgument step{argument.tensor, argument.result, {}};
    if (argument.whole &&
        !engine::sameStorage(format::withoutSlices(kernel.tensors[argument.tensor].encoding),
                             argument.encoding))
      refuse(argument);
    if (!argument.result) {
      if (!argument.whole && !isStored(argument.tensor, argument.encoding))
        step.tensor = converted(argument.tensor, argument.encoding);
      return step;
    }
    requireStored(argument.tensor, argument.encoding);
    if (!program.statements[argument.statement].accumulate && !format::isAllDense(argument.encoding))
      step.pattern = structureOf(argument);
    else if (!present[argument.tensor] && !format::digits(argument.encoding))
      refuseSize(argument);
    present[argument.tensor] = true;
    return step;
  }

  /// The tensor whose structure a result has.
  unsigned structureOf(const engine::Argument &argument) {
    unsigned pattern = patternOf(argument.statement);
    if (!format::sharesStructure(argument.encoding, kernel.tensors[pattern].encoding))
      pattern = converted(pattern, argument.encoding);
    else if (!kernel.tensors[argument.tensor].input && kernel.tensors[pattern].input)
      kernel.tensors[argument.tensor].like = pattern;
    if (!saysItsLengths(argument.encoding) &&
        argument.encoding.levels.size() != kernel.tensors[pattern].encoding.levels.size())
      refuseSize(argument);
    return pattern;
  }

  bool isStored(unsigned tensor, const format::Encoding &encoding) const {
    return engine::sameStorage(kernel.tensors[tensor].encoding, encoding);
  }
  void requireStored(unsigned tensor, const format::Encoding &encoding) const {
    if (!isStored(tensor, encoding))
      refuse({tensor, encoding});
  }

  /// Whether the tensor is converted once, before all else.
  bool isFirst(unsigned tensor) const {
    return std::ranges::any_of(first, [&](const Step &step) { return step.made.front() == tensor; });
  }

  /// The tensor in another format.
  unsigned converted(unsigned tensor, const format::Encoding &encoding) {
    if (encoding.order() != kernel.tensors[tensor].encoding.order() || encoding.explicitVal)
      refuse({tensor, encoding});
    auto [it, isNew] = copies.try_emplace({tensor, format::print(encoding)}, unsigned(kernel.tensors.size()));
    if (isNew) {
      TensorInterface copy = kernel.tensors[tensor];
      copy.sizes = ownSizes(kernel, copy);
      copy.encoding = encoding;
      copy.input = copy.result = false;
      copy.made = true;
      copy.like.reset();
      kernel.tensors.push_back(std::move(copy));
    }
    const unsigned copy = it->second;
    if (!current.insert(copy).second)
      return copy;
    const bool stays = program.tensors[tensor].input && !program.tensors[tensor].written;
    (stays ? first : steps)
        .push_back({fmt::format("convert{}", copy), true, {{tensor, false, {}}}, {copy}, copy});
    return copy;
  }

  /// Copies of what was written are old.
  void forget(unsigned tensor) {
    for (const auto &[key, copy] : copies)
      if (key.first == tensor)
        current.erase(copy);
  }

  [[noreturn]] void refuseAt(const engine::Argument &argument, const std::string &message) const {
    notation::throwErrorAt(program, argument.tensor, message);
  }

  [[noreturn]] void refuse(const engine::Argument &argument) const {
    const TensorInterface &tensor = kernel.tensors[argument.tensor];
    refuseAt(argument,
             fmt::format("this program needs '{0}' as {1}, and it is {2}, which a kernel compiled ahead of "
                         "time does not convert; store it so, -f '{0}={1}'",
                         tensor.name, format::displayName(argument.encoding),
                         format::displayName(tensor.encoding)));
  }

  [[noreturn]] void refuseSize(const engine::Argument &argument) const {
    refuseAt(argument,
             fmt::format("'{}' as {} has as many values as its levels give, which a kernel compiled ahead of "
                         "time does not compute; use a format of dense, compressed and singleton levels",
                         kernel.tensors[argument.tensor].name, format::displayName(argument.encoding)));
  }

  /// As the engine's: the tensor that has the pattern of a statement's result.
  unsigned patternOf(unsigned statement) const {
    const std::optional<unsigned> pattern = engine::operandWithPattern(program, statement);
    if (!pattern)
      throw InternalError(fmt::format("the pattern of statement {} is not one operand's", statement));
    for (unsigned s = statement; !present[*pattern] && s-- > 0;)
      if (program.statements[s].lhs.tensor == *pattern)
        return patternOf(s);
    return *pattern;
  }
};

} // namespace

void addSteps(Interface &kernel, const Program &program, const engine::Signature &signature) {
  Steps steps(program, kernel);
  for (unsigned s = 0; s < signature.statements.size(); ++s)
    steps.add(signature.statements[s], std::ranges::any_of(signature.loops, [&](const notation::Loop &loop) {
                return loop.begin == s;
              }));
  steps.finish(signature.loops);
}

engine::Compilation conversionOf(const Interface &kernel, const Step &step, const engine::Options &options,
                                 const engine::Target &target) {
  const TensorInterface &from = kernel.tensors[step.arguments.front().tensor],
                        &to = kernel.tensors[step.made.front()];
  return engine::conversionCompilation(from.type, from.encoding, to.encoding, kernel.index32, options,
                                       target);
}

} // namespace tulle::aot
