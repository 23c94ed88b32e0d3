// Single operations of SuiteSparse:GraphBLAS.
#include "GraphBlas.h"
#include <cstdlib>
#include <cstring>
#include <new>

namespace tulle::bench {

using runtime::Tensor;

namespace grb {

GraphBlas &library() {
  static GraphBlas loaded;
  return loaded;
}

Owned::~Owned() {
  if (handle)
    (isVector ? library().freeVector : library().freeMatrix)(&handle);
}

void require(int status) {
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

std::shared_ptr<Owned> matrix(const CsrView &a, bool byColumns) {
  auto made = std::make_shared<Owned>();
  const int64_t count = a.pos[a.rows];
  auto *pos = copied<Index>(a.pos, a.rows + 1), *crd = copied<Index>(a.crd, count);
  void *values = copied<double>(a.value, count);
  const Index major = Index(a.rows), minor = Index(a.columns);
  require((byColumns ? library().importCsc : library().importCsr)(
      &made->handle, library().fp64, byColumns ? minor : major, byColumns ? major : minor, &pos, &crd,
      &values, (major + 1) * 8, Index(std::max<int64_t>(count, 1)) * 8,
      Index(std::max<int64_t>(count, 1)) * 8, false, false, nullptr));
  return made;
}

std::shared_ptr<Owned> vector(const Tensor &x) {
  auto made = std::make_shared<Owned>();
  made->isVector = true;
  void *values = copied<double>(valuesOf(x).data(), x.storedCount());
  require(library().importVector(&made->handle, library().fp64, Index(x.storedCount()), &values,
                                 Index(x.storedCount()) * 8, false, nullptr));
  return made;
}

std::shared_ptr<Owned> newVector(Object type, Index size) {
  auto made = std::make_shared<Owned>();
  made->isVector = true;
  require(library().newVector(&made->handle, type, size));
  return made;
}

} // namespace grb

using namespace grb;

static std::shared_ptr<Owned> rowMajor(const Tensor &x) {
  auto made = std::make_shared<Owned>();
  void *values = copied<double>(valuesOf(x).data(), x.storedCount());
  require(library().importRows(&made->handle, library().fp64, Index(x.dims[0]), Index(x.dims[1]), &values,
                               Index(x.storedCount()) * 8, false, nullptr));
  return made;
}

/// A new result each time: `run` computes into it. `counted`: the number of its entries says something.
static Runner into(int64_t rows, int64_t columns, bool counted, std::function<int(Object)> run) {
  auto result = std::make_shared<Owned>();
  result->isVector = columns == 0;
  return {[=] {
            if (result->handle)
              (result->isVector ? library().freeVector : library().freeMatrix)(&result->handle);
            return timed([&] {
              require(result->isVector ? library().newVector(&result->handle, library().fp64, Index(rows))
                                       : library().newMatrix(&result->handle, library().fp64, Index(rows),
                                                             Index(columns)));
              require(run(result->handle));
              if (!result->isVector)
                require(library().waitMatrix(result->handle, 1));
            });
          },
          [result, counted] {
            Answer answer;
            double sum = 0;
            require((result->isVector ? library().sumVector : library().sumMatrix)(
                &sum, nullptr, library().plusMonoid, result->handle, nullptr));
            answer.sum = sum;
            if (counted) {
              Index count = 0;
              require(library().count(&count, result->handle));
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
      return library().mxv(y, nullptr, nullptr, library().plusTimes, a->handle, x->handle, nullptr);
    });
  case Op::SpMM:
    return into(
        rows, task.n, false, [a = stored(), x = rowMajor(input.dense("X", {columns, task.n}))](Object c) {
          return library().mxm(c, nullptr, nullptr, library().plusTimes, a->handle, x->handle, nullptr);
        });
  case Op::Add:
    return into(rows, columns, true, [a = stored(), b = matrix(input.b().view())](Object c) {
      return library().add(c, nullptr, nullptr, library().plus, a->handle, b->handle, nullptr);
    });
  case Op::Multiply:
    return into(rows, columns, true, [a = stored()](Object c) {
      return library().mxm(c, nullptr, nullptr, library().plusTimes, a->handle, a->handle, nullptr);
    });
  case Op::Masked:
    return into(rows, columns, false, [a = stored()](Object c) {
      return library().mxm(c, a->handle, nullptr, library().plusTimes, a->handle, a->handle,
                           library().structure);
    });
  case Op::Convert:
    // CSC of A by rows is what its transpose holds by rows.
    if (!csr || task.target != "CSC")
      return std::nullopt;
    return into(columns, rows, true, [a = stored()](Object c) {
      return library().transpose(c, nullptr, nullptr, a->handle, nullptr);
    });
  default:
    return csr ? graphBlasSolvers(task) : std::nullopt;
  }
}

} // namespace tulle::bench
