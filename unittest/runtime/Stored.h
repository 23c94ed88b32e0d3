// One small matrix in every format, its buffers written out by hand from the table in format/Layout.h.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <cstring>
#include <map>

namespace tulle::runtime::testing {

/// 5 x 5, row by row; the third row is empty.
///     1 2 . . .
///     . 3 . . .
///     . . . . .
///     4 . . 5 6
///     . . 7 . .
inline std::vector<double> storedExample() {
  return {1, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 5, 6, 0, 0, 7, 0, 0};
}

/// Buffers as lists: one for each field of the layout but the values. 32-bit coordinates and positions.
inline Tensor stored(const std::string &format, std::vector<int64_t> dims,
                     const std::vector<std::vector<int64_t>> &fields, const std::vector<double> &values) {
  Tensor t;
  t.encoding = format::resolveWidths(format::parseFormat(format, unsigned(dims.size())), 100, 100);
  t.dims = std::move(dims);
  for (size_t f = 0; f < fields.size(); ++f) {
    int64_t bytes = t.layout().fields[f].width / 8, count = int64_t(fields[f].size());
    Buffer b = Buffer::allocate(count, count * bytes, true, "test");
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(static_cast<char *>(b.data) + i * bytes, &fields[f][size_t(i)], size_t(bytes));
    t.buffers.push_back(b);
  }
  int64_t count = int64_t(values.size());
  Buffer b = Buffer::allocate(count, count * 8, true, "test");
  if (count > 0)
    std::memcpy(b.data, values.data(), values.size() * 8);
  t.buffers.push_back(b);
  return t;
}

/// The matrix above. `e` is an empty slot.
inline std::map<std::string, Tensor> storedExamples() {
  constexpr int64_t e = -1;
  auto of = [](const std::string &format, const std::vector<std::vector<int64_t>> &fields,
               const std::vector<double> &values) {
    return std::pair(format, stored(format, {5, 5}, fields, values));
  };
  return {
      of("DIA", {{4}, {-3, -2, 0, 1}}, {0, 0, 0, 4, 0, 0, 0, 0, 0, 7, 1, 3, 0, 5, 0, 2, 0, 0, 6, 0}),
      of("ELL", {{3}, {0, 1, e, 0, 2, 1, e, e, 3, e, e, e, e, 4, e}},
         {1, 3, 0, 4, 7, 2, 0, 0, 5, 0, 0, 0, 0, 6, 0}),
      of("ELLR", {{3}, {0, 1, e, 1, e, e, e, e, e, 0, 3, 4, 2, e, e}},
         {1, 2, 0, 3, 0, 0, 0, 0, 0, 4, 5, 6, 7, 0, 0}),
      of("(i, j) -> (i : dense, j : fixed[4])",
         {{0, 1, e, e, 1, e, e, e, e, e, e, e, 0, 3, 4, e, 2, e, e, e}},
         {1, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 0, 7, 0, 0, 0}),
      // Rows by decreasing length: 3, 0, 1, 4, 2.
      of("JDS", {{3}, {3, 0, 1, 4, 2}, {0, 4, 6, 7}, {0, 0, 1, 2, 3, 1, 4}}, {4, 1, 3, 7, 5, 2, 6}),
      // Rows 0 to 3 by decreasing length, then row 4 alone in its window and, with nobody, in its slice.
      of("SELL(2,4)", {{3, 0, 1, 2, 4}, {0, 3, 4, 5}, {0, 0, 3, 1, 4, e, 1, e, 2, e}},
         {4, 1, 5, 2, 6, 0, 3, 0, 7, 0}),
      // From the first entry to the last one or the diagonal.
      of("skyline", {{0, 2, 3, 3, 8, 11}, {0, 1, 0, 0, 2}}, {1, 2, 3, 4, 0, 0, 5, 6, 7, 0, 0}),
      // The top bits of x * 0x9E3779B97F4A7C15: of 0, 1, 2, 3, 4 they begin 000, 100, 001, 110, 011.
      of("DOK",
         {{0, 8},
          {0, e, e, 4, 1, e, 3, e},
          {0, 4, 4, 4, 6, 8, 8, 16, 16},
          {0, e, 1, e, 2, e, e, 1, 0, e, e, 4, e, e, 3, e}},
         {1, 0, 2, 0, 7, 0, 0, 3, 4, 0, 0, 6, 0, 0, 5, 0}),
      of("bitmap", {{0x43, 0x80, 0x4C, 0, 0, 0, 0, 0}}, storedExample()),
      of("ragged", {{0, 2, 4, 4, 9, 12}}, {1, 2, 0, 3, 4, 0, 0, 5, 6, 0, 0, 7}),
      // Blocks (0,0), (1,0), (1,1), (1,2), (2,1) of 2 x 2 have the Morton codes 0, 2, 3, 6, 9.
      of("HiCOO(1)", {{0, 7}, {0, 0, 0, 0, 0, 1, 0, 1, 1, 2, 1, 0, 3, 1, 1, 6, 1, 0, 9, 0, 0}},
         {1, 2, 3, 4, 5, 6, 7}),
      of("(i, j) -> (i : dense, j : compressed(nonordered))", {{0, 2, 3, 3, 6, 7}, {1, 0, 1, 4, 0, 3, 2}},
         {2, 1, 3, 6, 4, 5, 7}),
      of("(i, j) -> (i : squeezed, j : compressed)",
         {{4}, {0, 1, 3, 4}, {0, 2, 3, 6, 7}, {0, 1, 1, 0, 3, 4, 2}}, {1, 2, 3, 4, 5, 6, 7}),
      of("(i, j) -> (j - i : compressed, i : compressed, j : offset)",
         {{0, 4}, {-3, -2, 0, 1}, {0, 1, 2, 5, 7}, {3, 4, 0, 1, 3, 0, 3}}, {4, 7, 1, 3, 5, 2, 6}),
      of("CSR", {{0, 2, 3, 3, 6, 7}, {0, 1, 1, 0, 3, 4, 2}}, {1, 2, 3, 4, 5, 6, 7}),
  };
}

} // namespace tulle::runtime::testing
