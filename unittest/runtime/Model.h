// A tensor as a plain map of coordinates: what every format is compared with.
#pragma once
#include "runtime/tensor/Tensor.h"
#include "tulle/error.h"
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tulle::runtime::testing {

using Coordinates = std::vector<int64_t>;
using Map = std::map<Coordinates, double>;

inline format::Encoding encoding(std::string_view text, unsigned order = 2) {
  return format::parseFormat(text, order);
}

inline Entries makeEntries(std::vector<int64_t> dims, const std::vector<std::pair<Coordinates, double>> &list,
                           ElementType type = ElementType::F64) {
  Entries entries;
  entries.type = type;
  entries.coords.resize(dims.size());
  entries.dims = std::move(dims);
  entries.values.resize(list.size() * byteWidth(type));
  for (size_t e = 0; e < list.size(); ++e) {
    for (size_t d = 0; d < entries.dims.size(); ++d)
      entries.coords[d].push_back(list[e].first[d]);
    Scalar value;
    value.f = list[e].second;
    storeScalar(type, entries.values.data() + e * byteWidth(type),
                convertScalar(value, ElementType::F64, type));
  }
  return entries;
}

/// The matrix of formats.md whose 2x2 block storage is printed there.
inline Entries blockExample() {
  return makeEntries({4, 6}, {{{0, 0}, 1},
                              {{0, 1}, 2},
                              {{0, 4}, 4},
                              {{1, 1}, 3},
                              {{1, 5}, 5},
                              {{2, 2}, 6},
                              {{2, 3}, 7},
                              {{3, 2}, 8}});
}

inline double value(const Tensor &t, int64_t position) {
  const auto *at = static_cast<const std::byte *>(t.values()) + position * byteWidth(t.type);
  return convertScalar(loadScalar(t.type, at), t.type, ElementType::F64).f.real();
}

/// What is stored, duplicates summed.
inline Map stored(const Tensor &t) {
  Map map;
  forEachStored(t, [&](std::span<const int64_t> c, int64_t p) { map[{c.begin(), c.end()}] += value(t, p); });
  return map;
}

inline Map sum(const Entries &entries) {
  Map map;
  for (int64_t e = 0; e < entries.count(); ++e) {
    Coordinates c;
    for (const auto &column : entries.coords)
      c.push_back(column[e]);
    Scalar v = loadScalar(entries.type, entries.values.data() + e * byteWidth(entries.type));
    map[c] += convertScalar(v, entries.type, ElementType::F64).f.real();
  }
  return map;
}

/// Without the zeros that block padding stores.
inline Map nonzeros(Map map) {
  std::erase_if(map, [](const auto &item) { return item.second == 0; });
  return map;
}

/// The message of the Error that f throws, or "no error".
template <class F> std::string errorOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

/// The contents of field `f` as integers.
inline std::vector<int64_t> field(const Tensor &t, unsigned f) {
  std::vector<int64_t> out;
  const auto *data = static_cast<const uint8_t *>(t.buffers[f].data);
  for (int64_t i = 0; i < t.buffers[f].count; ++i) {
    unsigned width = t.layout().fields[f].width;
    uint64_t v = 0;
    if (width == 2)
      v = data[i / 4] >> (i % 4 * 2) & 3;
    else
      std::memcpy(&v, data + i * (width / 8), width / 8); // little-endian
    out.push_back(int64_t(v));
  }
  return out;
}

inline std::vector<double> values(const Tensor &t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.storedCount(); ++i)
    out.push_back(value(t, i));
  return out;
}

} // namespace tulle::runtime::testing
