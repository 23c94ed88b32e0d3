// MLIR's passes between any two of ours switch no optimization off: passes ask what loops and operations say
// of themselves, and not how they are written. `tulle bench --peers "upstream passes"` has the times.
#include "Programs.h"
#include <fmt/format.h>
#include <regex>

namespace tulle::engine {
namespace {

struct Kernel {
  const char *name, *text, *result;
  std::map<std::string, std::string> formats; ///< of operands
  std::string resultFormat = "";              ///< dense where empty
};

constexpr const char *spmv = "y(i) = A(i,j) * x(j)", *spmm = "C(i,k) = A(i,j) * B(j,k)",
                     *sddmm = "S(i,j) = A(i,j) * B(i,k) * C(j,k)",
                     *mttkrp = "C(i,k) = A(i,j,l) * D(j,k) * E(l,k)";

const std::vector<Kernel> kernels = {
    {"SpMV_CSR", spmv, "y", {{"A", "CSR"}}},
    {"SpMV_CSC", spmv, "y", {{"A", "CSC"}}},
    {"SpMV_COO", spmv, "y", {{"A", "COO"}}},
    {"SpMV_BCSR", spmv, "y", {{"A", "BCSR(4,4)"}}},
    {"SpMV_DIA", spmv, "y", {{"A", "DIA"}}},
    {"SpMV_ELL", spmv, "y", {{"A", "ELL"}}},
    {"SpMV_SELL", spmv, "y", {{"A", "SELL(8,64)"}}},
    {"SpMM_CSR", spmm, "C", {{"A", "CSR"}}},
    {"SpMM_BCSR", spmm, "C", {{"A", "BCSR(4,4)"}}},
    {"SpMM_NV24", spmm, "C", {{"A", "NV24"}}},
    {"SDDMM_CSR", sddmm, "S", {{"A", "CSR"}}, "CSR"},
    {"MTTKRP_CSF", mttkrp, "C", {{"A", "CSF"}}},
    {"MTTKRP_COO", mttkrp, "C", {{"A", "COO"}}},
    {"Sum_CSR", "C(i,j) = A(i,j) + B(i,j)", "C", {{"A", "CSR"}, {"B", "CSR"}}, "CSR"},
    {"Product_CSR", "C(i,j) = A(i,k) * B(k,j)", "C", {{"A", "CSR"}, {"B", "CSR"}}, "CSR"},
    {"RowSums_CSR", "y(i) = A(i,j)", "y", {{"A", "CSR"}}},
    {"ColumnSums_CSR", "y(j) = A(i,j)", "y", {{"A", "CSR"}}},
    {"COO_to_CSR", "C(i,j) = A(i,j)", "C", {{"A", "COO"}}, "CSR"},
    {"CSR_to_CSC", "C(i,j) = A(i,j)", "C", {{"A", "CSR"}}, "CSC"},
};

Options optionsOf(unsigned threads, bool upstream) {
  Options options;
  options.threads = threads;
  options.workPerThread = 1;
  options.diskCache = false;
  if (upstream)
    options.upstreamPasses = "canonicalize,cse,loop-invariant-code-motion";
  return options;
}

/// The operands, with two entries among four neighbors of a row, as NV24 wants them.
Tensors inputsOf(const Kernel &kernel) {
  Tensors inputs;
  for (const notation::TensorUse &use : notation::tensorsUsed(kernel.text)) {
    if (use.name == kernel.result)
      continue;
    constexpr int64_t size = 40;
    std::vector<double> elements(size_t(std::pow(size, use.order)));
    for (size_t k = 0; k < elements.size(); ++k)
      elements[k] = k % 4 == 1 || k % 4 == k / size % 2 * 3 ? double(k % 7 + 1) : 0;
    auto form = kernel.formats.find(use.name);
    inputs[use.name] = doubles(std::vector<int64_t>(use.order, size), elements,
                               form == kernel.formats.end() ? "dense" : form->second);
  }
  return inputs;
}

std::map<std::string, std::string> resultFormat(const Kernel &kernel) {
  if (kernel.resultFormat.empty())
    return {};
  return {{kernel.result, kernel.resultFormat}};
}

/// How often each optimization applied, by the remarks, and how many operations there are that only
/// optimizations make.
std::map<std::string, int> appliedIn(const std::string &code) {
  std::map<std::string, int> counts;
  static const std::regex pattern("(^|\n)// [^\n]*|vector\\.(reduction|gather|scatter|store|maskedstore|fma)|"
                                  "memref\\.prefetch|llvm\\.fence");
  for (auto it = std::sregex_iterator(code.begin(), code.end(), pattern); it != std::sregex_iterator(); ++it)
    ++counts[it->str()];
  return counts;
}

class UpstreamPasses : public testing::TestWithParam<std::tuple<Kernel, unsigned>> {};

TEST_P(UpstreamPasses, SwitchNothingOff) {
  const auto &[kernel, threads] = GetParam();
  const notation::Program program = check(kernel.text, inputsOf(kernel), resultFormat(kernel));
  auto applied = [&](bool upstream) {
    return appliedIn(explain(program, "vector", optionsOf(threads, upstream)));
  };
  EXPECT_FALSE(applied(false).empty());
  EXPECT_EQ(applied(false), applied(true));
}

TEST_P(UpstreamPasses, ChangeNoAnswer) {
  const auto &[kernel, threads] = GetParam();
  auto answer = [&](bool upstream) {
    return elements(evaluate(kernel.text, kernel.result, inputsOf(kernel), resultFormat(kernel),
                             optionsOf(threads, upstream)));
  };
  EXPECT_EQ(answer(false), answer(true));
}

INSTANTIATE_TEST_SUITE_P(Kernels, UpstreamPasses,
                         testing::Combine(testing::ValuesIn(kernels), testing::Values(1u, 2u)),
                         [](const auto &info) {
                           return fmt::format("{}_{}", std::get<0>(info.param).name, std::get<1>(info.param));
                         });

} // namespace
} // namespace tulle::engine
