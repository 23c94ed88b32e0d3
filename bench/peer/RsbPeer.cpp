// librsb, with prototypes from rsb.h: its recursive blocks are made from CSR before anything is timed.
#include "Library.h"
#include "Peer.h"

namespace tulle::bench {

namespace {

struct Rsb {
  Library library{"librsb", {"librsb.so.0", "librsb.so"}};
  using Make = void *(const void *, const int *, const int *, int, char, int, int, int, int, int, int *);
  using Spmv = int(int, const void *, const void *, const void *, int, const void *, void *, int);
  using Spmm = int(int, const void *, const void *, int, int, const void *, int, const void *, void *, int);
  Make *make = library.get<Make>("rsb_mtx_alloc_from_csr_const");
  Spmv *spmv = library.get<Spmv>("rsb_spmv");
  Spmm *spmm = library.get<Spmm>("rsb_spmm");
  void *(*free)(void *) = library.get<void *(void *)>("rsb_mtx_free");

  Rsb() {
    if (library.get<int(void *)>("rsb_lib_init")(nullptr) != 0)
      throw Absent("librsb does not start");
    constexpr int executingThreads = 9;
    const int threads = threadCount();
    library.get<int(int, const void *)>("rsb_lib_set_opt")(executingThreads, &threads);
  }
};

} // namespace

static Rsb &rsb() {
  static Rsb library;
  return library;
}

std::optional<Runner> rsbPeer(const Task &task) {
  if (task.format != "CSR" || (task.op != Op::SpMV && task.op != Op::SpMM))
    return std::nullopt;
  Input &input = task.input;
  const CsrView a = input.a().view();
  constexpr int recursiveBlocks = 0x002000 | 0x000002 | 0x000100 | 0x004000, plain = 0x4E, rowMajor = 0;
  int error = 0;
  std::shared_ptr<void> matrix(rsb().make(a.value, a.pos, a.crd, a.pos[a.rows], 'D', int(a.rows),
                                          int(a.columns), 1, 1, recursiveBlocks, &error),
                               [](void *made) {
                                 if (made)
                                   rsb().free(made);
                               });
  if (!matrix || error != 0)
    throw Absent("librsb cannot hold this matrix");
  static const double one = 1, zero = 0;
  if (task.op == Op::SpMV) {
    const runtime::Tensor x = input.dense("x", {input.columns()});
    const auto y = input.result(input.rows());
    return into(y, [=] { rsb().spmv(plain, &one, matrix.get(), valuesOf(x).data(), 1, &zero, y.data(), 1); });
  }
  const runtime::Tensor x = input.dense("X", {input.columns(), task.n});
  const auto c = input.result(input.rows() * task.n);
  return into(c, [=, n = int(task.n)] {
    rsb().spmm(plain, &one, matrix.get(), n, rowMajor, valuesOf(x).data(), n, &zero, c.data(), n);
  });
}

} // namespace tulle::bench
