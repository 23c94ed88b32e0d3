// SuiteSparse:GraphBLAS (version 7 or later), with prototypes from GraphBLAS.h. Its indices have 64 bits.
#pragma once
#include "Library.h"
#include "Peer.h"

namespace tulle::bench::grb {

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
  using OfVectors = int(Object, Object, Object, Object, Object, Object, Object);
  OfVectors *vxm = f<OfVectors>("GrB_vxm"), *addVectors = f<OfVectors>("GrB_Vector_eWiseAdd_BinaryOp"),
            *multiplyVectors = f<OfVectors>("GrB_Vector_eWiseMult_BinaryOp");
  int (*apply)(Object, Object, Object, Object, Object,
               Object) = f<int(Object, Object, Object, Object, Object, Object)>("GrB_Vector_apply");
  int (*assign)(Object, Object, Object, Object, Object, Index,
                Object) = f<int(Object, Object, Object, Object, Object, Index, Object)>("GrB_Vector_assign");
  int (*assignScalar)(Object, Object, Object, double, Object, Index, Object) =
      f<int(Object, Object, Object, double, Object, Index, Object)>("GrB_Vector_assign_FP64");
  int (*set)(Object, double, Index) = f<int(Object, double, Index)>("GrB_Vector_setElement_FP64");
  int (*countVector)(Index *, Object) = f<int(Index *, Object)>("GrB_Vector_nvals");
  Object fp64, boolean, plusTimes, plus, plusMonoid, structure;
  /// A predefined object by its name in GraphBLAS.h; they exist after GrB_init alone.
  Object named(const char *name) { return *f<Object>(name); }

  GraphBlas() {
    init(1); // blocking: a call ends when its result is there
    constexpr int threads = 5;
    option(threads, threadCount());
    fp64 = named("GrB_FP64");
    boolean = named("GrB_BOOL");
    plusTimes = named("GrB_PLUS_TIMES_SEMIRING_FP64");
    plus = named("GrB_PLUS_FP64");
    plusMonoid = named("GrB_PLUS_MONOID_FP64");
    structure = named("GrB_DESC_S");
  }
};

struct Owned {
  Object handle = nullptr;
  bool isVector = false;
  ~Owned();
};

GraphBlas &library();
/// Throws Absent where a call did not succeed.
void require(int status);
/// `a` by rows, or by columns when `columns`: its "rows" are the matrix's columns then.
std::shared_ptr<Owned> matrix(const CsrView &a, bool byColumns = false);
std::shared_ptr<Owned> vector(const runtime::Tensor &x);
/// Without entries.
std::shared_ptr<Owned> newVector(Object type, Index size);

} // namespace tulle::bench::grb

namespace tulle::bench {

/// The sum of the smallest vertices of all vertices' components; the graph is made before.
std::function<double()> graphBlasComponents(const Task &task);

} // namespace tulle::bench
