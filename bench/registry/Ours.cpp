// Tulle as a contender: any text over named operands, any conversion.
#include "Kernel.h"
#include "engine/Convert.h"
#include "engine/Engine.h"

namespace tulle::bench {

using runtime::Tensor;

static std::map<std::string, Tensor> operands(const Task &task) {
  Input &input = task.input;
  const int64_t columns = input.dims.size() > 1 ? input.columns() : 0;
  switch (task.op) {
  case Op::SpMV:
    return {{"A", task.a()}, {"x", input.dense("x", {columns})}};
  case Op::SpMM:
    return {{"A", task.a()}, {"X", input.dense("X", {columns, task.n})}};
  case Op::SDDMM:
    return {{"A", task.a()},
            {"D", input.dense("D", {input.rows(), task.n})},
            {"E", input.dense("E", {columns, task.n})}};
  case Op::Add:
    return {{"A", task.a()}, {"B", input.storedB()}};
  case Op::Multiply:
    return {{"A", task.a()}, {"B", task.a()}};
  default:
    return {{"A", task.a()}};
  }
}

/// The index arrays of 32 bits and the values: what loops by hand make too.
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

namespace {

/// A compiled text with its operands.
struct Program {
  notation::Program program;
  std::shared_ptr<engine::Executable> executable;
  std::vector<std::optional<Tensor>> inputs, tensors;
  unsigned result = 0;
  bool sparse = false;

  Program(const std::string &text, const std::map<std::string, Tensor> &named, const std::string &format,
          const engine::Options &options) {
    std::map<std::string, notation::Binding> bindings;
    for (const auto &[name, tensor] : named)
      bindings[name] = {tensor.type, tensor.dims, tensor.encoding, true};
    sparse = !format.empty();
    if (sparse) // a kernel with a sparse result calls it C
      bindings["C"].encoding =
          format::resolveWidths(format::parseFormat(format, unsigned(named.at("A").dims.size())), 1, 1);
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

static Runner converting(const Task &task, std::shared_ptr<int64_t> bytes, const engine::Options &options) {
  const format::Encoding target = format::parseFormat(task.target, unsigned(task.input.order()));
  Runner runner =
      making([from = task.a(), target, options] { return engine::convert(from, target, options); },
             [bytes](const Tensor &made) {
               *bytes = made.bytes();
               return describe(made);
             });
  return runner;
}

Runner ours(const Kernel &kernel, const Task &task, std::shared_ptr<int64_t> bytes, bool oneThread) {
  engine::Options options;
  (void)oneThread;
  if (task.op == Op::Convert)
    return converting(task, bytes, options);
  auto program = std::make_shared<Program>(kernel.text, operands(task), kernel.target, options);
  // SDDMM's reference gives values alone: the pattern is A's.
  const bool pattern = task.op != Op::SDDMM && program->sparse;
  return {[program] {
            program->release();
            return timed([&] { program->executable->run(program->tensors); });
          },
          [program, bytes, pattern] {
            const Tensor &made = *program->tensors[program->result];
            *bytes = made.bytes();
            Answer answer = describe(made);
            if (!pattern)
              answer.indices.clear();
            return answer;
          }};
}

void setWork(Row &row, const Task &task, int64_t made) {
  Input &input = task.input;
  const double count = double(input.count()), n = double(std::max<int64_t>(task.n, 1)),
               rows = double(input.rows()), columns = double(input.columns()),
               matrix = double(task.a().bytes());
  row.bytes = matrix + double(made);
  switch (task.op) {
  case Op::SpMV:
  case Op::SpMM:
    row.bytes += 8 * columns * n;
    row.flops = 2 * count * n;
    break;
  case Op::SDDMM:
    // The pattern of A is read, its values are not; the result's values are written.
    row.bytes = matrix + 8 * (rows + columns) * n;
    row.flops = 2 * count * n;
    break;
  case Op::Add:
    row.bytes += double(input.storedB().bytes());
    row.flops = count;
    break;
  case Op::Multiply: {
    const CsrView a = input.a().view();
    for (int64_t k = 0; k < input.count(); ++k)
      row.flops += 2.0 * (a.pos[a.crd[k] + 1] - a.pos[a.crd[k]]);
    break;
  }
  default:
    break;
  }
}

} // namespace tulle::bench
