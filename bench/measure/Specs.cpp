// The inputs by their names.
#include "Input.h"
#include "runtime/generate/Generate.h"
#include "runtime/io/Io.h"
#include "runtime/tensor/MemoryLimits.h"
#include "tulle/error.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>

namespace tulle::bench {

using runtime::Entries;

/// As doubles: whatever a file holds, the benchmarks compute in double precision.
static Entries doubles(Entries entries) {
  if (entries.type == ElementType::F64)
    return entries;
  std::vector<std::byte> made(size_t(entries.count()) * sizeof(double));
  auto *to = reinterpret_cast<double *>(made.data());
  for (int64_t k = 0; k < entries.count(); ++k)
    to[k] = 1.0 + double(k % 7);
  entries.type = ElementType::F64;
  entries.values = std::move(made);
  return entries;
}

static std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

static int64_t number(const std::string &text, const std::string &spec) {
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || value > INT32_MAX)
      throw Error("bench: '" + text + "' in " + spec + " is not a size");
    value = value * 10 + (c - '0');
  }
  if (value == 0)
    throw Error("bench: a size in " + spec + " is missing or 0");
  return value;
}

static Entries withValues(Entries entries) {
  entries.type = ElementType::F64;
  entries.values.resize(entries.coords[0].size() * sizeof(double));
  auto *values = reinterpret_cast<double *>(entries.values.data());
  for (size_t k = 0; k < entries.coords[0].size(); ++k)
    values[k] = 0.5 + double(k * 2654435761u % 1000) / 1000;
  return entries;
}

/// `count` entries of a vector, one at random in each of as many stretches of equal length.
static Entries vectorEntries(int64_t size, int64_t count, uint64_t seed) {
  Entries entries;
  entries.dims = {size};
  entries.coords.resize(1);
  uint64_t state = seed;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t begin = size * k / count, end = size * (k + 1) / count;
    state = state * 6364136223846793005u + 1442695040888963407u;
    entries.coords[0].push_back(begin + int64_t((state >> 33) % uint64_t(std::max<int64_t>(end - begin, 1))));
  }
  return withValues(std::move(entries));
}

/// Throws Error where entries of `order` dimensions, so many, do not fit the memory.
static void requireMemory(int64_t count, int64_t order, const std::string &spec) {
  runtime::requireMemory(runtime::checkedMul(count, order * int64_t(sizeof(int64_t)) + 8, spec), spec);
}

/// Dense blocks of `size` rows and columns where `pattern` has entries, as finite elements with many unknowns
/// each give.
static Entries blocks(const Entries &pattern, int64_t size, const std::string &spec) {
  requireMemory(runtime::checkedMul(pattern.count(), runtime::checkedMul(size, size, spec), spec), 2, spec);
  Entries entries;
  entries.dims = {pattern.dims[0] * size, pattern.dims[1] * size};
  entries.coords.resize(2);
  for (int64_t k = 0; k < pattern.count(); ++k)
    for (int64_t inside = 0; inside < size * size; ++inside) {
      entries.coords[0].push_back(pattern.coords[0][size_t(k)] * size + inside / size);
      entries.coords[1].push_back(pattern.coords[1][size_t(k)] * size + inside % size);
    }
  return withValues(std::move(entries));
}

/// The `width` columns around the diagonal, as far as there are some.
static Entries band(int64_t size, int64_t width) {
  Entries entries;
  entries.dims = {size, size};
  entries.coords.resize(2);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = std::max<int64_t>(i - width / 2, 0); j < std::min(i - width / 2 + width, size); ++j) {
      entries.coords[0].push_back(i);
      entries.coords[1].push_back(j);
    }
  return withValues(std::move(entries));
}

/// Rows of the first `least` to `most` columns.
static Entries rows(int64_t count, int64_t least, int64_t most) {
  Entries entries;
  entries.dims = {count, most};
  entries.coords.resize(2);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < least + int64_t(uint64_t(i) * 2654435761u >> 8) % (most - least + 1); ++j) {
      entries.coords[0].push_back(i);
      entries.coords[1].push_back(j);
    }
  return withValues(std::move(entries));
}

/// The pattern of a butterfly: rows and columns whose numbers differ in one bit at most.
static Entries butterfly(int64_t size) {
  Entries entries;
  entries.dims = {size, size};
  entries.coords.resize(2);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j)
      if (const int64_t bits = i ^ j; (bits & (bits - 1)) == 0) {
        entries.coords[0].push_back(i);
        entries.coords[1].push_back(j);
      }
  return entries;
}

/// What pruning leaves: `percent` of all entries, in every other row.
static Entries pruned(int64_t rows, int64_t columns, int64_t percent) {
  Entries entries;
  entries.dims = {rows, columns};
  entries.coords.resize(2);
  for (int64_t i = 0; i < rows; i += 2)
    for (int64_t j = 0; j < columns; ++j)
      if ((uint64_t(i * columns + j) * 2654435761u >> 7) % 100 < uint64_t(2 * percent)) {
        entries.coords[0].push_back(i);
        entries.coords[1].push_back(j);
      }
  return entries;
}

/// Full matrices A and B of three dimensions, the first of which numbers them: A's have as many columns as
/// B's have rows, and all these sizes lie between `least` and `most`.
static std::pair<Entries, Entries> batch(int64_t count, int64_t least, int64_t most) {
  auto size = [=](int64_t b, uint64_t which) {
    return least + int64_t((uint64_t(b) * 3 + which) * 2654435761u >> 8) % (most - least + 1);
  };
  auto matrices = [=](uint64_t rows, uint64_t columns) {
    Entries entries;
    entries.dims = {count, most, most};
    entries.coords.resize(3);
    for (int64_t b = 0; b < count; ++b)
      for (int64_t i = 0; i < size(b, rows); ++i)
        for (int64_t j = 0; j < size(b, columns); ++j)
          for (auto [d, at] : {std::pair(0, b), {1, i}, {2, j}})
            entries.coords[size_t(d)].push_back(at);
    return withValues(std::move(entries));
  };
  return {matrices(0, 1), matrices(1, 2)};
}

/// The entries below the diagonal of the pattern and its transpose.
static Entries lower(const Entries &all) {
  std::vector<std::pair<int64_t, int64_t>> below;
  for (int64_t k = 0; k < all.count(); ++k) {
    const int64_t i = all.coords[0][size_t(k)], j = all.coords[1][size_t(k)];
    if (i != j)
      below.emplace_back(std::max(i, j), std::min(i, j));
  }
  std::sort(below.begin(), below.end());
  below.erase(std::unique(below.begin(), below.end()), below.end());
  Entries entries;
  entries.dims = all.dims;
  entries.coords.resize(2);
  for (auto [i, j] : below) {
    entries.coords[0].push_back(i);
    entries.coords[1].push_back(j);
  }
  return withValues(std::move(entries));
}

/// For each center, the numbers of the places around it, itself among them: a table whose value is the
/// neighbor's number. `number` has -1 where there is no place, and a margin.
static Entries neighbors(const std::vector<int64_t> &number, const std::vector<int64_t> &centers,
                         const std::vector<int64_t> &offsets) {
  std::vector<int64_t> row, tap;
  std::vector<double> met;
  for (size_t i = 0; i < centers.size(); ++i)
    for (size_t r = 0; r < offsets.size(); ++r)
      if (const int64_t there = number[size_t(centers[i] + offsets[r])]; there >= 0) {
        row.push_back(int64_t(i));
        tap.push_back(int64_t(r));
        met.push_back(double(there));
      }
  Entries entries;
  entries.type = ElementType::F64;
  entries.dims = {int64_t(centers.size()), int64_t(offsets.size())};
  entries.coords = {row, tap};
  entries.values.resize(met.size() * sizeof(double));
  std::memcpy(entries.values.data(), met.data(), entries.values.size());
  return entries;
}

/// The `taps` by `taps` pixels around every `stride`th of every `stride`th line.
static Entries pixels(int64_t height, int64_t width, int64_t taps, int64_t stride) {
  const int64_t margin = taps / 2, line = width + 2 * margin;
  std::vector<int64_t> number(size_t((height + 2 * margin) * line), -1), centers, offsets;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const int64_t at = (y + margin) * line + x + margin;
      number[size_t(at)] = y * width + x;
      if (y % stride == 0 && x % stride == 0)
        centers.push_back(at);
    }
  for (int64_t y = -margin; y <= margin; ++y)
    for (int64_t x = -margin; x <= margin; ++x)
      offsets.push_back(y * line + x);
  return neighbors(number, centers, offsets);
}

/// The 3 by 3 by 3 voxels around each of `percent` of those in a shell, three thick, of a ball in a cube.
static Entries voxels(int64_t size, int64_t percent) {
  const int64_t line = size + 2, twice = size * 9 / 10; // the ball's diameter
  std::vector<int64_t> number(size_t(line * line * line), -1), centers, offsets;
  uint64_t state = 7;
  int64_t count = 0;
  for (int64_t x = 0; x < size; ++x)
    for (int64_t y = 0; y < size; ++y)
      for (int64_t z = 0; z < size; ++z) {
        int64_t square = 0; // of twice the distance from the middle
        for (int64_t at : {x, y, z})
          square += (2 * at - size + 1) * (2 * at - size + 1);
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (square < (twice - 3) * (twice - 3) || square >= (twice + 3) * (twice + 3) ||
            int64_t((state >> 33) % 100) >= percent)
          continue;
        centers.push_back(((x + 1) * line + y + 1) * line + z + 1);
        number[size_t(centers.back())] = count++;
      }
  for (int64_t x : {-1, 0, 1})
    for (int64_t y : {-1, 0, 1})
      for (int64_t z : {-1, 0, 1})
        offsets.push_back((x * line + y) * line + z);
  return neighbors(number, centers, offsets);
}

/// The rows in ascending order of the columns of their first entries, empty ones first.
static Entries sortedRows(Entries all) {
  std::vector<int64_t> first(size_t(all.dims[0]), -1), order(first.size()), to(first.size());
  for (int64_t k = all.count() - 1; k >= 0; --k) {
    int64_t &column = first[size_t(all.coords[0][size_t(k)])];
    column = column < 0 ? all.coords[1][size_t(k)] : std::min(column, all.coords[1][size_t(k)]);
  }
  std::iota(order.begin(), order.end(), int64_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return first[size_t(i)] < first[size_t(j)]; });
  for (size_t k = 0; k < order.size(); ++k)
    to[size_t(order[k])] = int64_t(k);
  for (int64_t &row : all.coords[0])
    row = to[size_t(row)];
  return all;
}

/// The inputs of whole programs.
static std::optional<std::pair<Entries, Entries>> workload(const std::vector<std::string> &parts,
                                                           const std::string &spec) {
  const std::string &kind = parts[0];
  const bool known = (kind == "pixels" && (parts.size() == 3 || parts.size() == 5)) ||
                     (kind == "voxels" && parts.size() == 3) || (kind == "band" && parts.size() == 3) ||
                     (kind == "butterfly" && parts.size() == 3) || (kind == "pruned" && parts.size() == 5) ||
                     ((kind == "batch" || kind == "rows") && parts.size() == 4);
  if (!known)
    return std::nullopt;
  std::vector<int64_t> n;
  for (size_t k = 1; k < parts.size(); ++k)
    n.push_back(number(parts[k], spec));
  if (kind == "band") {
    requireMemory(runtime::checkedMul(n[0], n[1], spec), 2, spec);
    return {{band(n[0], n[1]), {}}};
  }
  if (kind == "pixels") {
    const int64_t taps = n.size() > 2 ? n[2] : 3, stride = n.size() > 2 ? n[3] : 1;
    if (taps % 2 == 0 || stride < 1)
      throw Error("bench: taps are an odd number, and a stride is 1 or more, in " + spec);
    const int64_t around = runtime::checkedMul(taps, taps, spec), all = runtime::checkedMul(n[0], n[1], spec);
    requireMemory(runtime::checkedMul(around, all, spec), 2, spec);
    return {{pixels(n[0], n[1], taps, stride), {}}};
  }
  if (kind == "voxels") {
    requireMemory(runtime::checkedMul(27 * n[0], runtime::checkedMul(n[0], n[0], spec), spec), 1, spec);
    return {{voxels(n[0], n[1]), {}}};
  }
  if ((kind == "batch" || kind == "rows") && n[1] > n[2])
    throw Error("bench: the least size in " + spec + " is more than the most");
  if (kind == "rows") {
    requireMemory(runtime::checkedMul(n[0], n[2], spec), 2, spec);
    return {{rows(n[0], n[1], n[2]), {}}};
  }
  if (kind == "batch") {
    requireMemory(runtime::checkedMul(2 * n[0], runtime::checkedMul(n[2], n[2], spec), spec), 3, spec);
    return batch(n[0], n[1], n[2]);
  }
  const int64_t size = kind == "pruned" ? n[2] : n[1];
  if (n[0] % size != 0 || (kind == "pruned" && n[1] % size != 0))
    throw Error("bench: the sizes in " + spec + " are no multiples of the blocks'");
  return {
      {blocks(kind == "pruned" ? pruned(n[0] / size, n[1] / size, n[3]) : butterfly(n[0] / size), size, spec),
       {}}};
}

std::pair<Entries, Entries> loadInput(const std::string &spec) {
  const std::vector<std::string> parts = split(spec, ':');
  if (spec.starts_with("lower:")) {
    Entries all = loadInput(spec.substr(6)).first;
    if (all.dims.size() != 2 || all.dims[0] != all.dims[1])
      throw Error("bench: " + spec + ": only a square matrix has a lower triangle here");
    return {lower(all), {}};
  }
  if (spec.starts_with("sorted:")) {
    Entries all = loadInput(spec.substr(7)).first;
    if (all.dims.size() != 2)
      throw Error("bench: " + spec + ": only a matrix has rows to sort");
    return {sortedRows(std::move(all)), {}};
  }
  if (parts[0] == "vectors" && parts.size() == 4) {
    const int64_t size = number(parts[1], spec), a = number(parts[2], spec), b = number(parts[3], spec);
    if (std::max(a, b) > size)
      throw Error("bench: " + spec + " asks for more entries than the vector has");
    return {vectorEntries(size, a, 7), vectorEntries(size, b, 8)};
  }
  if (parts[0] == "nm24" && parts.size() == 3) {
    const std::string grouped = "nm:" + parts[1] + ":" + parts[2] + ":2:4";
    return {runtime::generate(grouped, {}, ElementType::F64).entries, {}};
  }
  if (parts[0] == "blocks" && parts.size() == 4) {
    const std::string pattern = "uniform:" + parts[1] + ":" + parts[1] + ":" + parts[3];
    return {blocks(runtime::generate(pattern, {}, ElementType::F64).entries, number(parts[2], spec), spec),
            {}};
  }
  if (std::optional<std::pair<Entries, Entries>> made = workload(parts, spec))
    return std::move(*made);
  if (parts.size() == 2 && parts[0].find('x') != std::string::npos && spec.find('/') == std::string::npos) {
    std::vector<int64_t> dims;
    for (const std::string &size : split(parts[0], 'x'))
      dims.push_back(number(size, spec));
    return {runtime::generate("random:7:" + parts[1], dims, ElementType::F64).entries, {}};
  }
  if (runtime::isGenerator(spec))
    return {runtime::generate(spec, {}, ElementType::F64).entries, {}};
  runtime::FileContents file = runtime::readFile(spec);
  return {doubles(file.isStored ? runtime::unpack(file.stored) : std::move(file.entries)), {}};
}

std::vector<std::string> matricesIn(const std::string &folder) {
  std::vector<std::string> files;
  for (const auto &file : std::filesystem::directory_iterator(folder))
    if (const std::string name = file.path().string(); name.ends_with(".mtx") || name.ends_with(".mtx.gz"))
      files.push_back(name);
  if (files.empty())
    throw Error("bench: no file in " + folder + " ends in .mtx or .mtx.gz");
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace tulle::bench
