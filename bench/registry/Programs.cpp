// The rows of whole programs: what a loop over rows or blocks, fused by hand, does in one pass.
#include "Kernel.h"
#include <fmt/format.h>

namespace tulle::bench {

static const char *const
    kSoftmax = "m(i) max= A(i,j) where A; e(i,j) = exp(A(i,j) - m(i)) where A; d(i) = e(i,j); "
               "p(i,j) = e(i,j) / d(i)",
    *const kAttention = "S(i,j) = 0.125 * Q(i,k) * K(j,k) where A; m(i) max= S(i,j) where S; "
                        "e(i,j) = exp(S(i,j) - m(i)) where S; d(i) = e(i,j); P(i,j) = e(i,j) / d(i); "
                        "O(i,k) = P(i,j) * V(j,k)",
    *const kFusedMM = "S(i,j) = A(i,j) * Q(i,k) * K(j,k); O(i,l) = S(i,j) * V(j,l)",
    *const kGcn = "T(i,l) = A(i,j) * X(j,l); H(i,k) = T(i,l) * W(l,k); R(i,k) = max(H(i,k), 0); "
                  "G(i,k) = R(i,l) * V(l,k); Y(i,k) = A(i,j) * G(j,k)",
    *const kGraphSage = "M(i,l) = A(i,j) * X(j,l); n(i) = 1 where A(i,j); "
                        "H(i,k) = X(i,l) * W(l,k) + M(i,l) / max(n(i), 1) * V(l,k); Y(i,k) = max(H(i,k), 0)",
    *const kCgStep = "q(i) = A(i,j) * p(j); b = p(i) * q(i); a = rr / b; y(i) = x(i) + a * p(i); "
                     "s(i) = r(i) - a * q(i); t = s(i) * s(i); u(i) = s(i) + t / rr * p(i)",
    *const kPageRankStep =
        "w(j) = x(j) / max(n(j), 1); y(i) = c + 0.85 * A(i,j) * w(j); e = abs(y(i) - x(i))",
    *const kCg =
        "x(i) = 0 * b(i); r(i) = b(i); p(i) = b(i); rr = b(i) * b(i); least = 1e-16 * rr; repeat 100000 { "
        "q(i) = A(i,j) * p(j); pq = p(i) * q(i); a = rr / pq; x(i) += a * p(i); r(i) -= a * q(i); "
        "t = r(i) * r(i); p(i) = r(i) + t / rr * p(i); rr = t } until rr < least",
    *const kPageRank =
        "x(i) = c + 0 * n(i); repeat 1000 { w(j) = x(j) / max(n(j), 1); z(i) = w(j) where A(i,j); "
        "y(i) = c + 0.85 * z(i); e = abs(y(i) - x(i)); x(i) = y(i) } until e < 1e-10",
    *const kBreadthFirst =
        "d(i) = s(i) - 1; f(i) = true where (s(i) > 0); l = 0.0; repeat 1000000 { l = l + 1; "
        "f(j) = true where A(i,j) & f(i) & (d(j) < 0); d(j) += l + 1 where f(j); "
        "reached = 1.0 where f(j) } until reached == 0",
    *const kShortest = "d(j) = select(s(j) > 0, 0, inf); f(j) = d(j) where (s(j) > 0); repeat 1000000 { "
                       "g(j) min= f(i) + W(i,j) where W(i,j) & f(i); f(j) = g(j) where g(j) & (g(j) < d(j)); "
                       "d(j) min= f(j) where f(j); nearer = 1.0 where f(j) } until nearer == 0; "
                       "y(j) = select(d(j) < inf, d(j), -1)",
    *const kComponents =
        "p(i) = i32(v(i)); m(i) min= p(j) where A(i,j); p(i) = min(p(i), m(i)); "
        "repeat 64 { g(i) = p(p(i)); p(i) = g(g(i)); moved = i64(p(i) != g(i)) } until moved == 0; "
        "repeat 1000000 { q(i) = p(i); e(i) max= i32(q(j) != q(i)) where A(i,j); "
        "f(i) = q(i) where (e(i) > 0); m(i) min= q(j) where A(i,j) & f(i); "
        "w(j) min= f(i) where A(i,j) & f(i); p(q(i)) min= m(i) where f(i); "
        "p(q(j)) min= w(j) where (w(j) < q(j)); "
        "repeat 64 { g(i) = p(p(i)); p(i) = g(g(i)); moved = i64(p(i) != g(i)) } until moved == 0; "
        "changed = i64(1) where f(i) } until changed == 0; c(i) = f64(p(i))",
    *const kRgms = "T(r,i,l) = A(r,i,j) * X(j,l); Y(i,k) = T(r,i,l) * W(r,l,k)";

/// Each in double and in single precision.
static void push(std::vector<Kernel> &list, Kernel kernel) {
  kernel.wantThreads = kernel.want;
  list.push_back(kernel);
  kernel.name += " f32";
  kernel.type = ElementType::F32;
  list.push_back(kernel);
}

static Target over(double ratio, const char *peer) { return {.mean = ratio, .peer = peer}; }

static void pushGraphPrograms(std::vector<Kernel> &list) {
  const std::vector<std::string> graph = {"rmat:17:16", TULLE_BENCH_CORA};
  const std::vector<Target> want = {over(1.3, kUnfused), over(0.9, "loop")};
  push(list, {.group = "programs",
              .name = "FusedMM 64",
              .text = kFusedMM,
              .op = Op::FusedMM,
              .format = "CSR",
              .n = 64,
              .inputs = graph,
              .want = want,
              .formats = {{"S", "like A"}}});
  push(list, {.group = "programs",
              .name = "GCN 64",
              .text = kGcn,
              .op = Op::Gcn,
              .format = "CSR",
              .n = 64,
              .inputs = graph,
              .want = want});
  push(list, {.group = "programs",
              .name = "GraphSAGE 64",
              .text = kGraphSage,
              .op = Op::GraphSage,
              .format = "CSR",
              .n = 64,
              .inputs = graph,
              .want = want});
  push(list, {.group = "programs",
              .name = "RGMS 64",
              .text = kRgms,
              .op = Op::Rgms,
              .format = "(r, i, j) -> (r : dense, i : dense, j : compressed)",
              .n = 64,
              .inputs = {"16x16384x16384:0.00025"},
              .want = {over(0.9, "loop")}});
}

static void pushBlockPrograms(std::vector<Kernel> &list) {
  const std::vector<Target> want = {over(0.9, "loop")};
  push(list, {.group = "programs",
              .name = "ragged product",
              .text = "C(b,i,k) = A(b,i,j) * B(b,j,k)",
              .op = Op::RaggedProduct,
              .format = "ragged",
              .inputs = {"batch:64:16:512"},
              .want = want,
              .formats = {{"C", "ragged"}}});
  push(list, {.group = "programs",
              .name = "DBSR SpMM 128",
              .text = "C(i,k) = A(i,j) * X(j,k)",
              .op = Op::BlockSpMM,
              .format = fmt::format("(i, j) -> (i floordiv {0} : compressed, j floordiv {0} : compressed, "
                                    "i mod {0} : dense, j mod {0} : dense)",
                                    kBlock),
              .n = 128,
              .inputs = {"pruned:3072:768:32:10"},
              .want = want});
  push(list, {.group = "programs",
              .name = "BSR SDDMM 64",
              .text = "C(i,j) = D(i,k) * E(j,k)",
              .op = Op::BlockSDDMM,
              .format = fmt::format("BCSR({0},{0})", kBlock),
              .n = 64,
              .inputs = {"butterfly:8192:32"},
              .want = want,
              .formats = {{"C", "like A"}}});
}

std::vector<Kernel> solvers() {
  const std::vector<std::string> graphs = {"grid2d:1000", "rmat:17:16"};
  std::vector<Kernel> list;
  const std::vector<Target> want = {over(2, "SciPy"), over(1, "GraphBLAS")};
  auto add = [&](const char *name, const char *text, Op op, std::vector<std::string> inputs,
                 const char *result, std::map<std::string, std::string> formats = {}) {
    list.push_back({.group = "solvers",
                    .name = name,
                    .text = text,
                    .op = op,
                    .format = "CSR",
                    .inputs = inputs,
                    .want = want,
                    .wantThreads = want,
                    .formats = formats,
                    .results = {result}});
  };
  const std::string vector = "(i) -> (i : compressed)";
  add("CG to 1e-8", kCg, Op::ConjugateGradients, {"grid2d:1000"}, "x");
  add("PageRank to 1e-10", kPageRank, Op::PageRank, graphs, "x");
  add("BFS", kBreadthFirst, Op::BreadthFirstSearch, graphs, "d", {{"f", vector}});
  add("SSSP", kShortest, Op::ShortestPaths, graphs, "y", {{"f", vector}, {"g", vector}});
  add("components", kComponents, Op::Components, graphs, "c", {{"f", vector}});
  return list;
}

std::vector<Kernel> programs() {
  const std::vector<std::string> grids = {"grid2d:1000", "grid3d27:64"};
  std::vector<Kernel> list;
  push(list, {.group = "programs",
              .name = "softmax",
              .text = kSoftmax,
              .op = Op::Softmax,
              .format = "CSR",
              .inputs = {"grid2d:1000", "rmat:17:16", TULLE_BENCH_CORA},
              .want = {over(1.5, kUnfused), over(0.95, "loop")},
              .formats = {{"e", "like A"}, {"p", "like A"}}});
  push(list, {.group = "programs",
              .name = "attention 64",
              .text = kAttention,
              .op = Op::Attention,
              .format = "CSR",
              .n = 64,
              .inputs = {"band:8192:256", "butterfly:8192:32", "rmat:15:16"},
              .want = {over(1.3, kUnfused), over(0.95, "loop")},
              .formats = {{"S", "like A"}, {"e", "like A"}, {"P", "like A"}}});
  pushGraphPrograms(list);
  push(list, {.group = "programs",
              .name = "CG step",
              .text = kCgStep,
              .op = Op::CgStep,
              .format = "CSR",
              .inputs = grids,
              .want = {over(1.3, "Eigen"), over(0.75, kRoofline)},
              .results = {"y", "s", "t", "u"}});
  push(list, {.group = "programs",
              .name = "PageRank step",
              .text = kPageRankStep,
              .op = Op::PageRankStep,
              .format = "CSR",
              .inputs = grids,
              .want = {over(1.3, "Eigen"), over(0.75, kRoofline)},
              .results = {"y", "e"}});
  pushBlockPrograms(list);
  return list;
}

} // namespace tulle::bench
