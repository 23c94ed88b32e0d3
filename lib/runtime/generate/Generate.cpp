#include "runtime/generate/Families.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <charconv>

namespace tulle::runtime {

namespace {

struct Generator {
  std::string_view name, usage;
  size_t least, most;                                   ///< number of arguments
  std::vector<int64_t> (*sizes)(const GeneratorSpec &); ///< null: taken from the expression
  FileContents (*sized)(const GeneratorSpec &, ElementType type);
};

constexpr Generator kGenerators[] = {
    {"random", "random[:seed[:density]]", 0, 2, nullptr, nullptr},
    {"ones", "ones", 0, 0, nullptr, nullptr},
    {"iota", "iota", 0, 0, nullptr, nullptr},
    {"grid2d", "grid2d:N", 1, 1, gridDims, generateGrid},
    {"grid3d27", "grid3d27:N", 1, 1, gridDims, generateGrid},
    {"uniform", "uniform:rows:cols:nnz-per-row", 3, 3, uniformDims, generateUniform},
    {"nm", "nm:rows:cols:n:m", 4, 4, groupedDims, generateGrouped},
    {"rmat", "rmat:scale:degree", 2, 2, rmatDims, generateRmat},
};

const Generator *find(std::string_view spec) {
  std::string_view name = spec.substr(0, spec.find(':'));
  for (const Generator &g : kGenerators)
    if (g.name == name)
      return &g;
  return nullptr;
}

std::string usages() {
  std::string list;
  for (const Generator &g : kGenerators)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", g.usage);
  return list;
}

std::pair<const Generator *, GeneratorSpec> parse(std::string_view text) {
  const Generator *g = find(text);
  if (!g)
    throwError("'{}' is not a generator; there are: {}", text, usages());
  GeneratorSpec spec{std::string(text), std::string(g->name), {}};
  for (size_t at = text.find(':'); at != std::string_view::npos;) {
    size_t next = text.find(':', at + 1);
    spec.arguments.emplace_back(text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    at = next;
  }
  if (spec.arguments.size() < g->least || spec.arguments.size() > g->most)
    throwError("'{}' has {} arguments; write {}", text, spec.arguments.size(), g->usage);
  return {g, std::move(spec)};
}

} // namespace

int64_t GeneratorSpec::integer(size_t i, std::string_view what, int64_t low, int64_t high) const {
  const std::string &s = arguments[i];
  int64_t value = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size() || value < low || value > high)
    throwError("'{}': {} must be an integer from {} to {}, got '{}'", text, what, low, high, s);
  return value;
}

double GeneratorSpec::real(size_t i, std::string_view what, double low, double high) const {
  const std::string &s = arguments[i];
  double value = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size() || !(value >= low && value <= high))
    throwError("'{}': {} must be a number from {} to {}, got '{}'", text, what, low, high, s);
  return value;
}

void storeValue(ElementType type, std::byte *at, double value) {
  if (type == ElementType::F64) {
    std::memcpy(at, &value, sizeof value);
    return;
  }
  Scalar s;
  s.f = value;
  storeScalar(type, at, convertScalar(s, ElementType::F64, type));
}

void storeRandom(ElementType type, std::byte *at, Random &random) {
  Scalar s;
  if (type == ElementType::Bool)
    s.i = random.below(2);
  else if (isInteger(type))
    s.i = random.below(10);
  else {
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

Entries reserveEntries(ElementType type, std::vector<int64_t> dims, int64_t count, std::string_view what) {
  Entries entries;
  entries.type = type;
  int64_t perEntry = 8 * int64_t(dims.size()) + byteWidth(type);
  requireMemory(checkedMul(count, perEntry, what), what);
  entries.dims = std::move(dims);
  entries.coords.resize(entries.dims.size());
  for (auto &column : entries.coords)
    column.reserve(count);
  entries.values.reserve(count * byteWidth(type));
  return entries;
}

bool isGenerator(std::string_view spec) { return find(spec) != nullptr; }

std::optional<std::vector<int64_t>> impliedDims(std::string_view text) {
  auto [g, spec] = parse(text);
  if (!g->sizes)
    return std::nullopt;
  return g->sizes(spec);
}

FileContents generate(std::string_view text, const std::vector<int64_t> &dims, ElementType type) {
  auto [g, spec] = parse(text);
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < 0)
      throwError("'{}': dimension {} has size {}; sizes are 0 or more", text, d, dims[d]);
  if (!g->sizes)
    return generateFilled(spec, dims, type);
  std::vector<int64_t> implied = g->sizes(spec);
  if (!dims.empty() && dims != implied)
    throwError("'{}' makes a {} tensor, but {} is needed here; change its arguments", text,
               shapeText(implied), shapeText(dims));
  return g->sized(spec, type);
}

} // namespace tulle::runtime
