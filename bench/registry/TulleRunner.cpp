// Tulle as a competitor: any text over named operands, any conversion.
#include "Compile.h"
#include "engine/Conversion.h"
#include "engine/Engine.h"
#include <fmt/format.h>

namespace tulle::bench {

using runtime::Tensor;

static std::map<std::string, Tensor> operands(const Task &task) {
  Input &input = task.input;
  const std::vector<int64_t> &dims = input.dims;
  const int64_t n = task.n, last = dims.back();
  switch (task.op) {
  case Op::SpMV:
  case Op::TTV:
    return {{"A", task.a()}, {"x", input.dense("x", {last})}};
  case Op::SpMM:
  case Op::StructuredMM:
  case Op::TTM:
    return {{"A", task.a()}, {"X", input.dense("X", {last, n})}};
  case Op::SDDMM:
    return {{"A", task.a()}, {"D", input.dense("D", {dims[0], n})}, {"E", input.dense("E", {dims[1], n})}};
  case Op::MTTKRP: {
    std::map<std::string, Tensor> named{{"A", task.a()}};
    char name = 'D';
    for (const Tensor &factor : task.factors())
      named[std::string(1, name++)] = factor;
    return named;
  }
  case Op::Add:
    return {{"A", task.a()}, {"B", input.storedB()}};
  case Op::Dot:
    return {{"a", task.a()}, {"b", input.storedB(task.format)}};
  case Op::Multiply:
  case Op::Masked:
    return {{"A", task.a()}, {"B", task.a()}};
  case Op::Softmax:
  case Op::Convert:
  case Op::Compile:
    return {{"A", task.a()}};
  }
  return {};
}

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

/// Formats of the tensors a kernel makes; those without one are dense.
static std::map<std::string, format::Encoding> results(const Kernel &kernel, const Task &task) {
  if (kernel.target.empty())
    return {};
  const unsigned order = task.op == Op::TTV ? 2 : unsigned(task.input.order());
  const format::Encoding encoding = format::resolveWidths(format::parseFormat(kernel.target, order), 1, 1);
  if (task.op == Op::Softmax)
    return {{"e", encoding}, {"C", encoding}};
  return {{"C", encoding}};
}

/// The index arrays of 32 bits and the values: what the hand-written loops make too.
static Answer describe(const Tensor &made) {
  Answer answer;
  for (size_t f = 0; f < made.layout.fields.size(); ++f)
    if (const format::Field &field = made.layout.fields[f];
        field.width == 32 &&
        (field.kind == format::FieldKind::Positions || field.kind == format::FieldKind::Coordinates))
      answer.indices.push_back(indicesOf(made, f));
  answer.values = valuesOf(made);
  answer.owner = made.buffers.back().owner;
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
  answer.values = kept->values;
  answer.owner = kept;
  return answer;
}

namespace {

/// A compiled text with its operands.
struct Program {
  notation::Program program;
  std::shared_ptr<engine::Executable> executable;
  std::vector<std::optional<Tensor>> inputs, tensors;
  unsigned result = 0;
  bool sparse = false;

  Program(const std::string &text, const std::map<std::string, Tensor> &named,
          const std::map<std::string, format::Encoding> &made, const engine::Options &options) {
    std::map<std::string, notation::Binding> bindings;
    for (const auto &[name, tensor] : named)
      bindings[name] = {tensor.type, tensor.dims, tensor.encoding, true, tensor.storedCount()};
    sparse = !made.empty();
    for (const auto &[name, encoding] : made)
      bindings[name].encoding = encoding;
    program = notation::check(text, bindings);
    executable = engine::compile(program, options);
    inputs.resize(program.tensors.size());
    for (size_t t = 0; t < inputs.size(); ++t)
      if (auto found = named.find(program.tensors[t].name); found != named.end())
        inputs[t] = found->second;
    result = program.statements.back().lhs.tensor;
    tensors = inputs;
  }

  /// A dense result is written again and again, a sparse one made anew; the old one goes before.
  void release() {
    if (sparse)
      tensors = inputs;
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
  auto program =
      std::make_shared<Program>(textOf(kernel, task.input), operands(task), results(kernel, task), options);
  // The other references give values alone: the pattern is A's, or that of its fibers.
  const bool pattern = task.op == Op::Add || task.op == Op::Multiply || task.op == Op::Masked;
  const bool masked = task.op == Op::Masked;
  return {[program] {
            program->release();
            return timed([&] { program->executable->run(program->tensors); });
          },
          [program, bytes, pattern, masked] {
            const Tensor &made = *program->tensors[program->result];
            *bytes = made.bytes();
            Answer answer = masked ? withoutZeros(made) : describe(made);
            if (!pattern)
              answer.indices.clear();
            return answer;
          }};
}

static double products(const CsrView &a) {
  double count = 0;
  for (int64_t k = 0; k < a.pos[a.rows]; ++k)
    count += a.pos[a.crd[k] + 1] - a.pos[a.crd[k]];
  return count;
}

void setWork(Row &row, const Task &task, int64_t made) {
  Input &input = task.input;
  const std::vector<int64_t> &dims = input.dims;
  const double count = double(input.count()), n = double(std::max<int64_t>(task.n, 1));
  const Tensor a = task.a();
  row.bytes = double(a.bytes()) + double(made);
  switch (task.op) {
  case Op::SpMV:
  case Op::SpMM:
  case Op::StructuredMM:
  case Op::TTV:
  case Op::TTM:
    row.bytes += 8 * double(dims.back()) * n;
    row.flops = 2 * count * n;
    break;
  case Op::SDDMM:
    // The pattern of A is read, its values are not; the result's values are written.
    row.bytes = double(a.bytes()) + 8 * double(dims[0] + dims[1]) * n;
    row.flops = 2 * count * n;
    break;
  case Op::MTTKRP:
    for (size_t d = 1; d < dims.size(); ++d)
      row.bytes += 8 * double(dims[d]) * n;
    row.flops = double(dims.size()) * count * n;
    if (task.format.starts_with("CSF")) { // products with a factor are shared by the entries of a fiber
      row.flops = 2 * count * n;
      for (size_t l = 1; l + 1 < dims.size(); ++l)
        row.flops += 2 * double(a.buffers[2 * l + 1].count) * n;
    }
    break;
  case Op::Add:
    row.bytes += double(input.storedB().bytes());
    row.flops = count;
    break;
  case Op::Dot:
    // A search need not read all of the longer one.
    row.bytes = 2 * double(std::min(a.bytes(), input.storedB(task.format).bytes()));
    break;
  case Op::Multiply:
    row.flops = 2 * products(input.a().view());
    break;
  case Op::Masked:
  case Op::Softmax:
  case Op::Convert:
    break;
  case Op::Compile:
    row.bytes = 0;
    break;
  }
}

} // namespace tulle::bench
