// A table of families: each checks its arguments, says the sizes that they imply, and makes the entries from
// random numbers or a grid.
#include "runtime/generate/Generate.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <array>
#include <charconv>

namespace tulle::runtime {

namespace {

/// The same numbers on every machine: SplitMix64 (Steele, Lea, Flood 2014), no library distribution.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) {}

  uint64_t bits() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  double unit() { return double(bits() >> 11) * 0x1p-53; }
  /// Uniform in 0 .. bound-1 up to a bias of bound / 2^64.
  uint64_t below(uint64_t bound) { return uint64_t((static_cast<unsigned __int128>(bits()) * bound) >> 64); }

private:
  uint64_t state;
};

/// A spec taken apart: `uniform:10:20:3` is name "uniform", arguments "10", "20", "3".
struct Spec {
  std::string text, name;
  std::vector<std::string> arguments;

  /// Argument i as an integer within low..high. Throws Error naming the argument and the range.
  int64_t integer(size_t i, std::string_view what, int64_t low, int64_t high) const {
    return number(i, what, low, high, "an integer");
  }
  double real(size_t i, std::string_view what, double low, double high) const {
    return number(i, what, low, high, "a number");
  }

private:
  template <class Number>
  Number number(size_t i, std::string_view what, Number low, Number high, std::string_view kind) const {
    const std::string &s = arguments[i];
    Number value = 0;
    auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (error != std::errc() || end != s.data() + s.size() || !(value >= low && value <= high))
      throwError("'{}': {} must be {} from {} to {}, got '{}'", text, what, kind, low, high, s);
    return value;
  }
};

//===--- Values and entries ---===//

/// A value in one type: floats as given, integers truncated, bool as "not zero".
void storeValue(ElementType type, std::byte *at, double value) {
  storeScalar(type, at, convertScalar({0, value}, ElementType::F64, type));
}

/// Uniform in [0,1); integers 0..9, bool 0 or 1, complex both parts.
void storeRandom(ElementType type, std::byte *at, Random &random) {
  Scalar s;
  if (isInteger(type) || type == ElementType::Bool) {
    s.i = random.below(isInteger(type) ? 10 : 2);
  } else {
    double re = random.unit();
    s.f = {re, isComplex(type) ? random.unit() : 0.0};
  }
  // Rounding to a narrow type must not reach 1.
  if (type == ElementType::F32 || type == ElementType::C64)
    s.f = {double(int64_t(s.f.real() * 0x1p24)) * 0x1p-24, double(int64_t(s.f.imag() * 0x1p24)) * 0x1p-24};
  else if (type == ElementType::F16 || type == ElementType::BF16)
    s.f = double(int64_t(s.f.real() * 0x1p8)) * 0x1p-8;
  storeScalar(type, at, s);
}

void appendRandom(Entries &entries, std::span<const int64_t> at, Random &random) {
  for (size_t d = 0; d < at.size(); ++d)
    entries.coords[d].push_back(at[d]);
  const size_t end = entries.values.size();
  entries.values.resize(end + byteWidth(entries.type));
  storeRandom(entries.type, entries.values.data() + end, random);
}

/// Empty entries with memory for `count` of them, which is checked.
Entries reserveEntries(ElementType type, std::vector<int64_t> dims, int64_t count, std::string_view what) {
  Entries entries{type, std::move(dims), {}, {}};
  const int64_t perEntry = 8 * int64_t(entries.dims.size()) + byteWidth(type);
  requireMemory(checkedMul(count, perEntry, what), what);
  entries.coords.resize(entries.dims.size());
  for (auto &column : entries.coords)
    column.reserve(count);
  entries.values.reserve(count * byteWidth(type));
  return entries;
}

//===--- random, ones, iota: they take their sizes from the expression ---===//

// Up to here every cell draws its own number; beyond, one cell per stratum of equal size, in time of the
// stored entries.
constexpr int64_t kCellByCell = int64_t(1) << 26;

Entries sparseRandom(const Spec &spec, const std::vector<int64_t> &dims, ElementType type, Random &random,
                     double density) {
  const int64_t cells = checkedProduct(dims, spec.text);
  const double expected = double(cells) * density;
  if (expected > 0x1p62)
    requireMemory(INT64_MAX, spec.text);
  const bool cellByCell = cells <= kCellByCell;
  const auto count = int64_t(cellByCell ? expected : expected + 0.5);
  Entries entries = reserveEntries(type, dims, count, spec.text);
  std::vector<int64_t> at(dims.size());
  auto append = [&](int64_t cell) {
    for (size_t d = dims.size(); d-- > 0; cell /= dims[d])
      at[d] = cell % dims[d];
    appendRandom(entries, at, random);
  };
  for (int64_t cell = 0; cellByCell && cell < cells; ++cell)
    if (random.unit() < density)
      append(cell);
  auto bound = [&](int64_t e) { return int64_t(static_cast<unsigned __int128>(cells) * e / count); };
  for (int64_t e = 0; !cellByCell && e < count; ++e)
    append(bound(e) + int64_t(random.below(bound(e + 1) - bound(e))));
  return entries;
}

FileContents filled(const Spec &spec, const std::vector<int64_t> &dims, ElementType type) {
  int64_t seed = spec.arguments.empty() ? 0 : spec.integer(0, "seed", 0, INT64_MAX);
  double density = spec.arguments.size() > 1 ? spec.real(1, "density", 0, 1) : 1;
  Random random(seed);
  if (density < 1)
    return {sparseRandom(spec, dims, type, random, density), dims.size() == 2 ? "CSR" : "CSF"};
  Tensor dense = makeDense(type, dims, false);
  for (int64_t i = 0; i < dense.storedCount(); ++i) {
    if (spec.name == "random")
      storeRandom(type, dense.value(i), random);
    else if (isInteger(type)) // wraps where the type is too narrow
      storeScalar(type, dense.value(i), Scalar{spec.name == "iota" ? i : 1, 0});
    else
      storeValue(type, dense.value(i), spec.name == "iota" ? double(i) : 1);
  }
  return {std::move(dense), "dense"};
}

//===--- Matrices ---===//

/// What a spec stands for whose arguments imply the sizes.
struct Matrix {
  std::vector<int64_t> dims;
  std::function<FileContents(ElementType)> make;
};

// N^3 rows must fit an index; entries beyond memory are refused later, by need.
constexpr int64_t kLargest2d = 3037000499, kLargest3d = 2097151;

/// Finite-difference Laplacians: grid2d (5-point) and grid3d27 (27-point), rows and columns in grid order.
Entries gridEntries(int64_t n, bool flat, const Spec &spec, std::vector<int64_t> dims, ElementType type) {
  // Every neighbour pair along a line of n points: 3n - 2 of them, ends included.
  long double estimate = flat ? 5.0L * n * n : (3.0L * n - 2) * (3.0L * n - 2) * (3.0L * n - 2);
  int64_t count = estimate > 0x1p62L ? INT64_MAX / 64 : flat ? 5 * n * n - 4 * n : int64_t(estimate);
  Entries entries = reserveEntries(type, std::move(dims), count, spec.text);
  std::byte one[16], centre[16];
  const size_t width = byteWidth(type);
  storeValue(type, one, -1);
  storeValue(type, centre, flat ? 4 : 26);
  auto append = [&](int64_t row, int64_t column) {
    entries.coords[0].push_back(row);
    entries.coords[1].push_back(column);
    const std::byte *value = row == column ? centre : one;
    entries.values.insert(entries.values.end(), value, value + width);
  };
  for (int64_t z = 0; z < (flat ? 1 : n); ++z)
    for (int64_t y = 0; y < n; ++y)
      for (int64_t x = 0; x < n; ++x)
        for (int64_t dz = flat ? 0 : -1; dz <= (flat ? 0 : 1); ++dz)
          for (int64_t dy = -1; dy <= 1; ++dy)
            for (int64_t dx = -1; dx <= 1; ++dx) {
              bool inside = x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n && z + dz >= 0 &&
                            z + dz < (flat ? 1 : n);
              if (inside && (!flat || dx == 0 || dy == 0))
                append((z * n + y) * n + x, ((z + dz) * n + y + dy) * n + x + dx);
            }
  return entries;
}

Matrix grid(const Spec &spec) {
  const bool flat = spec.name == "grid2d";
  const int64_t n = spec.integer(0, "N", 1, flat ? kLargest2d : kLargest3d);
  const std::vector<int64_t> dims(2, flat ? n * n : n * n * n);
  return {dims,
          [=](ElementType type) -> FileContents { return {gridEntries(n, flat, spec, dims, type), "CSR"}; }};
}

// Rows with few entries are drawn and redrawn; longer ones by Floyd's algorithm, which needs a mark per
// column.
constexpr int64_t kShortRow = 64;

/// `count` distinct columns of 0..columns-1, ascending.
void drawRow(std::vector<int64_t> &row, int64_t columns, int64_t count, Random &random,
             std::vector<bool> &marks) {
  row.clear();
  if (count <= kShortRow && count * 2 <= columns) {
    while (int64_t(row.size()) < count) {
      int64_t c = random.below(columns);
      auto at = std::lower_bound(row.begin(), row.end(), c);
      if (at == row.end() || *at != c)
        row.insert(at, c);
    }
    return;
  }
  marks.resize(columns, false);
  for (int64_t last = columns - count; last < columns; ++last) {
    int64_t c = random.below(last + 1);
    if (marks[c])
      c = last;
    marks[c] = true;
    row.push_back(c);
  }
  std::sort(row.begin(), row.end());
  for (int64_t c : row)
    marks[c] = false;
}

/// `perGroup` entries in every group of so many columns of every row.
Entries groupedEntries(const Spec &spec, const std::vector<int64_t> &dims, int64_t group, int64_t perGroup,
                       ElementType type) {
  const int64_t groups = checkedMul(dims[0], group ? dims[1] / group : 1, spec.text);
  const int64_t count = checkedMul(groups, perGroup, spec.text);
  Entries entries = reserveEntries(type, dims, count, spec.text);
  if (perGroup > kShortRow)
    requireMemory(group / 8, spec.text);
  Random random(1);
  std::vector<int64_t> chosen;
  std::vector<bool> marks;
  for (int64_t i = 0; count > 0 && i < dims[0]; ++i)
    for (int64_t first = 0; first < dims[1]; first += group) {
      drawRow(chosen, group, perGroup, random, marks);
      for (int64_t c : chosen)
        appendRandom(entries, std::array{i, first + c}, random);
    }
  return entries;
}

/// The same number of entries in every row.
Matrix uniform(const Spec &spec) {
  const int64_t columns = spec.integer(1, "cols", 0, INT64_MAX);
  const int64_t perRow = spec.integer(2, "nnz-per-row", 0, columns);
  const std::vector<int64_t> dims = {spec.integer(0, "rows", 0, INT64_MAX), columns};
  return {dims, [=](ElementType type) -> FileContents {
            return {groupedEntries(spec, dims, columns, perRow, type), "CSR"};
          }};
}

/// Columns of a group: what formats of them number in a byte.
constexpr int64_t kLargestGroup = 256;

Matrix grouped(const Spec &spec) {
  const int64_t columns = spec.integer(1, "cols", 0, INT64_MAX);
  const int64_t m = spec.integer(3, "m", 1, kLargestGroup), n = spec.integer(2, "n", 0, m);
  if (columns % m != 0)
    throwError("'{}': cols must be a multiple of m, {}", spec.text, m);
  const std::vector<int64_t> dims = {spec.integer(0, "rows", 0, INT64_MAX), columns};
  return {dims, [=](ElementType type) -> FileContents {
            return {groupedEntries(spec, dims, m, n, type), n == 2 && m == 4 ? "NV24"
                                                            : n > 0          ? fmt::format("NM({},{})", n, m)
                                                                             : "CSR"};
          }};
}

constexpr int64_t kLargestScale = 40;

/// R-MAT (Chakrabarti, Zhan, Faloutsos 2004) with Graph500's a = 0.57, b = c = 0.19; edges that repeat are
/// summed later.
Entries rmatEntries(const Spec &spec, int64_t scale, int64_t degree, ElementType type) {
  const int64_t vertices = int64_t(1) << scale;
  const int64_t count = checkedMul(vertices, degree, spec.text);
  Entries entries = reserveEntries(type, {vertices, vertices}, count, spec.text);
  Random random(1);
  for (int64_t e = 0; e < count; ++e) {
    int64_t row = 0, column = 0;
    for (int64_t level = 0; level < scale; ++level) {
      uint64_t draw = random.below(100);
      row = row << 1 | (draw >= 76);                                    // c or d
      column = column << 1 | ((draw >= 57 && draw < 76) || draw >= 95); // b or d
    }
    appendRandom(entries, std::array{row, column}, random);
  }
  return entries;
}

Matrix rmat(const Spec &spec) {
  const int64_t scale = spec.integer(0, "scale", 0, kLargestScale);
  const int64_t degree = spec.integer(1, "degree", 0, INT64_MAX >> kLargestScale);
  return {std::vector(2, int64_t(1) << scale),
          [=](ElementType type) -> FileContents { return {rmatEntries(spec, scale, degree, type), "CSR"}; }};
}

//===--- Orders: at each place, coordinates ---===//

/// Appends the cells of a square that lie inside of rows x columns, in the order of a curve; squares outside
/// cost nothing.
class Curve {
public:
  Curve(int64_t rows, int64_t columns, Tensor &cells) : rows(rows), columns(columns), cells(cells) {
    while (side < std::max(rows, columns))
      side *= 2;
  }
  /// By the bits of both coordinates in turn (Morton 1966).
  void morton() { morton(0, 0, side); }
  /// Neighbors in the order are neighbors in the square (Hilbert 1891).
  void hilbert() { hilbert({0, 0}, {side, 0}, {0, side}); }

private:
  using Vector = std::array<int64_t, 2>; ///< rows and columns
  int64_t rows, columns, side = 1, count = 0;
  Tensor &cells;

  void append(int64_t row, int64_t column) {
    for (int64_t coordinate : {row, column})
      storeScalar(cells.type, cells.value(count++), {coordinate, 0});
  }
  bool isOutside(int64_t row, int64_t column) const { return row >= rows || column >= columns; }

  void morton(int64_t row, int64_t column, int64_t size) {
    if (isOutside(row, column))
      return;
    if (size == 1)
      return append(row, column);
    const int64_t half = size / 2;
    for (int64_t r : {row, row + half})
      for (int64_t c : {column, column + half})
        morton(r, c, half);
  }

  /// From a corner, along one side and the other, which may go backwards.
  void hilbert(Vector corner, Vector along, Vector up) {
    const int64_t row = corner[0] + std::min<int64_t>(0, along[0] + up[0]),
                  column = corner[1] + std::min<int64_t>(0, along[1] + up[1]);
    if (isOutside(row, column))
      return;
    if (std::abs(along[0] + along[1]) == 1)
      return append(row, column);
    auto at = [&](const Vector &from, const Vector &way, int64_t by) {
      return Vector{from[0] + way[0] / by, from[1] + way[1] / by};
    };
    const Vector a = {along[0] / 2, along[1] / 2}, u = {up[0] / 2, up[1] / 2};
    const Vector back = {-a[0], -a[1]}, down = {-u[0], -u[1]};
    hilbert(corner, u, a);
    hilbert(at(corner, up, 2), a, u);
    hilbert(at(at(corner, up, 2), along, 2), a, u);
    hilbert(at(at(corner, along, 1), up, 2), down, back);
  }
};

void checkOrder(const Spec &spec, ElementType type, int64_t largest) {
  const Scalar last{largest, 0};
  if (!isInteger(type) || convertScalar(last, ElementType::I64, type).i != largest)
    throwError("'{}' makes integers up to {}; say which, as in --type p=i32", spec.text, largest);
}

/// Row and column of every place.
Matrix curve(const Spec &spec) {
  const int64_t rows = spec.integer(0, "rows", 1, INT32_MAX), columns = spec.integer(1, "cols", 1, INT32_MAX);
  const std::vector<int64_t> dims = {rows * columns, 2};
  return {dims, [=](ElementType type) -> FileContents {
            checkOrder(spec, type, std::max(rows, columns) - 1);
            Tensor cells = makeDense(type, dims, false);
            Curve along(rows, columns, cells);
            if (spec.name == "morton")
              along.morton();
            else
              along.hilbert();
            return {std::move(cells), "dense"};
          }};
}

/// 0, 1, … size - 1 in an order drawn at random (Fisher and Yates).
Matrix permutation(const Spec &spec) {
  const int64_t size = spec.integer(0, "size", 0, INT64_MAX);
  const int64_t seed = spec.arguments.size() > 1 ? spec.integer(1, "seed", 0, INT64_MAX) : 0;
  return {{size}, [=](ElementType type) -> FileContents {
            checkOrder(spec, type, std::max<int64_t>(size, 1) - 1);
            Tensor order = makeDense(type, {size}, false);
            Random random(seed);
            for (int64_t i = 0; i < size; ++i) {
              const auto other = int64_t(random.below(uint64_t(i) + 1));
              storeScalar(type, order.value(i), loadScalar(type, order.value(other)));
              storeScalar(type, order.value(other), {i, 0});
            }
            return {std::move(order), "dense"};
          }};
}

//===--- The table ---===//

struct Generator {
  std::string_view name, usage;
  size_t least, most;             ///< number of arguments
  Matrix (*matrix)(const Spec &); ///< null: sizes are taken from the expression
};

constexpr Generator kGenerators[] = {
    {"random", "random[:seed[:density]]", 0, 2, nullptr},
    {"ones", "ones", 0, 0, nullptr},
    {"iota", "iota", 0, 0, nullptr},
    {"grid2d", "grid2d:N", 1, 1, grid},
    {"grid3d27", "grid3d27:N", 1, 1, grid},
    {"uniform", "uniform:rows:cols:nnz-per-row", 3, 3, uniform},
    {"nm", "nm:rows:cols:n:m", 4, 4, grouped},
    {"rmat", "rmat:scale:degree", 2, 2, rmat},
    {"permutation", "permutation:size[:seed]", 1, 2, permutation},
    {"hilbert", "hilbert:rows:cols", 2, 2, curve},
    {"morton", "morton:rows:cols", 2, 2, curve},
};

const Generator *find(std::string_view spec) {
  auto found = std::ranges::find(kGenerators, spec.substr(0, spec.find(':')), &Generator::name);
  return found == std::end(kGenerators) ? nullptr : found;
}

std::pair<const Generator *, Spec> parse(std::string_view text) {
  const Generator *g = find(text);
  if (!g) {
    std::string usages;
    for (const Generator &known : kGenerators)
      usages += fmt::format("{}{}", usages.empty() ? "" : ", ", known.usage);
    throwError("'{}' is not a generator; there are: {}", text, usages);
  }
  Spec spec{std::string(text), std::string(g->name), {}};
  for (size_t at = text.find(':'); at != std::string_view::npos;) {
    size_t next = text.find(':', at + 1);
    spec.arguments.emplace_back(text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    at = next;
  }
  if (spec.arguments.size() < g->least || spec.arguments.size() > g->most)
    throwError("'{}' has {} argument{}; write {}", text, spec.arguments.size(),
               spec.arguments.size() == 1 ? "" : "s", g->usage);
  return {g, std::move(spec)};
}

} // namespace

bool isGenerator(std::string_view spec) { return find(spec) != nullptr; }

std::optional<std::vector<int64_t>> impliedDims(std::string_view text) {
  auto [g, spec] = parse(text);
  return g->matrix ? std::optional(g->matrix(spec).dims) : std::nullopt;
}

FileContents generate(std::string_view text, const std::vector<int64_t> &dims, ElementType type) {
  auto [g, spec] = parse(text);
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < 0)
      throwError("'{}': dimension {} has size {}; sizes are 0 or more", text, d, dims[d]);
  if (!g->matrix)
    return filled(spec, dims, type);
  const Matrix matrix = g->matrix(spec);
  if (!dims.empty() && dims != matrix.dims)
    throwError("'{}' makes a {} tensor, but {} is needed here; change its arguments", text,
               shapeText(matrix.dims), shapeText(dims));
  return matrix.make(type);
}

} // namespace tulle::runtime
