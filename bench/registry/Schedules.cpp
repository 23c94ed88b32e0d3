// What primitives of a schedule gain or cost: each row has one text, with a schedule that uses the primitive,
// or takes away what the compiler chooses in its place, against the schedule that the compiler chooses.
#include "Kernel.h"

namespace tulle::bench {

namespace {

struct Scheduled {
  const char *kernel, *text;
  Op op;
  int64_t n;
  const char *input, *schedule;
  std::map<std::string, std::string> formats = {};
};

const char *const kSpMV = "y(i) = A(i,j) * x(j)", *const kSpMM = "C(i,k) = A(i,j) * X(j,k)",
                  *const kProduct = "C(i,j) = A(i,k) * B(k,j)",
                  *const kTriple = "C(i,j) = A(i,l) * B(l,k) * A(k,j)",
                  *const kSampled = "C(i,j) = D(i,k) * E(j,k) where A",
                  *const kSoftmax =
                      "m(i) max= A(i,j) where A; e(i,j) = exp(A(i,j) - m(i)) where A; d(i) = e(i,j); "
                      "p(i,j) = e(i,j) / d(i)",
                  *const kFusedMM = "S(i,j) = A(i,j) * Q(i,k) * K(j,k); O(i,l) = S(i,j) * V(j,l)";

const std::map<std::string, std::string> kLikeA = {{"e", "like A"}, {"p", "like A"}};

const Scheduled kRows[] = {
    {"A * A", kProduct, Op::Multiply, 0, "rmat:12:8", "convert(B, CSC); reorder(i, j, k)"},
    {"SpMM 32", kSpMM, Op::SpMM, 32, "rmat:15:16", "reorder(i, k, j)"},
    {"SpMV", kSpMV, Op::SpMV, 0, "grid2d:1000", "convert(A, DIA)"},
    {"SpMV", kSpMV, Op::SpMV, 0, "grid2d:1000", "decompose(A, [DIA @ j - i in {-1, 0, 1}, CSR @ rest])"},
    {"A * A", kProduct, Op::Multiply, 0, "rmat:15:16", "assemble(C, count)"},
    {"masked A * A", "C(i,j) = A(i,k) * B(k,j) where A", Op::Masked, 0, "rmat:12:8",
     "precompute(A(i,k) * B(k,j), i, w)"},
    {"A * A * A", kTriple, Op::MultiplyAll, 0, "rmat:12:8", "precompute(A(i,l) * B(l,k), i, w : bitmap)"},
    {"A * A * A", kTriple, Op::MultiplyAll, 0, "rmat:12:8", "precompute(A(i,l) * B(l,k), i, w : hashed)"},
    {"A * A * A", kTriple, Op::MultiplyAll, 0, "uniform:200000:200000:3",
     "precompute(A(i,l) * B(l,k), i, w : bitmap)"},
    {"A * A * A", kTriple, Op::MultiplyAll, 0, "uniform:200000:200000:3",
     "precompute(A(i,l) * B(l,k), i, w : hashed)"},
    {"softmax", kSoftmax, Op::Softmax, 0, "grid2d:1000", "compute_root(m); compute_root(e); compute_root(d)",
     kLikeA},
    {"softmax", kSoftmax, Op::Softmax, 0, "grid2d:1000",
     "compute_at(m, i); compute_at(e, i); compute_at(d, i)", kLikeA},
    {"FusedMM 64", kFusedMM, Op::FusedMM, 64, "rmat:15:16", "compute_root(S)", {{"S", "like A"}}},
    {"FusedMM 64", kFusedMM, Op::FusedMM, 64, "rmat:15:16", "compute_at(S, i, j)", {{"S", "like A"}}},
    {"SpMV", kSpMV, Op::SpMV, 0, "rmat:17:16", "parallelize(i, none)"},
    {"SpMV", kSpMV, Op::SpMV, 0, "rmat:17:16", "parallelize(i, disjoint)"},
    {"SpMM 32", kSpMM, Op::SpMM, 32, "rmat:15:16", "vectorize(k, 1)"},
    {"SpMV", kSpMV, Op::SpMV, 0, "uniform:100000:10000:64", "vectorize(j, 1)"},
    {"SpMV", kSpMV, Op::SpMV, 0, "uniform:100000:10000:64", "unroll(j, 4)"},
    {"SDDMM 64", kSampled, Op::SDDMM, 64, "rmat:15:16", "jam(j, 4)"},
    {"SpMM 32", kSpMM, Op::SpMM, 32, "rmat:17:16", "prefetch(X, j, 0)"},
    {"SpMM 32", kSpMM, Op::SpMM, 32, "rmat:17:16", "prefetch(X, j, 8)"},
    {"SpMM 32", kSpMM, Op::SpMM, 32, "rmat:15:16", "bound(k, 32)"},
    {"SpMV", kSpMV, Op::SpMV, 0, "rmat:17:16", "split(j, j0, j1, 32768); reorder(j0, i, j1)"},
    {"SpMM 32", kSpMM, Op::SpMM, 32, "rmat:15:16", "divide(k, k0, k1, 2); reorder(k0, i, j, k1)"},
};

} // namespace

std::vector<Kernel> schedules() {
  std::vector<Kernel> list;
  for (const Scheduled &row : kRows)
    list.push_back({.group = "schedules",
                    .name = std::string(row.kernel) + ": " + row.schedule,
                    .text = row.text,
                    .op = row.op,
                    .format = "CSR",
                    .target = row.op == Op::Multiply || row.op == Op::MultiplyAll || row.op == Op::Masked ||
                                      row.op == Op::SDDMM
                                  ? "CSR"
                                  : "",
                    .n = row.n,
                    .inputs = {row.input},
                    .schedule = row.schedule,
                    .formats = row.formats});
  return list;
}

} // namespace tulle::bench
