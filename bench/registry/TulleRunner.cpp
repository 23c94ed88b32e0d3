// Tulle as a competitor: any text over named operands, as one program or statement by statement, any
// conversion.
#include "Compile.h"
#include "engine/Conversion.h"
#include "engine/Engine.h"
#include "notation/Program.h"
#include "tulle/error.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::bench {

using runtime::Tensor;

/// The kernel's text; for tensors of higher order than it is written for, with their further factors.
static std::string textOf(const Kernel &kernel, const Input &input) {
  if (kernel.op != Op::MTTKRP)
    return kernel.text;
  std::string subscripts = "i", factors;
  for (int64_t d = 1; d < input.order(); ++d) {
    const auto index = char('i' + d);
    subscripts += fmt::format(",{}", index);
    factors += fmt::format(" * {}({},r)", char('D' + d - 1), index);
  }
  return fmt::format("C(i,r) = A({}){}", subscripts, factors);
}

/// The dimensions that a map names; those of A where a format has a name.
static unsigned orderOf(const std::string &format, unsigned order) {
  return format.starts_with('(')
             ? unsigned(std::count(format.begin(), format.begin() + std::ptrdiff_t(format.find(')')), ',')) +
                   1
             : order;
}

/// What is known of the tensors a kernel makes; those without a format are dense.
static std::map<std::string, notation::Binding> results(const Kernel &kernel, const Task &task) {
  std::map<std::string, notation::Binding> made;
  const unsigned order = task.op == Op::TTV ? 2 : unsigned(task.input.order());
  auto encoding = [&](const std::string &format) {
    return format::resolveWidths(format::parseFormat(format, orderOf(format, order)), 1, 1);
  };
  if (!kernel.target.empty())
    made["C"].encoding = encoding(kernel.target);
  for (const auto &[name, dims] : resultSizes(task))
    made[name].dims = dims;
  for (const auto &[name, format] : kernel.formats)
    if (auto pattern = notation::likeName(format))
      made[name].like = pattern;
    else
      made[name].encoding = encoding(format);
  return made;
}

/// The index arrays of 32 bits and the values: what the hand-written loops make too.
static Answer describe(const Tensor &made) {
  Answer answer;
  for (size_t f = 0; f < made.layout().fields.size(); ++f)
    if (const format::Field &field = made.layout().fields[f];
        field.width == 32 &&
        (field.kind == format::FieldKind::Positions || field.kind == format::FieldKind::Coordinates))
      answer.indices.push_back(indicesOf(made, f));
  answer.owner = made.buffers.back().owner;
  if (made.type == ElementType::F64)
    answer.values = {valuesOf(made)};
  else
    append(answer, made);
  return answer;
}

/// Of a CSR result without its explicit zeros: a mask's pattern may be larger than the product's.
static Answer withoutZeros(const Tensor &made) {
  struct Arrays {
    std::vector<int32_t> pos = {0}, crd;
    std::vector<double> values;
  };
  auto kept = std::make_shared<Arrays>();
  const auto pos = indicesOf(made, 0), crd = indicesOf(made, 1);
  const auto values = valuesOf(made);
  for (size_t i = 0; i + 1 < pos.size(); ++i) {
    for (size_t k = size_t(pos[i]); k < size_t(pos[i + 1]); ++k)
      if (values[k] != 0) {
        kept->crd.push_back(crd[k]);
        kept->values.push_back(values[k]);
      }
    kept->pos.push_back(int32_t(kept->crd.size()));
  }
  Answer answer;
  answer.indices = {kept->pos, kept->crd};
  answer.values = {kept->values};
  answer.owner = kept;
  return answer;
}

std::vector<std::string> statements(const Kernel &kernel) {
  std::vector<std::string> list(1);
  int open = 0; // concat(A, B; 1) is one
  for (char c : kernel.apart.empty() ? kernel.text : kernel.apart) {
    open += (c == '(') - (c == ')');
    if (c == ';' && open == 0)
      list.emplace_back();
    else
      list.back() += c;
  }
  return list;
}

namespace {

/// Texts with their operands, compiled one by one: what one computes, those behind it read from memory.
class Program {
public:
  Program(const std::vector<std::string> &texts, const std::map<std::string, Tensor> &named,
          std::map<std::string, notation::Binding> made, const std::vector<std::string> &results,
          const engine::Options &options, std::string schedule = "")
      : named(named), bindings(std::move(made)), schedule(std::move(schedule)) {
    for (const auto &[name, tensor] : named)
      bind(name, tensor);
    for (const std::string &text : texts)
      append(text, results, options);
    wanted = results.empty() ? std::vector{lastResult} : results;
  }

  /// Milliseconds of one run. What has memory is written again, the rest made anew; the old one goes before.
  double run() {
    for (Step &step : steps)
      for (unsigned t : step.anew)
        step.tensors[t].reset();
    return timed([&] {
      for (Step &step : steps)
        step.executable->run(step.tensors);
    });
  }

  /// Those that are compared.
  std::vector<Tensor> results() const {
    std::vector<Tensor> list;
    for (const std::string &name : wanted)
      for (const Step &step : steps)
        for (size_t t = 0; t < step.tensors.size(); ++t)
          if (step.program.tensors[t].name == name && step.program.tensors[t].written)
            list.push_back(*step.tensors[t]);
    return list;
  }

private:
  struct Step {
    notation::Program program;
    std::shared_ptr<engine::Executable> executable;
    std::vector<std::optional<Tensor>> tensors;
    std::vector<unsigned> anew; ///< results whose pattern is their own
  };
  std::map<std::string, Tensor> named;
  std::map<std::string, notation::Binding> bindings;
  std::string schedule; ///< of each text
  std::vector<Step> steps;
  std::string lastResult;
  std::vector<std::string> wanted;

  void bind(const std::string &name, const Tensor &tensor) {
    notation::Binding &binding = bindings[name];
    binding = {tensor.type, tensor.dims, tensor.encoding, true, tensor.storedCount(), binding.like};
  }

  /// What is known of the tensors of a text.
  std::map<std::string, notation::Binding> used(const std::string &text) const {
    std::map<std::string, notation::Binding> here;
    auto take = [&](const std::string &name) {
      if (auto known = bindings.find(name); known != bindings.end())
        here.insert(*known);
    };
    for (const notation::TensorUse &use : notation::tensorsUsed(text))
      take(use.name);
    for (const auto &[name, binding] : std::map(here))
      if (binding.like)
        take(*binding.like);
    return here;
  }

  void append(const std::string &text, const std::vector<std::string> &results,
              const engine::Options &options) {
    if (!steps.empty())
      handOver(steps.back());
    Step &step = steps.emplace_back();
    step.program = notation::check(text, used(text));
    notation::applySchedule(step.program, schedule, engine::strategyNames());
    std::vector<std::string> own;
    for (const notation::TensorDecl &tensor : step.program.tensors)
      if (tensor.written && std::find(results.begin(), results.end(), tensor.name) != results.end())
        own.push_back(tensor.name);
    notation::addResults(step.program, own);
    step.executable = engine::compile(step.program, options);
    step.tensors.resize(step.program.tensors.size());
    for (size_t t = 0; t < step.tensors.size(); ++t) {
      const notation::TensorDecl &tensor = step.program.tensors[t];
      if (auto found = named.find(tensor.name); found != named.end())
        step.tensors[t] = found->second;
      if (!tensor.written || tensor.like)
        continue;
      // The first run counts where it is long, and all peers write to pages that are there.
      if (!format::isAllDense(tensor.encoding))
        step.anew.push_back(unsigned(t));
      else if (!step.tensors[t])
        step.tensors[t] = runtime::makeDense(tensor.type, tensor.dims);
    }
    if (!step.program.decompositions.empty())
      step.executable->run(step.tensors); // parts are made once, outside of what is timed
    lastResult = step.program.tensors[step.program.statements.back().lhs.tensor].name;
  }

  /// Runs for the first time, so that the texts behind read the memory that later runs write to.
  void handOver(Step &step) {
    if (!step.anew.empty())
      throw Error("bench: the statements of a program pass on dense tensors, and those that are like others");
    step.executable->run(step.tensors);
    for (size_t t = 0; t < step.tensors.size(); ++t)
      if (const notation::TensorDecl &tensor = step.program.tensors[t]; tensor.written) {
        step.tensors[t]->buffers.back().own = false; // else a result that others hold gets new memory
        named[tensor.name] = *step.tensors[t];
        bind(tensor.name, *step.tensors[t]);
      }
  }
};

} // namespace

/// Bytes of buffers that are the source's.
static int64_t sharedBytes(const Tensor &made, const Tensor &source) {
  int64_t bytes = 0;
  for (const runtime::Buffer &buffer : made.buffers)
    for (const runtime::Buffer &from : source.buffers)
      bytes += buffer.data == from.data ? buffer.bytes : 0;
  return bytes;
}

/// From a tensor of Tulle's, as `read` and every conversion make them, or from the caller's memory.
static Runner converting(const Task &task, bool borrowed, std::shared_ptr<int64_t> bytes,
                         const engine::Options &options) {
  const format::Encoding target = format::parseFormat(task.target, unsigned(task.input.order()));
  const Tensor from = borrowed ? task.a() : runtime::copyOf(task.a());
  engine::convert(from, target, options); // compiled once, outside of what is timed
  return making([from, target, options] { return engine::convert(from, target, options); },
                [from, bytes](const Tensor &made) {
                  *bytes = made.bytes() - 2 * sharedBytes(made, from); // neither read nor written
                  return describe(made);
                });
}

/// `bytes` receives those of the last results.
static Runner running(std::shared_ptr<Program> program, Op op, std::shared_ptr<int64_t> bytes) {
  // The other references give values alone: the pattern is A's, or that of its fibers.
  const bool pattern = op == Op::Add || op == Op::Multiply || op == Op::MultiplyAll || op == Op::HStack ||
                       op == Op::VStack || op == Op::BlockDiagonal;
  return {[program] { return program->run(); },
          [program, bytes, pattern, op] {
            const std::vector<Tensor> results = program->results();
            *bytes = 0;
            for (const Tensor &made : results)
              *bytes += made.bytes();
            if (op == Op::Masked)
              return withoutZeros(results.at(0));
            if (pattern)
              return describe(results.at(0));
            Answer answer;
            for (const Tensor &made : results)
              append(answer, made);
            return answer;
          }};
}

Runner tulleRunner(const Kernel &kernel, const Task &task, std::shared_ptr<int64_t> bytes, unsigned threads,
                   const std::string &strategy, const std::string &upstreamPasses) {
  engine::Options options;
  options.threads = threads;
  options.strategy = strategy;
  options.upstreamPasses = upstreamPasses;
  if (task.op == Op::Compile)
    return compilation(kernel);
  if (task.op == Op::Convert)
    return converting(task, kernel.borrowed, bytes, options);
  return running(std::make_shared<Program>(std::vector{textOf(kernel, task.input)}, operands(task),
                                           results(kernel, task), kernel.results, options, kernel.schedule),
                 task.op, bytes);
}

Runner unscheduledRunner(const Kernel &kernel, const Task &task, unsigned threads) {
  Kernel own = kernel;
  own.schedule.clear();
  return tulleRunner(own, task, std::make_shared<int64_t>(0), threads);
}

Runner unfusedRunner(const Kernel &kernel, const Task &task, unsigned threads) {
  engine::Options options;
  options.threads = threads;
  return running(std::make_shared<Program>(statements(kernel), operands(task), results(kernel, task),
                                           kernel.results, options),
                 task.op, std::make_shared<int64_t>(0));
}

} // namespace tulle::bench
