// MLIR's own sparsifier as a competitor.
#include "MlirSparsifier.h"
#include "Peer.h"
#include <fmt/format.h>

namespace tulle::bench {

using runtime::Tensor;

static const char *plain = "enable-runtime-library=false reassociate-fp-reductions=true",
                  *vectors = "enable-runtime-library=false vl=8 reassociate-fp-reductions=true",
                  *assembly = "enable-runtime-library=false";

static const char *mapOf(const std::string &format) {
  if (format == "CSR")
    return csrMap;
  if (format == "CSC")
    return "(i, j) -> (j : dense, i : compressed)";
  if (format == "COO-soa")
    return "(i, j) -> (i : compressed(nonunique), j : singleton(soa))";
  if (format == "DCSR")
    return "(i, j) -> (i : compressed, j : compressed)";
  if (format == "BCSR(4,4)")
    return "(i, j) -> (i floordiv 4 : dense, j floordiv 4 : compressed, i mod 4 : dense, j mod 4 : dense)";
  return nullptr;
}

static MlirMatrix matrix(const Tensor &a, const std::string &map) {
  std::string shape;
  for (int64_t size : a.dims)
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  return {shape, map, unsigned(a.buffers.size() - 1)};
}

static void append(std::vector<MemRef> &arguments, const Tensor &a) {
  for (const runtime::Buffer &buffer : a.buffers)
    arguments.push_back({buffer.data, {buffer.count}});
}

/// A kernel that keeps what its arguments borrow.
static std::shared_ptr<MlirKernel> kernel(const std::string &text, const char *options, bool returnsMemref,
                                          const std::vector<MemRef> &arguments) {
  auto made = std::make_shared<MlirKernel>(text, options, returnsMemref);
  made->bind(arguments);
  return made;
}

/// `A` and dense operands to the peers' result.
static Runner product(const Task &task, const Tensor &a, const std::string &text, const char *options,
                      const std::vector<Tensor> &dense, std::vector<int64_t> resultDims) {
  int64_t count = 1;
  for (int64_t size : resultDims)
    count *= size;
  const auto values = task.input.result(count);
  std::vector<MemRef> arguments;
  append(arguments, a);
  for (const Tensor &operand : dense)
    arguments.push_back({operand.values(), operand.dims});
  arguments.push_back({values.data(), std::move(resultDims)});
  return into(values, [k = kernel(text, options, false, arguments), a, dense] { k->run(); });
}

/// A kernel that frees what it makes and tells how many entries there were.
static Runner assembling(const std::string &text, std::vector<MemRef> arguments, bool counted) {
  auto count = std::make_shared<int64_t>(0);
  arguments.push_back({count.get(), {1}});
  Runner runner{[k = kernel(text, assembly, false, arguments), count] { return timed([&] { k->run(); }); },
                nullptr};
  if (counted)
    runner.answer = [count] {
      Answer answer;
      answer.count = *count;
      return answer;
    };
  return runner;
}

static Runner sddmm(const Task &task) {
  Input &input = task.input;
  const Tensor a = input.stored("CSR"), d = input.dense("D", {input.rows(), task.n}),
               e = input.dense("E", {input.columns(), task.n});
  const auto values = input.result(input.count());
  std::vector<MemRef> arguments;
  append(arguments, a);
  arguments.back().data = values.data();
  arguments.push_back({d.values(), d.dims});
  arguments.push_back({e.values(), e.dims});
  return into(values, [k = kernel(sddmmText(input.rows(), input.columns(), task.n), plain, true, arguments),
                       a, d, e] { k->run(); });
}

static std::optional<Runner> tensorProduct(const Task &task) {
  Input &input = task.input;
  const Tensor a = task.a();
  if (task.op == Op::MTTKRP) {
    const bool isTree = task.format.starts_with("CSF");
    if (!isTree && task.format != "COO-soa")
      return std::nullopt;
    std::vector<size_t> dims;
    for (const format::Level &level : a.encoding->levels)
      dims.push_back(size_t(level.expr->value));
    const std::string map =
        isTree ? levelMap(dims, "compressed", "compressed", "compressed")
               : levelMap(dims, "compressed(nonunique)", "singleton(nonunique, soa)", "singleton(soa)");
    return product(task, a, mttkrpText(matrix(a, map), a.dims, task.n), vectors, task.factors(),
                   {a.dims[0], task.n});
  }
  if (task.op != Op::Dot)
    return std::nullopt;
  const Tensor b = input.storedB();
  const auto s = input.result(1);
  std::vector<MemRef> arguments;
  append(arguments, a);
  append(arguments, b);
  arguments.push_back({s.data(), {}});
  return into(s, [k = kernel(dotText(a.dims[0]), plain, false, arguments), a, b] { k->run(); });
}

std::optional<Runner> mlirLibraryPeer(const Task &task) {
  const bool pairs = task.format == "COO-soa";
  const char *from = pairs ? "(i, j) -> (i : compressed(nonunique), j : singleton)" : mapOf(task.format),
             *to = mapOf(task.target);
  if (task.op != Op::Convert || !from || !to)
    return std::nullopt;
  Input &input = task.input;
  const int64_t rows = input.rows(), columns = input.columns();
  if (task.target == "BCSR(4,4)" && (rows % 4 || columns % 4))
    throw Absent("MLIR's blocks must divide the matrix");
  const Tensor a = task.a();
  std::vector<MemRef> buffers;
  append(buffers, a);
  // The library takes the coordinates of trailing singletons as one list, whatever their type says.
  std::vector<int32_t> interleaved;
  if (pairs) {
    for (size_t k = 0; k < indicesOf(a, 1).size(); ++k)
      interleaved.insert(interleaved.end(), {indicesOf(a, 1)[k], indicesOf(a, 2)[k]});
    buffers.erase(buffers.begin() + 1);
    buffers[1] = {interleaved.data(), {int64_t(interleaved.size()) / 2, 2}};
  }
  auto count = std::make_shared<int64_t>(0);
  auto made =
      std::make_shared<MlirKernel>(packedConversionText(fmt::format("{}x{}", rows, columns), from,
                                                        unsigned(buffers.size() - 1), pairs ? 2 : 1, to),
                                   "", false);
  made->pack(buffers);
  made->bind({{count.get(), {1}}});
  Runner runner{[made, count] { return timed([&] { made->run(); }); }, nullptr};
  if (task.target[0] == 'C')
    runner.answer = [count] {
      Answer answer;
      answer.count = *count;
      return answer;
    };
  return runner;
}

std::optional<Runner> mlirPeer(const Task &task) {
  Input &input = task.input;
  if (input.order() != 2)
    return tensorProduct(task);
  const char *map = mapOf(task.format);
  if (!map)
    return std::nullopt;
  const int64_t rows = input.rows(), columns = input.columns();
  if ((task.format == "BCSR(4,4)" || task.target == "BCSR(4,4)") && (rows % 4 || columns % 4))
    throw Absent("MLIR's blocks must divide the matrix");
  std::vector<MemRef> arguments;
  switch (task.op) {
  case Op::SpMV: {
    const Tensor a = task.a();
    return product(task, a, spmvText(matrix(a, map), rows, columns), task.format == "CSR" ? vectors : plain,
                   {input.dense("x", {columns})}, {rows});
  }
  case Op::SpMM: {
    const Tensor a = task.a();
    return product(task, a, spmmText(matrix(a, map), rows, columns, task.n), plain,
                   {input.dense("X", {columns, task.n})}, {rows, task.n});
  }
  case Op::SDDMM:
    return sddmm(task);
  case Op::Add:
  case Op::Multiply: {
    append(arguments, input.stored("CSR"));
    append(arguments, task.op == Op::Add ? input.storedB() : input.stored("CSR"));
    return assembling(task.op == Op::Add ? sumText(rows, columns) : spgemmText(rows), arguments, true);
  }
  case Op::Convert: {
    const char *to = mapOf(task.target);
    if (!to || task.target.starts_with("COO"))
      return std::nullopt;
    const Tensor a = task.a();
    append(arguments, a);
    return assembling(conversionText(rows, columns, map, unsigned(a.buffers.size() - 1), to), arguments,
                      task.target[0] == 'C');
  }
  case Op::Compile:
    if (task.target != "anew")
      return std::nullopt;
    return Runner{[text = spmvText({"1000x1000", map, task.format == "COO-soa" ? 3u : 2u}, 1000, 1000)] {
                    return timed([&] { return std::make_unique<MlirKernel>(text, plain, false); });
                  },
                  nullptr};
  default:
    return std::nullopt;
  }
}

} // namespace tulle::bench
