// SuiteSparse:GraphBLAS (version 7 or later), with prototypes from GraphBLAS.h. Its indices have 64 bits.
#include "Library.h"
#include "Peer.h"
#include <cstdlib>
#include <cstring>
#include <new>

namespace tulle::bench {

using runtime::Tensor;

namespace {

using Object = void *; ///< GrB_Matrix, GrB_Vector, GrB_Type, …
using Index = uint64_t;

struct GraphBlas {
  Library library{"GraphBLAS", {"libgraphblas.so.7", "libgraphblas.so.9", "libgraphblas.so"}};
  template <typename T> T *f(const char *name) { return library.get<T>(name); }

  int (*init)(int) = f<int(int)>("GrB_init");
  int (*option)(int, ...) = f<int(int, ...)>("GxB_Global_Option_set");
  using Import = int(Object *, Object, Index, Index, Index **, Index **, void **, Index, Index, Index, bool,
                     bool, Object);
  Import *importCsr = f<Import>("GxB_Matrix_import_CSR"), *importCsc = f<Import>("GxB_Matrix_import_CSC");
  int (*importRows)(Object *, Object, Index, Index, void **, Index, bool, Object) =
      f<int(Object *, Object, Index, Index, void **, Index, bool, Object)>("GxB_Matrix_import_FullR");
  int (*importVector)(Object *, Object, Index, void **, Index, bool, Object) =
      f<int(Object *, Object, Index, void **, Index, bool, Object)>("GxB_Vector_import_Full");
  int (*newMatrix)(Object *, Object, Index, Index) = f<int(Object *, Object, Index, Index)>("GrB_Matrix_new");
  int (*newVector)(Object *, Object, Index) = f<int(Object *, Object, Index)>("GrB_Vector_new");
  int (*freeMatrix)(Object *) = f<int(Object *)>("GrB_Matrix_free");
  int (*freeVector)(Object *) = f<int(Object *)>("GrB_Vector_free");
  int (*waitMatrix)(Object, int) = f<int(Object, int)>("GrB_Matrix_wait");
  int (*count)(Index *, Object) = f<int(Index *, Object)>("GrB_Matrix_nvals");
  int (*sumMatrix)(double *, Object, Object, Object,
                   Object) = f<int(double *, Object, Object, Object, Object)>("GrB_Matrix_reduce_FP64");
  int (*sumVector)(double *, Object, Object, Object,
                   Object) = f<int(double *, Object, Object, Object, Object)>("GrB_Vector_reduce_FP64");
  using Product = int(Object, Object, Object, Object, Object, Object, Object);
  Product *mxv = f<Product>("GrB_mxv"), *mxm = f<Product>("GrB_mxm"),
          *add = f<Product>("GrB_Matrix_eWiseAdd_BinaryOp");
  int (*transpose)(Object, Object, Object, Object,
                   Object) = f<int(Object, Object, Object, Object, Object)>("GrB_transpose");
  Object fp64, plusTimes, plus, plusMonoid, structure;

  GraphBlas() {
    init(1); // blocking: a call ends when its result is there
    constexpr int threads = 5;
    option(threads, threadCount());
    // Predefined objects exist after GrB_init alone.
    fp64 = *f<Object>("GrB_FP64");
    plusTimes = *f<Object>("GrB_PLUS_TIMES_SEMIRING_FP64");
    plus = *f<Object>("GrB_PLUS_FP64");
    plusMonoid = *f<Object>("GrB_PLUS_MONOID_FP64");
    structure = *f<Object>("GrB_DESC_S");
  }
};

struct Owned {
  Object handle = nullptr;
  bool isVector = false;
  ~Owned();
};

} // namespace

static GraphBlas &grb() {
  static GraphBlas library;
  return library;
}

Owned::~Owned() {
  if (handle)
    (isVector ? grb().freeVector : grb().freeMatrix)(&handle);
}

static void require(int status) {
  if (status != 0)
    throw Absent("GraphBLAS refuses this operation");
}

/// A copy from malloc(), which GraphBLAS owns from then on.
template <typename To, typename From> static To *copied(const From *from, int64_t count) {
  auto *to = static_cast<To *>(std::malloc(size_t(std::max<int64_t>(count, 1)) * sizeof(To)));
  if (!to)
    throw std::bad_alloc();
  std::copy(from, from + count, to);
  return to;
}

/// `a` by rows, or by columns when `columns`: its "rows" are the matrix's columns then.
static std::shared_ptr<Owned> matrix(const CsrView &a, bool byColumns = false) {
  auto made = std::make_shared<Owned>();
  const int64_t count = a.pos[a.rows];
  auto *pos = copied<Index>(a.pos, a.rows + 1), *crd = copied<Index>(a.crd, count);
  void *values = copied<double>(a.value, count);
  const Index major = Index(a.rows), minor = Index(a.columns);
  require((byColumns ? grb().importCsc : grb().importCsr)(
      &made->handle, grb().fp64, byColumns ? minor : major, byColumns ? major : minor, &pos, &crd, &values,
      (major + 1) * 8, Index(std::max<int64_t>(count, 1)) * 8, Index(std::max<int64_t>(count, 1)) * 8, false,
      false, nullptr));
  return made;
}

static std::shared_ptr<Owned> vector(const Tensor &x) {
  auto made = std::make_shared<Owned>();
  made->isVector = true;
  void *values = copied<double>(valuesOf(x).data(), x.storedCount());
  require(grb().importVector(&made->handle, grb().fp64, Index(x.storedCount()), &values,
                             Index(x.storedCount()) * 8, false, nullptr));
  return made;
}

static std::shared_ptr<Owned> rowMajor(const Tensor &x) {
  auto made = std::make_shared<Owned>();
  void *values = copied<double>(valuesOf(x).data(), x.storedCount());
  require(grb().importRows(&made->handle, grb().fp64, Index(x.dims[0]), Index(x.dims[1]), &values,
                           Index(x.storedCount()) * 8, false, nullptr));
  return made;
}

/// A new result each time: `run` computes into it. `counted`: the number of its entries says something.
static Runner into(int64_t rows, int64_t columns, bool counted, std::function<int(Object)> run) {
  auto result = std::make_shared<Owned>();
  result->isVector = columns == 0;
  return {[=] {
            if (result->handle)
              (result->isVector ? grb().freeVector : grb().freeMatrix)(&result->handle);
            return timed([&] {
              require(result->isVector
                          ? grb().newVector(&result->handle, grb().fp64, Index(rows))
                          : grb().newMatrix(&result->handle, grb().fp64, Index(rows), Index(columns)));
              require(run(result->handle));
              if (!result->isVector)
                require(grb().waitMatrix(result->handle, 1));
            });
          },
          [result, counted] {
            Answer answer;
            double sum = 0;
            require((result->isVector ? grb().sumVector : grb().sumMatrix)(&sum, nullptr, grb().plusMonoid,
                                                                           result->handle, nullptr));
            answer.sum = sum;
            if (counted) {
              Index count = 0;
              require(grb().count(&count, result->handle));
              answer.count = int64_t(count);
            }
            return answer;
          }};
}

std::optional<Runner> graphBlasPeer(const Task &task) {
  Input &input = task.input;
  const bool csr = task.format == "CSR", csc = task.format == "CSC";
  if (!csr && !csc)
    return std::nullopt;
  const int64_t rows = input.rows(), columns = input.columns();
  auto stored = [&] { return csc ? matrix(input.csc().view(), true) : matrix(input.a().view()); };
  switch (task.op) {
  case Op::SpMV:
    return into(rows, 0, false, [a = stored(), x = vector(input.dense("x", {columns}))](Object y) {
      return grb().mxv(y, nullptr, nullptr, grb().plusTimes, a->handle, x->handle, nullptr);
    });
  case Op::SpMM:
    return into(rows, task.n, false,
                [a = stored(), x = rowMajor(input.dense("X", {columns, task.n}))](Object c) {
                  return grb().mxm(c, nullptr, nullptr, grb().plusTimes, a->handle, x->handle, nullptr);
                });
  case Op::Add:
    return into(rows, columns, true, [a = stored(), b = matrix(input.b().view())](Object c) {
      return grb().add(c, nullptr, nullptr, grb().plus, a->handle, b->handle, nullptr);
    });
  case Op::Multiply:
    return into(rows, columns, true, [a = stored()](Object c) {
      return grb().mxm(c, nullptr, nullptr, grb().plusTimes, a->handle, a->handle, nullptr);
    });
  case Op::Masked:
    return into(rows, columns, false, [a = stored()](Object c) {
      return grb().mxm(c, a->handle, nullptr, grb().plusTimes, a->handle, a->handle, grb().structure);
    });
  case Op::Convert:
    // CSC of A by rows is what its transpose holds by rows.
    if (!csr || task.target != "CSC")
      return std::nullopt;
    return into(columns, rows, true, [a = stored()](Object c) {
      return grb().transpose(c, nullptr, nullptr, a->handle, nullptr);
    });
  default:
    return std::nullopt;
  }
}

} // namespace tulle::bench
