// Connected components on SuiteSparse:GraphBLAS as LAGraph has them (LG_CC_FastSV6, Zhang, Azad and Hu,
// "FastSV", 2020): rounds of hooking with GraphBLAS' calls; first on four edges of each vertex, then on the
// edges that leave the largest component.
#include "GraphBlas.h"
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <unordered_map>

namespace tulle::bench {

using namespace grb;

namespace {

constexpr int64_t kSampledEdges = 4;
constexpr int kSampledVertices = 864;

/// The edges of both directions, each once.
struct Graph {
  std::vector<int64_t> pos;
  std::vector<int32_t> crd;
  Graph(const CsrView &a, const CsrView &transposed) : pos{0} {
    for (int64_t i = 0; i < a.rows; ++i) {
      std::set_union(a.crd + a.pos[i], a.crd + a.pos[i + 1], transposed.crd + transposed.pos[i],
                     transposed.crd + transposed.pos[i + 1], std::back_inserter(crd));
      pos.push_back(int64_t(crd.size()));
    }
  }
  int64_t size() const { return int64_t(pos.size()) - 1; }
  int64_t degree(int64_t i) const { return pos[size_t(i) + 1] - pos[size_t(i)]; }
};

/// A pattern that is filled row by row and then given away.
class Pattern {
public:
  Pattern(Index rows, Index most)
      : rows(rows), most(most), pos(static_cast<Index *>(std::malloc((rows + 1) * 8))),
        crd(static_cast<Index *>(std::malloc(std::max<Index>(most, 1) * 8))) {
    pos[0] = 0;
  }
  void push(int64_t column) { crd[count++] = Index(column); }
  void endRow() { pos[++row] = count; }
  std::shared_ptr<Owned> give(Object type) {
    auto made = std::make_shared<Owned>();
    void *value = std::calloc(1, 4);
    constexpr bool sameValue = true;
    require(library().importCsr(&made->handle, type, rows, rows, &pos, &crd, &value, (rows + 1) * 8,
                                std::max<Index>(most, 1) * 8, 4, sameValue, false, nullptr));
    return made;
  }

private:
  Index rows, most, row = 0, count = 0;
  Index *pos, *crd;
};

struct FastSv {
  GraphBlas &g = library();
  Object type = g.named("GrB_UINT32"), minimum = g.named("GrB_MIN_UINT32"),
         second = g.named("GrB_MIN_SECOND_SEMIRING_UINT32"), differ = g.named("GrB_NE_UINT32"),
         any = g.named("GrB_LOR_MONOID_BOOL");
  int (*tuples)(Index *, uint32_t *, Index *,
                Object) = g.f<int(Index *, uint32_t *, Index *, Object)>("GrB_Vector_extractTuples_UINT32");
  int (*extract)(Object, Object, Object, Object, const Index *, Index, Object) =
      g.f<int(Object, Object, Object, Object, const Index *, Index, Object)>("GrB_Vector_extract");
  int (*reduce)(bool *, Object, Object, Object,
                Object) = g.f<int(bool *, Object, Object, Object, Object)>("GrB_Vector_reduce_BOOL");

  Index size;
  std::shared_ptr<Owned> grand, next, least, changed;
  std::vector<uint32_t> parent, values;
  std::vector<Index> pointers;

  explicit FastSv(Index size)
      : size(size), next(newVector(type, size)), changed(newVector(g.boolean, size)), parent(size),
        values(size), pointers(size) {
    std::iota(parent.begin(), parent.end(), 0u);
    grand = full(parent);
    least = full(parent);
  }

  std::shared_ptr<Owned> full(const std::vector<uint32_t> &from) {
    auto made = std::make_shared<Owned>();
    made->isVector = true;
    void *memory = std::malloc(from.size() * 4);
    std::copy(from.begin(), from.end(), static_cast<uint32_t *>(memory));
    require(g.importVector(&made->handle, type, size, &memory, size * 4, false, nullptr));
    return made;
  }

  const std::vector<uint32_t> &read(Object from) {
    Index count = size;
    require(tuples(nullptr, values.data(), &count, from));
    return values;
  }

  void run(Object edges) {
    for (bool again = true; again;) {
      require(g.mxv(least->handle, nullptr, minimum, second, edges, grand->handle, nullptr));
      const std::vector<uint32_t> &hooks = read(least->handle);
      for (Index i = 0; i < size; ++i)
        pointers[i] = parent[i];
      for (Index i = 0; i < size; ++i)
        parent[pointers[i]] = std::min(parent[pointers[i]], hooks[i]);
      for (Index i = 0; i < size; ++i)
        parent[i] = std::min(parent[i], hooks[i]);
      const std::vector<uint32_t> &before = read(grand->handle);
      for (Index i = 0; i < size; ++i)
        pointers[i] = parent[i] = std::min(parent[i], before[i]);
      const auto all = full(parent);
      require(extract(next->handle, nullptr, nullptr, all->handle, pointers.data(), size, nullptr));
      require(
          g.multiplyVectors(changed->handle, nullptr, nullptr, differ, next->handle, grand->handle, nullptr));
      require(reduce(&again, nullptr, any, changed->handle, nullptr));
      std::swap(grand, next);
    }
  }
};

std::shared_ptr<Owned> sampled(const Graph &graph, Object type) {
  Pattern made(Index(graph.size()), Index(graph.size() * kSampledEdges));
  for (int64_t i = 0; i < graph.size(); ++i) {
    for (int64_t k = 0; k < std::min(graph.degree(i), kSampledEdges); ++k)
      made.push(graph.crd[size_t(graph.pos[size_t(i)] + k)]);
    made.endRow();
  }
  return made.give(type);
}

uint32_t mostFrequent(const std::vector<uint32_t> &labels) {
  std::mt19937 random(1);
  std::unordered_map<uint32_t, int> counts;
  for (int sample = 0; sample < kSampledVertices; ++sample)
    ++counts[labels[random() % labels.size()]];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto &a, const auto &b) { return a.second < b.second; })
      ->first;
}

/// What is left once the largest component is one vertex, its root.
std::shared_ptr<Owned> contracted(const Graph &graph, const std::vector<uint32_t> &labels, uint32_t largest,
                                  Object type) {
  Pattern made(Index(graph.size()), graph.crd.size());
  for (int64_t i = 0; i < graph.size(); ++i) {
    bool meetsLargest = false;
    if (labels[size_t(i)] != largest)
      for (int64_t k = graph.pos[size_t(i)]; k < graph.pos[size_t(i) + 1]; ++k) {
        const int32_t j = graph.crd[size_t(k)];
        const bool isIn = labels[size_t(j)] == largest;
        meetsLargest |= isIn;
        if (!isIn)
          made.push(j);
      }
    if (meetsLargest)
      made.push(largest);
    made.endRow();
  }
  return made.give(type);
}

double components(const Graph &graph, Object edges) {
  FastSv state{Index(graph.size())};
  const bool samples = int64_t(graph.crd.size()) > 2 * kSampledEdges * graph.size() && graph.size() > 1024;
  if (samples) {
    state.run(sampled(graph, state.type)->handle);
    const uint32_t largest = mostFrequent(state.parent);
    state.run(contracted(graph, state.parent, largest, state.type)->handle);
  } else {
    state.run(edges);
  }
  return std::accumulate(state.parent.begin(), state.parent.end(), 0.0);
}

} // namespace

std::function<double()> graphBlasComponents(const Task &task) {
  const auto graph = std::make_shared<Graph>(task.input.a().view(), task.input.csc().view());
  Pattern whole(Index(graph->size()), graph->crd.size());
  for (int64_t i = 0; i < graph->size(); ++i) {
    for (int64_t k = graph->pos[size_t(i)]; k < graph->pos[size_t(i) + 1]; ++k)
      whole.push(graph->crd[size_t(k)]);
    whole.endRow();
  }
  return [graph, edges = whole.give(library().named("GrB_UINT32"))] {
    return components(*graph, edges->handle);
  };
}

} // namespace tulle::bench
