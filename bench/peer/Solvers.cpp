#include "Solvers.h"
#include "Fused.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <vector>

namespace tulle::bench {

int64_t sourceOf(const CsrView &a) {
  int64_t most = 0;
  for (int64_t i = 1; i < a.rows; ++i)
    if (a.pos[i + 1] - a.pos[i] > a.pos[most + 1] - a.pos[most])
      most = i;
  return most;
}

void conjugateGradients(const CsrView &a, const double *b, double *x) {
  const size_t n = size_t(a.rows);
  std::vector<double> p(b, b + n), r(p), q(n), y(n), s(n), u(n), now(n);
  double rr = 0;
  for (size_t i = 0; i < n; ++i)
    rr += b[i] * b[i];
  const double limit = 1e-16 * rr;
  do {
    double next = 0;
    cgStep<double>(a, {p.data(), now.data(), r.data(), rr, q.data(), y.data(), s.data(), &next, u.data()});
    std::swap(now, y);
    std::swap(r, s);
    std::swap(p, u);
    rr = next;
  } while (rr >= limit);
  std::copy(now.begin(), now.end(), x);
}

std::vector<double> leaving(const CsrView &a) {
  std::vector<double> count(size_t(a.columns));
  for (int32_t k = 0; k < a.pos[a.rows]; ++k)
    ++count[size_t(a.crd[k])];
  return count;
}

void pageRank(const CsrView &a, const double *n, double c, double *x) {
  std::vector<double> next(size_t(a.rows)), w(next);
  std::fill_n(x, a.rows, c);
  double change = 0;
  do {
#pragma omp parallel for simd schedule(static)
    for (int64_t j = 0; j < a.columns; ++j)
      w[size_t(j)] = x[j] / std::max(n[j], 1.0);
    change = 0;
#pragma omp parallel for schedule(static) reduction(+ : change)
    for (int64_t i = 0; i < a.rows; ++i) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k)
        sum += w[size_t(a.crd[k])];
      next[size_t(i)] = c + 0.85 * sum;
      change += std::abs(next[size_t(i)] - x[i]);
    }
    std::copy(next.begin(), next.end(), x);
  } while (change >= 1e-10);
}

void breadthFirstSearch(const CsrView &a, int64_t source, double *distance) {
  std::fill_n(distance, a.rows, -1.0);
  std::vector<int32_t> queue(size_t(a.rows));
  size_t end = 0;
  distance[source] = 0;
  queue[end++] = int32_t(source);
  for (size_t begin = 0; begin < end; ++begin) {
    const int32_t i = queue[begin];
    for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k)
      if (const int32_t j = a.crd[k]; distance[j] < 0) {
        distance[j] = distance[i] + 1;
        queue[end++] = j;
      }
  }
}

void shortestPaths(const CsrView &a, int64_t source, double *distance) {
  std::fill_n(distance, a.rows, std::numeric_limits<double>::infinity());
  using Reached = std::pair<double, int32_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
  distance[source] = 0;
  queue.push({0, int32_t(source)});
  while (!queue.empty()) {
    const auto [length, i] = queue.top();
    queue.pop();
    if (length > distance[i])
      continue;
    for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k) {
      const double next = length + std::abs(a.value[k]);
      if (const int32_t j = a.crd[k]; next < distance[j]) {
        distance[j] = next;
        queue.push({next, j});
      }
    }
  }
  std::replace(distance, distance + a.rows, std::numeric_limits<double>::infinity(), -1.0);
}

void components(const CsrView &a, double *label) {
  std::vector<int32_t> parent(size_t(a.rows));
  std::iota(parent.begin(), parent.end(), 0);
  auto root = [&](int32_t i) {
    while (parent[size_t(i)] != i)
      i = parent[size_t(i)] = parent[size_t(parent[size_t(i)])];
    return i;
  };
  for (int32_t i = 0; i < int32_t(a.rows); ++i)
    for (int32_t k = a.pos[i]; k < a.pos[i + 1]; ++k) {
      const int32_t x = root(i), y = root(a.crd[k]);
      parent[size_t(std::max(x, y))] = std::min(x, y);
    }
  for (int32_t i = 0; i < int32_t(a.rows); ++i)
    label[i] = root(i);
}

} // namespace tulle::bench
