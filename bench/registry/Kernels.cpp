#include "Kernel.h"
#include "peer/Library.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace tulle::bench {

static const std::vector<std::string> matrices = {"grid2d:1000", "grid3d27:64", "uniform:200000:200000:16",
                                                  "rmat:17:16"},
                                      grids = {"grid2d:1000", "grid3d27:64"},
                                      // The last is like ldg_diffusion, whose blocks have 21 rows.
    blocked = {"grid2d:1000", "grid3d27:64", "blocks:46:20:5"},
                                      narrow = {"grid2d:500", "grid3d27:64", "uniform:200000:200000:16",
                                                "rmat:17:16"};

static std::vector<Kernel> products() {
  const std::string spmv = "y(i) = A(i,j) * x(j)", spmm = "C(i,k) = A(i,j) * X(j,k)";
  std::vector<Kernel> list;
  list.push_back({"kernels",
                  "SpMV CSR",
                  spmv,
                  Op::SpMV,
                  "CSR",
                  "",
                  0,
                  matrices,
                  {{.mean = 1.15, .each = 1}},
                  {{.each = 1}, {.mean = 1.7, .peer = kOneThread, .byMemory = true}}});
  // x in L1 (31 KB), and in L2 (391 KB).
  list.push_back({"kernels",
                  "SpMV CSR cache-resident",
                  spmv,
                  Op::SpMV,
                  "CSR",
                  "",
                  0,
                  {"uniform:1000000:4000:16", "uniform:500000:50000:16"},
                  {{.each = 1}}});
  for (const char *format : {"CSC", "COO-soa", "DCSR"})
    list.push_back(
        {"kernels", fmt::format("SpMV {}", format), spmv, Op::SpMV, format, "", 0, matrices, {{1}}});
  list.push_back({"kernels", "SpMV BCSR(4,4)", spmv, Op::SpMV, "BCSR(4,4)", "", 0, blocked, {{1.5}}});
  for (const char *format : {"DIA", "ELL", "SELL(8,64)"})
    list.push_back(
        {"kernels", fmt::format("SpMV {}", format), spmv, Op::SpMV, format, "", 0, matrices, {{1.5}}});
  for (int n : {4, 32, 128})
    list.push_back({"kernels",
                    fmt::format("SpMM {}", n),
                    spmm,
                    Op::SpMM,
                    "CSR",
                    "",
                    n,
                    n == 128 ? narrow : matrices,
                    {{n == 4 ? 1.0 : 1.5}},
                    {{n == 4 ? 1.0 : 1.5}}});
  for (const char *format : {"DIA", "ELL"}) // stored by columns of entries
    list.push_back({"kernels",
                    fmt::format("SpMM 32 {}", format),
                    spmm,
                    Op::SpMM,
                    format,
                    "",
                    32,
                    {"grid2d:1000"},
                    {{1}},
                    {{1}}});
  for (int64_t n : {int64_t(0), int64_t(32)}) // rows in buckets of their lengths
    list.push_back({.group = "kernels",
                    .name = n ? "SpMM 32 hyb(1,3)" : "SpMV hyb(1,3)",
                    .text = n ? spmm : spmv,
                    .op = n ? Op::SpMM : Op::SpMV,
                    .format = "CSR",
                    .n = n,
                    .inputs = {"rmat:17:16"},
                    .want = {{.mean = 0.95, .peer = kUnscheduled}},
                    .wantThreads = {{.mean = 1.2, .peer = kUnscheduled}},
                    .schedule = "decompose(A, hyb(1,3))"});
  list.push_back({"kernels",
                  "SDDMM 64",
                  "C(i,j) = D(i,k) * E(j,k) where A",
                  Op::SDDMM,
                  "CSR",
                  "CSR",
                  64,
                  matrices,
                  {{1.5}},
                  {{1.5}}});
  for (int n : {32, 128})
    list.push_back({"kernels",
                    fmt::format("2:4 SpMM {}", n),
                    spmm,
                    Op::StructuredMM,
                    "NV24",
                    "",
                    n,
                    {"nm24:1024:1024"},
                    {{1.3, "OpenBLAS"}}});
  const std::string dot = "s = a(i) * b(i)", sparse = kSparseVector;
  list.push_back(
      {"kernels", "dot 1:1", dot, Op::Dot, sparse, "", 0, {"vectors:10000000:1000000:1000000"}, {{1.5}}});
  list.push_back(
      {"kernels", "dot 1:1000", dot, Op::Dot, sparse, "", 0, {"vectors:10000000:1000:1000000"}, {{5}}});
  return list;
}

/// Entries by tiles in which the rows of both factors stay in L2: 128 rows of D, 1,024 of E.
static const char *const kTiled =
    "(i,j,k) -> (j floordiv 128 : dense, k floordiv 1024 : dense, i : compressed, "
    "j mod 128 : compressed(nonunique), k mod 1024 : singleton(soa))";

/// The dimension that the result keeps first, then from the smallest to the largest: the fewest rows of
/// factors are read for each level above the entries (SPLATT stores its trees so).
static const char *const kBySize = "CSF by size";

static std::vector<Kernel> tensors() {
  const std::vector<std::string> inputs = {"2000x3000x4000:0.000208"};
  const std::string mttkrp = "C(i,r) = A(i,j,k) * D(j,r) * E(k,r)";
  return {{"tensors",
           "MTTKRP 32",
           mttkrp,
           Op::MTTKRP,
           "CSF",
           "",
           32,
           inputs,
           {{1.5, "MLIR"}},
           {{1.7, kOneThread}}},
          {"tensors", "MTTKRP 32 CSF by size", mttkrp, Op::MTTKRP, kBySize, "", 32, inputs},
          {"tensors", "MTTKRP 32 COO", mttkrp, Op::MTTKRP, "COO-soa", "", 32, inputs},
          {"tensors", "MTTKRP 32 tiled", mttkrp, Op::MTTKRP, kTiled, "", 32, inputs},
          {"tensors", "TTV", "C(i,j) = A(i,j,k) * x(k)", Op::TTV, "CSF", "DCSR", 0, inputs},
          {"tensors", "TTM 8", "C(i,j,r) = A(i,j,k) * X(k,r)", Op::TTM, "CSF",
           "(i, j, r) -> (i : compressed, j : compressed, r : dense)", 8, inputs}};
}

static std::vector<Kernel> assemblies() {
  return {{"assemble",
           "A + B",
           "C(i,j) = A(i,j) + B(i,j)",
           Op::Add,
           "CSR",
           "CSR",
           0,
           matrices,
           {{1.5}, {1.5, "SciPy"}},
           {{1.5}}},
          {"assemble",
           "A * A",
           "C(i,j) = A(i,k) * B(k,j)",
           Op::Multiply,
           "CSR",
           "CSR",
           0,
           matrices,
           {{1.5, "SciPy"}, {1.2, "SciPy unsorted"}, {1.3, "Eigen"}, {.each = 0.8}},
           {{1.6, kOneThread}}},
          {"assemble",
           "masked A * A",
           "C(i,j) = A(i,k) * B(k,j) where A",
           Op::Masked,
           "CSR",
           "CSR",
           0,
           {"lower:rmat:17:16", "lower:grid3d27:64"},
           {{.mean = 1, .peer = "GraphBLAS", .each = 1}},
           {{1.5, "GraphBLAS"}}}};
}

/// On the matrices of a folder, whichever these are.
static std::vector<Kernel> real() {
  auto over = [](double mean) { return std::vector<Target>{{.mean = mean, .each = 1}}; };
  return {{kReal, "real SpMV", "y(i) = A(i,j) * x(j)", Op::SpMV, "CSR", "", 0, {}, over(1.6)},
          {kReal, "real SpMM 16", "C(i,k) = A(i,j) * X(j,k)", Op::SpMM, "CSR", "", 16, {}, over(2.5)},
          {kReal, "real A + A^T", "C(i,j) = A(i,j) + B(i,j)", Op::Add, "CSR", "CSR", 0, {}, over(2.5)},
          {kReal, "real A * A", "C(i,j) = A(i,k) * B(k,j)", Op::Multiply, "CSR", "CSR", 0, {}, over(1.8)}};
}

/// About 1e5, 1e6, 1e7 and 1e8 entries, as memory allows: of products of two sparse matrices, whose results
/// are several times as large, less.
static std::vector<Kernel> growth() {
  const std::vector<std::string> sizes = {"uniform:12500:12500:8",       "rmat:13:12",
                                          "uniform:125000:125000:8",     "rmat:17:8",
                                          "uniform:1250000:1250000:8",   "rmat:20:10",
                                          "uniform:12500000:12500000:8", "rmat:23:12"},
                                 products(sizes.begin(), sizes.begin() + 5);
  const std::vector<Target> want = {{.each = 1.15}};
  return {
      {kGrowth, "growth SpMV", "y(i) = A(i,j) * x(j)", Op::SpMV, "CSR", "", 0, sizes, want},
      {kGrowth, "growth SpMM 32", "C(i,k) = A(i,j) * X(j,k)", Op::SpMM, "CSR", "", 32, sizes, want},
      {kGrowth, "growth A * A", "C(i,j) = A(i,k) * B(k,j)", Op::Multiply, "CSR", "CSR", 0, products, want},
      {kGrowth, "growth COO->CSR", "", Op::Convert, "COO-soa", "CSR", 0, sizes, want},
      {kGrowth, "growth CSR->CSC", "", Op::Convert, "CSR", "CSC", 0, sizes, want}};
}

/// The default way to intersect against each of the ways there are: at most a tenth slower than the best.
static std::vector<Kernel> intersections() {
  std::vector<Kernel> list;
  for (const char *shorter : {"1000000", "100000", "1000"})
    for (const auto &[name, format] : {std::pair("lists", kSparseVector), {"bitmaps", "bitmap"}}) {
      Kernel &kernel = list.emplace_back();
      kernel = {"strategies",
                fmt::format("dot 1:{} of {}", 1000000 / std::stoi(shorter), name),
                "s = a(i) * b(i)",
                Op::Dot,
                format,
                "",
                0,
                {fmt::format("vectors:10000000:{}:1000000", shorter)},
                {{0.9}}};
      kernel.strategies = {"merge", "gallop", "blocks"};
    }
  return list;
}

static std::vector<Kernel> compilations() {
  const std::vector<std::string> small = {"1000x1000:0.01"};
  std::vector<Kernel> list;
  for (const char *format : {"CSR", "COO-soa", "BCSR(4,4)"})
    list.push_back({"compile", fmt::format("compile {}", format), "", Op::Compile, format, "anew", 0, small});
  for (Kernel &kernel : list)
    kernel.want = {{.ms = 30}};
  for (const char *from : {"disk", "memory"})
    list.push_back({"compile", fmt::format("from {} cache", from), "", Op::Compile, "CSR", from, 0, small});
  list.push_back({"compile", "empty call", "", Op::Compile, "CSR", "call", 0, small});
  return list;
}

static std::vector<Kernel> conversions() {
  struct Pair {
    const char *name, *from, *to;
    std::vector<Target> want;
    bool borrowed = false;
    std::vector<std::string> inputs = matrices;
  };
  const Target loop{1, "loop"}, library{5, kMlirLibrary};
  std::vector<Kernel> list;
  for (const Pair &p :
       {Pair{"COO->CSR sorted", "COO-soa", "CSR", {{2, "SciPy"}, loop, library}},
        {"COO->CSR borrowed", "COO-soa", "CSR", {{2, "SciPy"}, loop, library}, /*borrowed=*/true},
        {"COO->CSR shuffled", "COO shuffled", "CSR", {{1.2, "SciPy"}, loop}},
        {"CSR->CSC", "CSR", "CSC", {{1.3, "SciPy"}, loop, library}},
        {"CSR->DIA", "CSR", "DIA", {{4, "SciPy"}, loop}},
        {"CSC->DIA", "CSC", "DIA", {{4, "SciPy"}}},
        {"COO->DIA", "COO-soa", "DIA", {{4, "SciPy"}}},
        {"CSR->ELL", "CSR", "ELL", {loop}},
        {"CSC->ELL", "CSC", "ELL", {loop}},
        {"COO->ELL", "COO-soa", "ELL", {loop}},
        {"CSR->skyline",
         "CSR",
         "skyline",
         {loop},
         /*borrowed=*/false,
         {"lower:grid2d:200", "band:100000:16"}},
        {"CSR->BCSR(4,4)", "CSR", "BCSR(4,4)", {{2, "SciPy"}, loop, library}}}) {
    list.push_back(
        {"convert", p.name, "", Op::Convert, p.from, p.to, 0, p.inputs, p.want, {{1.6, kOneThread}}});
    list.back().want.push_back({.each = 0.8});
    list.back().borrowed = p.borrowed;
  }
  return list;
}

const std::vector<Kernel> &kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> list = products();
    for (const auto &more : {programs(), solvers(), indirect(), schedules(), intersections(), tensors(),
                             assemblies(), real(), growth(), conversions(), compilations()})
      list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

/// The order of A, which for MTTKRP is the least.
static int64_t orderOf(Op op) {
  switch (op) {
  case Op::Dot:
    return 1;
  case Op::MTTKRP:
  case Op::TTV:
  case Op::TTM:
  case Op::Rgms:
  case Op::RaggedProduct:
    return 3;
  default:
    return 2;
  }
}

std::string formatOf(const Kernel &kernel, const Input &input) {
  if (kernel.format != kBySize)
    return kernel.format;
  std::vector<int64_t> levels(input.order());
  std::iota(levels.begin(), levels.end(), 0);
  std::stable_sort(levels.begin() + 1, levels.end(),
                   [&](int64_t a, int64_t b) { return input.dims[a] < input.dims[b]; });
  return std::is_sorted(levels.begin(), levels.end()) ? "CSF"
                                                      : fmt::format("CSF({})", fmt::join(levels, ","));
}

static bool needsSquare(Op op) {
  return op == Op::Multiply || op == Op::MultiplyAll || op == Op::Masked || op == Op::Gcn ||
         op == Op::GraphSage || op == Op::CgStep || op == Op::PageRankStep || op >= Op::ConjugateGradients;
}

static std::string unsuitedBlocks(const Input &input) {
  if (input.rows() % kBlock != 0 || input.columns() % kBlock != 0)
    return fmt::format("its sizes are no multiples of {}", kBlock);
  const double padding = input.blockPadding(kBlock);
  return padding > 8 ? fmt::format("blocks would store {:.1f} values an entry", padding) : "";
}

std::string unsuited(const Kernel &kernel, const Input &input) {
  if (kernel.op == Op::Compile && threadCount() > 1)
    return "compiling is one thread's work";
  // Beyond order 8 the factors run out of letters.
  const bool higher = kernel.op == Op::MTTKRP && input.order() > 3 && input.order() <= 8;
  if (input.order() != orderOf(kernel.op) && !higher)
    return fmt::format("the input has {} dimensions", input.order());
  if (kernel.format == kTiled && input.order() != 3)
    return "its encoding is one of three dimensions";
  if (kernel.format == kBySize && formatOf(kernel, input) == "CSF")
    return "its dimensions ascend: its CSF is that already";
  if ((kernel.op == Op::StructuredMM) != input.name.starts_with("nm24:"))
    return "its rows do not have two entries in every four columns";
  if ((kernel.op == Op::Convolution) !=
      (input.name.starts_with("pixels:") || input.name.starts_with("voxels:")))
    return "its values are no table of neighbors";
  const bool isOverRows = kernel.op >= Op::RowSums && kernel.op <= Op::RowSquares;
  if (isOverRows != input.name.starts_with("rows:"))
    return isOverRows ? "its rows do not begin at the first column, without gaps" : "it is a list of rows";
  if (kernel.op == Op::RaggedProduct && !input.name.starts_with("batch:"))
    return "it has no second operand";
  if ((kernel.group == kReal || needsSquare(kernel.op)) && input.rows() != input.columns())
    return "the matrix is not square";
  if (kernel.op == Op::BlockSpMM || kernel.op == Op::BlockSDDMM)
    return unsuitedBlocks(input);
  for (const std::string &format : {kernel.format, kernel.target}) {
    const double padding = format == "DIA"         ? input.diaPadding()
                           : format == "ELL"       ? input.ellPadding()
                           : format == "BCSR(4,4)" ? (kernel.op == Op::SpMV ? input.blockPadding(4) : 0)
                                                   : 0;
    if (padding > (format == "BCSR(4,4)" ? 8 : 4))
      return fmt::format("{} would store {:.1f} values an entry", format, padding);
  }
  return "";
}

} // namespace tulle::bench
