#include "Kernel.h"
#include <fmt/format.h>

namespace tulle::bench {

static const std::vector<std::string> matrices = {"grid2d:1000", "grid3d27:64", "uniform:200000:200000:16",
                                                  "rmat:17:16"},
                                      grids = {"grid2d:1000", "grid3d27:64"},
                                      narrow = {"grid2d:500", "grid3d27:64", "uniform:200000:200000:16",
                                                "rmat:17:16"};

static std::vector<Kernel> products() {
  const std::string spmv = "y(i) = A(i,j) * x(j)", spmm = "C(i,k) = A(i,j) * X(j,k)";
  std::vector<Kernel> list;
  for (const char *format : {"CSR", "CSC", "COO-soa", "DCSR"})
    list.push_back({"kernels", fmt::format("SpMV {}", format), spmv, Op::SpMV, format, "", 0, matrices, 1.0});
  for (const char *format : {"BCSR(4,4)", "DIA", "ELL", "SELL(8,64)"})
    list.push_back({"kernels", fmt::format("SpMV {}", format), spmv, Op::SpMV, format, "", 0, matrices, 1.5});
  for (int n : {4, 32, 128})
    list.push_back({"kernels", fmt::format("SpMM {}", n), spmm, Op::SpMM, "CSR", "", n,
                    n == 128 ? narrow : matrices, n == 4 ? 1.0 : 1.5});
  list.push_back({"kernels", "SDDMM 64", "C(i,j) = D(i,k) * E(j,k) where A", Op::SDDMM, "CSR", "CSR", 64,
                  matrices, 1.5});
  return list;
}

static std::vector<Kernel> assemblies() {
  return {{"assemble", "A + B", "C(i,j) = A(i,j) + B(i,j)", Op::Add, "CSR", "CSR", 0, matrices, 1.5, "SciPy"},
          {"assemble", "A * A", "C(i,j) = A(i,k) * B(k,j)", Op::Multiply, "CSR", "CSR", 0, matrices, 1.5,
           "SciPy"}};
}

static std::vector<Kernel> conversions() {
  struct Pair {
    const char *name, *from, *to;
    double want;
    const char *peer;
  };
  std::vector<Kernel> list;
  for (const Pair &p : {Pair{"COO->CSR sorted", "COO-soa", "CSR", 2, "SciPy"},
                        {"COO->CSR shuffled", "COO shuffled", "CSR", 1.2, "SciPy"},
                        {"CSR->CSC", "CSR", "CSC", 1.3, "SciPy"},
                        {"CSR->DIA", "CSR", "DIA", 4, "SciPy"},
                        {"CSC->DIA", "CSC", "DIA", 4, "SciPy"},
                        {"COO->DIA", "COO-soa", "DIA", 4, "SciPy"},
                        {"CSR->ELL", "CSR", "ELL", 1, "loop"},
                        {"CSR->BCSR(4,4)", "CSR", "BCSR(4,4)", 2, "SciPy"}})
    list.push_back({"convert", p.name, "", Op::Convert, p.from, p.to, 0, matrices, p.want, p.peer});
  return list;
}

const std::vector<Kernel> &kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> list = products();
    for (const auto &more : {assemblies(), conversions()})
      list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

static bool isMatrixOp(Op op) { return op != Op::MTTKRP && op != Op::TTV && op != Op::TTM; }

std::string unsuited(const Kernel &kernel, const Input &input) {
  if (input.order() != (isMatrixOp(kernel.op) ? 2 : 3))
    return fmt::format("the input has {} dimensions", input.order());
  if (kernel.op == Op::Multiply && input.rows() != input.columns())
    return "the matrix is not square";
  for (const std::string &format : {kernel.format, kernel.target}) {
    const double padding = format == "DIA"         ? input.diaPadding()
                           : format == "ELL"       ? input.ellPadding()
                           : format == "BCSR(4,4)" ? (kernel.op == Op::SpMV ? input.blockPadding() : 0)
                                                   : 0;
    if (padding > (format == "BCSR(4,4)" ? 8 : 4))
      return fmt::format("{} would store {:.1f} values an entry", format, padding);
  }
  return "";
}

} // namespace tulle::bench
