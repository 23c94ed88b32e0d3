// Solvers and graph algorithms on SuiteSparse:GraphBLAS, as LAGraph writes them: a call for each operation of
// a round.
#include "GraphBlas.h"
#include "Solvers.h"
#include <cmath>
#include <limits>

namespace tulle::bench {

using namespace grb;

namespace {

Index entriesOf(Object vector) {
  Index count = 0;
  require(library().countVector(&count, vector));
  return count;
}

double sumOf(Object vector) {
  double sum = 0;
  require(library().sumVector(&sum, nullptr, library().plusMonoid, vector, nullptr));
  return sum;
}

/// The objects that calls name.
struct Names {
  GraphBlas &g = library();
  Object all = g.named("GrB_ALL"), anyPair = g.named("GxB_ANY_PAIR_BOOL"),
         minPlus = g.named("GrB_MIN_PLUS_SEMIRING_FP64"), plusSecond = g.named("GxB_PLUS_SECOND_FP64"),
         less = g.named("GrB_LT_FP64"), minus = g.named("GrB_MINUS_FP64"), divide = g.named("GrB_DIV_FP64"),
         absolute = g.named("GrB_ABS_FP64"), replaceComplement = g.named("GrB_DESC_RSC"),
         replace = g.named("GrB_DESC_R");
};

/// Levels; from a frontier with many vertices, by the edges that enter the others.
double breadthFirst(const Names &n, Object a, Object entering, Index size, Index source) {
  GraphBlas &g = n.g;
  const auto q = newVector(g.boolean, size), level = newVector(g.fp64, size);
  require(g.set(q->handle, 1, source));
  for (double depth = 0; entriesOf(q->handle) > 0; ++depth) {
    require(g.assignScalar(level->handle, q->handle, nullptr, depth, n.all, size, g.structure));
    const bool pull = entriesOf(q->handle) > size / 16;
    require(
        pull ? g.mxv(q->handle, level->handle, nullptr, n.anyPair, entering, q->handle, n.replaceComplement)
             : g.vxm(q->handle, level->handle, nullptr, n.anyPair, q->handle, a, n.replaceComplement));
  }
  // What was not reached has -1.
  return sumOf(level->handle) - double(size - entriesOf(level->handle));
}

/// Bellman-Ford over the vertices that became nearer in the round before.
double shortest(const Names &n, Object lengths, Index size, Index source) {
  GraphBlas &g = n.g;
  const auto d = newVector(g.fp64, size), f = newVector(g.fp64, size), next = newVector(g.fp64, size),
             nearer = newVector(g.boolean, size);
  require(g.assignScalar(d->handle, nullptr, nullptr, std::numeric_limits<double>::infinity(), n.all, size,
                         nullptr));
  require(g.set(d->handle, 0, source));
  require(g.set(f->handle, 0, source));
  while (entriesOf(f->handle) > 0) {
    require(g.vxm(next->handle, nullptr, nullptr, n.minPlus, f->handle, lengths, nullptr));
    require(g.multiplyVectors(nearer->handle, nullptr, nullptr, n.less, next->handle, d->handle, nullptr));
    require(g.assign(f->handle, nearer->handle, nullptr, next->handle, n.all, size, n.replace));
    require(g.assign(d->handle, nearer->handle, nullptr, next->handle, n.all, size, nullptr));
  }
  const auto reached = newVector(g.boolean, size), far = newVector(g.fp64, size);
  require(g.assignScalar(far->handle, nullptr, nullptr, std::numeric_limits<double>::infinity(), n.all, size,
                         nullptr));
  require(g.multiplyVectors(reached->handle, nullptr, nullptr, n.less, d->handle, far->handle, nullptr));
  require(g.assign(f->handle, reached->handle, nullptr, d->handle, n.all, size, n.replace));
  return sumOf(f->handle) - double(size - entriesOf(f->handle));
}

double rank(const Names &n, Object a, Object scaled, Index size, double c) {
  GraphBlas &g = n.g;
  auto x = newVector(g.fp64, size), y = newVector(g.fp64, size);
  const auto w = newVector(g.fp64, size);
  require(g.assignScalar(x->handle, nullptr, nullptr, c, n.all, size, nullptr));
  for (double change = 1; change >= 1e-10; std::swap(x, y)) {
    require(g.multiplyVectors(w->handle, nullptr, nullptr, n.divide, x->handle, scaled, nullptr));
    require(g.assignScalar(y->handle, nullptr, nullptr, c, n.all, size, nullptr));
    require(g.mxv(y->handle, nullptr, g.plus, n.plusSecond, a, w->handle, nullptr));
    require(g.addVectors(w->handle, nullptr, nullptr, n.minus, y->handle, x->handle, nullptr));
    require(g.apply(w->handle, nullptr, nullptr, n.absolute, w->handle, nullptr));
    change = sumOf(w->handle);
  }
  return sumOf(x->handle);
}

Runner summing(std::function<double()> run) {
  auto sum = std::make_shared<double>(0);
  return {[=] { return timed([&] { *sum = run(); }); },
          [sum] {
            Answer answer;
            answer.sum = *sum;
            return answer;
          }};
}

/// The matrix with the absolute values.
std::shared_ptr<Owned> lengthsOf(const CsrView &a) {
  std::vector<double> values(a.value, a.value + a.pos[a.rows]);
  for (double &value : values)
    value = std::abs(value);
  return matrix({a.rows, a.columns, a.pos, a.crd, values.data()});
}

} // namespace

std::optional<Runner> graphBlasSolvers(const Task &task) {
  const CsrView a = task.input.a().view();
  const Index size = Index(a.rows), source = Index(sourceOf(a));
  switch (task.op) {
  case Op::BreadthFirstSearch:
    return summing([=, n = Names(), m = matrix(a), t = matrix(task.input.csc().view())] {
      return breadthFirst(n, m->handle, t->handle, size, source);
    });
  case Op::ShortestPaths:
    return summing([=, n = Names(), m = lengthsOf(a)] { return shortest(n, m->handle, size, source); });
  case Op::PageRank: {
    const std::vector<double> edges = leaving(a);
    const runtime::Tensor degrees = runtime::makeDense(ElementType::F64, {a.rows}, false);
    std::transform(edges.begin(), edges.end(), static_cast<double *>(degrees.values()),
                   [](double count) { return std::max(count, 1.0) / 0.85; });
    const double c = 0.15 / double(size);
    return summing([=, n = Names(), m = matrix(a), d = vector(degrees)] {
      return rank(n, m->handle, d->handle, size, c);
    });
  }
  case Op::Components:
    return summing(graphBlasComponents(task));
  default:
    return std::nullopt;
  }
}

} // namespace tulle::bench
