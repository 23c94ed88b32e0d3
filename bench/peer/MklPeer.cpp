// Intel MKL's sparse inspector-executor routines, with prototypes from its reference manual (mkl_spblas.h).
#include "Library.h"
#include "Peer.h"

namespace tulle::bench {

using runtime::Tensor;

namespace {

using Handle = void *;
struct Description {
  int type, mode, diagonal;
};
constexpr Description general{20, 0, 0};
constexpr int plain = 10, transposed = 11, zeroBased = 0, rowMajor = 101, success = 0, memoryNone = 80,
              memoryAggressive = 81;

struct Mkl {
  Library library{"MKL", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}};
  using Create = int(Handle *, int, int, int, int *, int *, int *, double *);
  using CreateCoo = int(Handle *, int, int, int, int, int *, int *, double *);
  using CreateBsr = int(Handle *, int, int, int, int, int, int *, int *, int *, double *);
  using Mv = int(int, double, Handle, Description, const double *, double, double *);
  using Mm = int(int, double, Handle, Description, int, const double *, int, int, double, double *, int);
  Create *csr = library.get<Create>("mkl_sparse_d_create_csr"),
         *csc = library.get<Create>("mkl_sparse_d_create_csc");
  CreateCoo *coo = library.get<CreateCoo>("mkl_sparse_d_create_coo");
  CreateBsr *bsr = library.get<CreateBsr>("mkl_sparse_d_create_bsr");
  Mv *mv = library.get<Mv>("mkl_sparse_d_mv");
  Mm *mm = library.get<Mm>("mkl_sparse_d_mm");
  int (*optimize)(Handle) = library.get<int(Handle)>("mkl_sparse_optimize");
  int (*order)(Handle) = library.get<int(Handle)>("mkl_sparse_order");
  int (*destroy)(Handle) = library.get<int(Handle)>("mkl_sparse_destroy");
  int (*mvHint)(Handle, int, Description,
                int) = library.get<int(Handle, int, Description, int)>("mkl_sparse_set_mv_hint");
  int (*mmHint)(Handle, int, Description, int, int,
                int) = library.get<int(Handle, int, Description, int, int, int)>("mkl_sparse_set_mm_hint");
  int (*memoryHint)(Handle, int) = library.get<int(Handle, int)>("mkl_sparse_set_memory_hint");
  int (*multiply)(int, Handle, Handle,
                  Handle *) = library.get<int(int, Handle, Handle, Handle *)>("mkl_sparse_spmm");
  int (*add)(int, Handle, double, Handle,
             Handle *) = library.get<int(int, Handle, double, Handle, Handle *)>("mkl_sparse_d_add");
  int (*toCsr)(Handle, int, Handle *) = library.get<int(Handle, int, Handle *)>("mkl_sparse_convert_csr");
  int (*toBsr)(Handle, int, int, int,
               Handle *) = library.get<int(Handle, int, int, int, Handle *)>("mkl_sparse_convert_bsr");
  using Export = int(Handle, int *, int *, int *, int **, int **, int **, double **);
  Export *exported = library.get<Export>("mkl_sparse_d_export_csr");

  Mkl() {
    // One thread needs no OpenMP; several share the one this process has.
    library.get<int(int)>("MKL_Set_Threading_Layer")(threadCount() == 1 ? 1 : 3);
    library.get<int(int)>("MKL_Set_Interface_Layer")(0); // 32-bit indices
    library.get<void(int)>("MKL_Set_Num_Threads")(threadCount());
  }
};

/// Owns a handle; the arrays below it are the input's or MKL's.
struct Matrix {
  Handle handle = nullptr;
  Tensor keep;
  ~Matrix();
};

} // namespace

static Mkl &mkl() {
  static Mkl library;
  return library;
}

Matrix::~Matrix() {
  if (handle)
    mkl().destroy(handle);
}

static void require(int status) {
  if (status != success)
    throw Absent("MKL refuses this operation");
}

static int *mutableIndices(const Tensor &tensor, size_t field) {
  return const_cast<int *>(indicesOf(tensor, field).data());
}

static std::shared_ptr<Matrix> matrix(const Tensor &a, const std::string &format) {
  auto made = std::make_shared<Matrix>();
  made->keep = a;
  const int rows = int(a.dims[0]), columns = int(a.dims[1]);
  auto *values = static_cast<double *>(a.values());
  if (format.starts_with("COO")) {
    require(mkl().coo(&made->handle, zeroBased, rows, columns, int(a.storedCount()), mutableIndices(a, 1),
                      mutableIndices(a, 2), values));
    return made;
  }
  int *pos = mutableIndices(a, 0), *crd = mutableIndices(a, 1);
  if (format == "BCSR(4,4)")
    require(mkl().bsr(&made->handle, zeroBased, rowMajor, (rows + 3) / 4, (columns + 3) / 4, 4, pos, pos + 1,
                      crd, values));
  else
    require((format == "CSC" ? mkl().csc : mkl().csr)(&made->handle, zeroBased, rows, columns, pos, pos + 1,
                                                      crd, values));
  return made;
}

static bool has(const std::string &format) {
  return format == "CSR" || format == "CSC" || format == "COO-soa" || format == "BCSR(4,4)" ||
         format == "COO shuffled";
}

/// `memory`: whether optimize may keep the matrix in another format.
static Runner spmv(const Task &task, int memory) {
  Input &input = task.input;
  if (task.format == "BCSR(4,4)" && (input.rows() % 4 || input.columns() % 4))
    throw Absent("MKL's blocks must divide the matrix");
  auto a = matrix(task.a(), task.format);
  mkl().memoryHint(a->handle, memory);
  mkl().mvHint(a->handle, plain, general, 1000);
  mkl().optimize(a->handle);
  const Tensor x = input.dense("x", {input.columns()});
  const auto y = input.result(input.rows());
  return into(y, [=] { mkl().mv(plain, 1, a->handle, general, valuesOf(x).data(), 0, y.data()); });
}

static Runner spmm(const Task &task) {
  Input &input = task.input;
  auto a = matrix(task.a(), task.format);
  mkl().memoryHint(a->handle, memoryNone);
  mkl().mmHint(a->handle, plain, general, rowMajor, int(task.n), 1000);
  mkl().optimize(a->handle);
  const Tensor x = input.dense("X", {input.columns(), task.n});
  const auto c = input.result(input.rows() * task.n);
  return into(c, [=, n = int(task.n)] {
    mkl().mm(plain, 1, a->handle, general, rowMajor, valuesOf(x).data(), n, n, 0, c.data(), n);
  });
}

/// `make` fills in a handle. Only a result in CSR can be looked into.
static Runner filling(std::function<int(Handle *)> make, bool isCsr) {
  auto last = std::make_shared<Matrix>();
  Runner runner{[last, make] {
                  if (last->handle)
                    mkl().destroy(last->handle);
                  last->handle = nullptr;
                  return timed([&] { require(make(&last->handle)); });
                },
                nullptr};
  if (isCsr)
    runner.answer = [last] {
      int base, rows, columns, *begin, *end, *crd;
      double *values;
      require(mkl().exported(last->handle, &base, &rows, &columns, &begin, &end, &crd, &values));
      const size_t count = size_t(rows ? end[rows - 1] : 0);
      Answer answer;
      answer.indices = {{begin, size_t(rows) + 1}, {crd, count}};
      answer.values = {{values, count}};
      return answer;
    };
  return runner;
}

static std::optional<Runner> conversion(const Task &task) {
  const bool transposes = task.format == "CSR" && task.target == "CSC";
  if (!transposes && task.target != "CSR" && task.target != "BCSR(4,4)")
    return std::nullopt;
  if (task.target == "BCSR(4,4)" && (task.input.rows() % 4 || task.input.columns() % 4))
    throw Absent("MKL's blocks must divide the matrix");
  auto a = matrix(task.a(), task.format);
  if (task.target == "BCSR(4,4)")
    return filling([a](Handle *c) { return mkl().toBsr(a->handle, 4, rowMajor, plain, c); }, false);
  return filling(
      [a, transposes](Handle *c) {
        const int status = mkl().toCsr(a->handle, transposes ? transposed : plain, c);
        return status == success ? mkl().order(*c) : status;
      },
      true);
}

std::optional<Runner> mklOwnFormatPeer(const Task &task) {
  if (task.op != Op::SpMV || task.format != "CSR")
    return std::nullopt;
  return spmv(task, memoryAggressive);
}

std::optional<Runner> mklPeer(const Task &task) {
  if (!has(task.format))
    return std::nullopt;
  switch (task.op) {
  case Op::SpMV:
    return spmv(task, memoryNone);
  case Op::SpMM:
    return spmm(task);
  case Op::Add:
    return filling([a = matrix(task.a(), "CSR"), b = matrix(task.input.storedB(), "CSR")](
                       Handle *c) { return mkl().add(plain, a->handle, 1, b->handle, c); },
                   true);
  case Op::Multiply:
    return filling(
        [a = matrix(task.a(), "CSR")](Handle *c) {
          const int status = mkl().multiply(plain, a->handle, a->handle, c);
          return status == success ? mkl().order(*c) : status;
        },
        true);
  case Op::Convert:
    return conversion(task);
  default:
    return std::nullopt;
  }
}

} // namespace tulle::bench
