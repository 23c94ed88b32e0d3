// A dense product with OpenBLAS: what a structured matrix competes with.
#include "Library.h"
#include "Peer.h"

namespace tulle::bench {

namespace {

struct Blas {
  Library library{"OpenBLAS", {"libopenblas.so.0", "libopenblas.so"}};
  using Gemm = void(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                    double *, int);
  Gemm *gemm = library.get<Gemm>("cblas_dgemm");
  Blas() { library.get<void(int)>("openblas_set_num_threads")(threadCount()); }
};

} // namespace

static Blas &blas() {
  static Blas library;
  return library;
}

std::optional<Runner> blasPeer(const Task &task) {
  if (task.op != Op::StructuredMM)
    return std::nullopt;
  Input &input = task.input;
  const runtime::Tensor a = input.stored("dense"), x = input.dense("X", {input.columns(), task.n});
  const auto c = input.result(input.rows() * task.n);
  constexpr int rowMajor = 101, plain = 111;
  return into(c, [=, &library = blas(), m = int(input.rows()), k = int(input.columns()), n = int(task.n)] {
    library.gemm(rowMajor, plain, plain, m, n, k, 1, valuesOf(a).data(), k, valuesOf(x).data(), n, 0,
                 c.data(), n);
  });
}

} // namespace tulle::bench
