#include "Loops.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace tulle::bench {

template <typename T> static Array<T> uninitialized(int64_t count) {
  return Array<T>(new T[static_cast<size_t>(std::max<int64_t>(count, 1))]);
}

static void freeDoubles(double *data) { std::free(data); }

/// Zeros come from the system, which need not write them.
static std::unique_ptr<double[], void (*)(double *)> zeroed(int64_t count) {
  void *data = std::calloc(static_cast<size_t>(std::max<int64_t>(count, 1)), sizeof(double));
  if (!data)
    throw std::bad_alloc();
  return {static_cast<double *>(data), freeDoubles};
}

static Csr shell(int64_t rows, int64_t columns, int64_t capacity) {
  return {rows, columns, uninitialized<int32_t>(rows + 1), uninitialized<int32_t>(capacity),
          uninitialized<double>(capacity)};
}

Csr sortedCooToCsr(const CooView &from) {
  Csr to = shell(from.rows, from.columns, from.count);
  int64_t row = 0, n = 0;
  to.pos[0] = 0;
  for (int64_t k = 0; k < from.count; ++k) {
    const int32_t i = from.row[k], j = from.column[k];
    if (k > 0 && i == from.row[k - 1] && j == from.column[k - 1]) {
      to.value[n - 1] += from.value[k];
      continue;
    }
    while (row < i)
      to.pos[++row] = int32_t(n);
    to.crd[n] = j;
    to.value[n++] = from.value[k];
  }
  while (row < from.rows)
    to.pos[++row] = int32_t(n);
  return to;
}

/// Sorts the entries of one row by column.
static void sortRow(int32_t *crd, double *value, int64_t count,
                    std::vector<std::pair<int32_t, double>> &row) {
  if (count > 32) {
    row.clear();
    for (int64_t k = 0; k < count; ++k)
      row.emplace_back(crd[k], value[k]);
    std::stable_sort(row.begin(), row.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    for (int64_t k = 0; k < count; ++k)
      std::tie(crd[k], value[k]) = row[size_t(k)];
    return;
  }
  for (int64_t k = 1; k < count; ++k) {
    const int32_t c = crd[k];
    const double v = value[k];
    int64_t at = k;
    for (; at > 0 && crd[at - 1] > c; --at) {
      crd[at] = crd[at - 1];
      value[at] = value[at - 1];
    }
    crd[at] = c;
    value[at] = v;
  }
}

Csr cooToCsr(const CooView &from) {
  Csr to = shell(from.rows, from.columns, from.count);
  std::fill_n(to.pos.get(), from.rows + 1, 0);
  for (int64_t k = 0; k < from.count; ++k)
    ++to.pos[from.row[k] + 1];
  for (int64_t i = 0; i < from.rows; ++i)
    to.pos[i + 1] += to.pos[i];
  // The starts move to the ends, and are shifted back below.
  for (int64_t k = 0; k < from.count; ++k) {
    const int32_t at = to.pos[from.row[k]]++;
    to.crd[at] = from.column[k];
    to.value[at] = from.value[k];
  }
  std::memmove(to.pos.get() + 1, to.pos.get(), size_t(from.rows) * sizeof(int32_t));
  to.pos[0] = 0;
  std::vector<std::pair<int32_t, double>> row;
  int32_t n = 0, begin = 0;
  for (int64_t i = 0; i < from.rows; ++i) {
    const int32_t end = to.pos[i + 1];
    sortRow(to.crd.get() + begin, to.value.get() + begin, end - begin, row);
    const int32_t first = n;
    for (int32_t k = begin; k < end; ++k) {
      if (n > first && to.crd[n - 1] == to.crd[k]) {
        to.value[n - 1] += to.value[k];
      } else {
        to.crd[n] = to.crd[k];
        to.value[n++] = to.value[k];
      }
    }
    to.pos[i + 1] = n;
    begin = end;
  }
  return to;
}

Csr csrToCsc(const CsrView &from) {
  const int32_t count = from.pos[from.rows];
  Csr to = shell(from.columns, from.rows, count);
  std::fill_n(to.pos.get(), from.columns + 1, 0);
  for (int32_t k = 0; k < count; ++k)
    ++to.pos[from.crd[k] + 1];
  for (int64_t j = 0; j < from.columns; ++j)
    to.pos[j + 1] += to.pos[j];
  for (int64_t i = 0; i < from.rows; ++i)
    for (int32_t k = from.pos[i]; k < from.pos[i + 1]; ++k) {
      const int32_t at = to.pos[from.crd[k]]++;
      to.crd[at] = int32_t(i);
      to.value[at] = from.value[k];
    }
  std::memmove(to.pos.get() + 1, to.pos.get(), size_t(from.columns) * sizeof(int32_t));
  to.pos[0] = 0;
  return to;
}

/// `each(visit)` calls visit(i, j, value) for every entry.
template <typename Each> static Dia toDia(int64_t rows, int64_t columns, Each each) {
  std::vector<int32_t> slot(size_t(rows + columns), -1); // by j - i + rows
  each([&](int64_t i, int64_t j, double) { slot[size_t(j - i + rows)] = 0; });
  const int64_t count = std::count(slot.begin(), slot.end(), 0);
  Dia to{rows, count, uninitialized<int32_t>(count), zeroed(count * rows)};
  int32_t next = 0;
  for (size_t d = 0; d < slot.size(); ++d)
    if (slot[d] == 0) {
      to.offset[next] = int32_t(int64_t(d) - rows);
      slot[d] = next++;
    }
  each([&](int64_t i, int64_t j, double v) { to.value[slot[size_t(j - i + rows)] * rows + i] = v; });
  return to;
}

Dia csrToDia(const CsrView &from) {
  return toDia(from.rows, from.columns, [&](auto visit) {
    for (int64_t i = 0; i < from.rows; ++i)
      for (int32_t k = from.pos[i]; k < from.pos[i + 1]; ++k)
        visit(i, from.crd[k], from.value[k]);
  });
}

Dia cscToDia(const CsrView &from) {
  return toDia(from.columns, from.rows, [&](auto visit) {
    for (int64_t j = 0; j < from.rows; ++j)
      for (int32_t k = from.pos[j]; k < from.pos[j + 1]; ++k)
        visit(from.crd[k], j, from.value[k]);
  });
}

Dia cooToDia(const CooView &from) {
  return toDia(from.rows, from.columns, [&](auto visit) {
    for (int64_t k = 0; k < from.count; ++k)
      visit(from.row[k], from.column[k], from.value[k]);
  });
}

Ell csrToEll(const CsrView &from) {
  int32_t width = 0;
  for (int64_t i = 0; i < from.rows; ++i)
    width = std::max(width, from.pos[i + 1] - from.pos[i]);
  const int64_t rows = from.rows;
  Ell to{rows, width, uninitialized<int32_t>(width * rows), uninitialized<double>(width * rows)};
  for (int64_t i = 0; i < rows; ++i) {
    const int32_t begin = from.pos[i], length = from.pos[i + 1] - begin;
    for (int32_t k = 0; k < length; ++k) {
      to.crd[k * rows + i] = from.crd[begin + k];
      to.value[k * rows + i] = from.value[begin + k];
    }
    for (int32_t k = length; k < width; ++k) {
      to.crd[k * rows + i] = -1;
      to.value[k * rows + i] = 0;
    }
  }
  return to;
}

/// `each(visit)` calls visit(i, j, value) for every entry, those of a row by column.
template <typename Each> static Ell toEll(int64_t rows, Each each) {
  std::vector<int32_t> length(size_t(rows), 0);
  each([&](int64_t i, int64_t, double) { ++length[size_t(i)]; });
  const int64_t width = rows ? *std::max_element(length.begin(), length.end()) : 0;
  Ell to{rows, width, uninitialized<int32_t>(width * rows), uninitialized<double>(width * rows)};
  std::fill_n(to.crd.get(), width * rows, -1);
  std::fill_n(to.value.get(), width * rows, 0.0);
  std::fill(length.begin(), length.end(), 0);
  each([&](int64_t i, int64_t j, double v) {
    const int64_t at = length[size_t(i)]++ * rows + i;
    to.crd[at] = int32_t(j);
    to.value[at] = v;
  });
  return to;
}

Ell cscToEll(const CsrView &from) {
  return toEll(from.columns, [&](auto visit) {
    for (int64_t j = 0; j < from.rows; ++j)
      for (int32_t k = from.pos[j]; k < from.pos[j + 1]; ++k)
        visit(from.crd[k], j, from.value[k]);
  });
}

Ell cooToEll(const CooView &from) {
  return toEll(from.rows, [&](auto visit) {
    for (int64_t k = 0; k < from.count; ++k)
      visit(from.row[k], from.column[k], from.value[k]);
  });
}

Skyline csrToSkyline(const CsrView &from) {
  const int64_t rows = from.rows;
  Skyline to{rows, uninitialized<int32_t>(rows + 1), uninitialized<int32_t>(rows), {nullptr, freeDoubles}};
  to.pos[0] = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int32_t begin = from.pos[i], end = from.pos[i + 1];
    to.first[i] = begin < end ? from.crd[begin] : 0;
    const int64_t last =
        begin < end ? std::max<int64_t>(from.crd[end - 1], std::min(i, from.columns - 1)) : -1;
    to.pos[i + 1] = to.pos[i] + int32_t(begin < end ? last - to.first[i] + 1 : 0);
  }
  to.value = zeroed(to.pos[rows]);
  for (int64_t i = 0; i < rows; ++i)
    for (int32_t k = from.pos[i]; k < from.pos[i + 1]; ++k)
      to.value[to.pos[i] + from.crd[k] - to.first[i]] = from.value[k];
  return to;
}

Bcsr csrToBcsr4(const CsrView &from) {
  const int64_t blockRows = (from.rows + 3) / 4, blockColumns = (from.columns + 3) / 4;
  std::vector<int32_t> seen(size_t(blockColumns), -1);
  Bcsr to{blockRows, uninitialized<int32_t>(blockRows + 1), nullptr, {nullptr, freeDoubles}};
  to.pos[0] = 0;
  for (int64_t b = 0; b < blockRows; ++b) {
    int32_t distinct = 0;
    for (int32_t k = from.pos[b * 4], end = from.pos[std::min(b * 4 + 4, from.rows)]; k < end; ++k)
      if (seen[size_t(from.crd[k] >> 2)] != int32_t(b)) {
        seen[size_t(from.crd[k] >> 2)] = int32_t(b);
        ++distinct;
      }
    to.pos[b + 1] = to.pos[b] + distinct;
  }
  to.crd = uninitialized<int32_t>(to.pos[blockRows]);
  to.value = zeroed(int64_t(to.pos[blockRows]) * 16);
  std::fill(seen.begin(), seen.end(), -1);
  std::vector<int32_t> slot(static_cast<size_t>(blockColumns));
  for (int64_t b = 0; b < blockRows; ++b) {
    int32_t n = to.pos[b];
    const int64_t last = std::min(b * 4 + 4, from.rows);
    for (int32_t k = from.pos[b * 4]; k < from.pos[last]; ++k)
      if (const int32_t c = from.crd[k] >> 2; seen[size_t(c)] != int32_t(b)) {
        seen[size_t(c)] = int32_t(b);
        to.crd[n++] = c;
      }
    std::sort(to.crd.get() + to.pos[b], to.crd.get() + n);
    for (int32_t k = to.pos[b]; k < n; ++k)
      slot[size_t(to.crd[k])] = k;
    for (int64_t i = b * 4; i < last; ++i)
      for (int32_t k = from.pos[i]; k < from.pos[i + 1]; ++k)
        to.value[int64_t(slot[size_t(from.crd[k] >> 2)]) * 16 + (i & 3) * 4 + (from.crd[k] & 3)] =
            from.value[k];
  }
  return to;
}

Csr add(const CsrView &a, const CsrView &b) {
  // An upper bound is less work than counting, and untouched pages cost nothing.
  Csr to = shell(a.rows, a.columns, int64_t(a.pos[a.rows]) + b.pos[b.rows]);
  int32_t n = to.pos[0] = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    int32_t p = a.pos[i], q = b.pos[i];
    const int32_t pEnd = a.pos[i + 1], qEnd = b.pos[i + 1];
    while (p < pEnd && q < qEnd) {
      const int32_t c = a.crd[p], d = b.crd[q], least = std::min(c, d);
      to.crd[n] = least;
      to.value[n++] = (c == least ? a.value[p] : 0) + (d == least ? b.value[q] : 0);
      p += c == least;
      q += d == least;
    }
    for (; p < pEnd; ++p, ++n) {
      to.crd[n] = a.crd[p];
      to.value[n] = a.value[p];
    }
    for (; q < qEnd; ++q, ++n) {
      to.crd[n] = b.crd[q];
      to.value[n] = b.value[q];
    }
    to.pos[i + 1] = n;
  }
  return to;
}

Csr multiply(const CsrView &a, const CsrView &b) {
  std::vector<int32_t> seen(size_t(b.columns), -1);
  Array<int32_t> pos = uninitialized<int32_t>(a.rows + 1);
  pos[0] = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    int32_t distinct = 0;
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p)
      for (int32_t q = b.pos[a.crd[p]]; q < b.pos[a.crd[p] + 1]; ++q)
        if (seen[size_t(b.crd[q])] != int32_t(i)) {
          seen[size_t(b.crd[q])] = int32_t(i);
          ++distinct;
        }
    pos[i + 1] = pos[i] + distinct;
  }
  Csr to{a.rows, b.columns, std::move(pos), nullptr, nullptr};
  to.crd = uninitialized<int32_t>(to.pos[a.rows]);
  to.value = uninitialized<double>(to.pos[a.rows]);
  std::fill(seen.begin(), seen.end(), -1);
  Array<double> sum = uninitialized<double>(b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    int32_t n = to.pos[i];
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p)
      for (int32_t q = b.pos[a.crd[p]]; q < b.pos[a.crd[p] + 1]; ++q) {
        const int32_t c = b.crd[q];
        const double product = a.value[p] * b.value[q];
        if (seen[size_t(c)] != int32_t(i)) {
          seen[size_t(c)] = int32_t(i);
          to.crd[n++] = c;
          sum[c] = product;
        } else {
          sum[c] += product;
        }
      }
    std::sort(to.crd.get() + to.pos[i], to.crd.get() + n);
    for (int32_t k = to.pos[i]; k < n; ++k)
      to.value[k] = sum[to.crd[k]];
  }
  return to;
}

Csr multiplyMasked(const CsrView &mask, const CsrView &a, const CsrView &b) {
  // The mask's entry of the row for each of its columns, the sum there, and whether anything was added.
  std::vector<int32_t> allowed(size_t(b.columns), -1);
  std::vector<char> hit;
  Csr to = shell(mask.rows, mask.columns, mask.pos[mask.rows]);
  std::vector<double> sum;
  int32_t n = to.pos[0] = 0;
  for (int64_t i = 0; i < mask.rows; ++i) {
    const int32_t begin = mask.pos[i], count = mask.pos[i + 1] - begin;
    sum.assign(size_t(count), 0);
    hit.assign(size_t(count), 0);
    for (int32_t k = 0; k < count; ++k)
      allowed[size_t(mask.crd[begin + k])] = k;
    for (int32_t p = a.pos[i]; count > 0 && p < a.pos[i + 1]; ++p)
      for (int32_t q = b.pos[a.crd[p]]; q < b.pos[a.crd[p] + 1]; ++q)
        if (const int32_t k = allowed[size_t(b.crd[q])]; k >= 0) {
          sum[size_t(k)] += a.value[p] * b.value[q];
          hit[size_t(k)] = 1;
        }
    for (int32_t k = 0; k < count; ++k) {
      allowed[size_t(mask.crd[begin + k])] = -1;
      if (hit[size_t(k)]) {
        to.crd[n] = mask.crd[begin + k];
        to.value[n++] = sum[size_t(k)];
      }
    }
    to.pos[i + 1] = n;
  }
  return to;
}

} // namespace tulle::bench
