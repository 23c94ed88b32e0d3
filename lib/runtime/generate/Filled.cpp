// random, ones, iota: they take their sizes from the expression.
#include "runtime/generate/Families.h"
#include "runtime/tensor/LevelShapes.h"
#include "runtime/tensor/MemoryLimits.h"
#include "tulle/error.h"
#include <fmt/format.h>

namespace tulle::runtime {

namespace {

// Up to here every cell draws its own number; beyond, one cell per stratum of equal size, in time of the
// stored entries.
constexpr int64_t kCellByCell = int64_t(1) << 26;

void append(Entries &entries, int64_t cell, Random &random) {
  for (size_t d = entries.dims.size(); d-- > 0; cell /= entries.dims[d])
    entries.coords[d].push_back(cell % entries.dims[d]);
  size_t at = entries.values.size();
  entries.values.resize(at + byteWidth(entries.type));
  storeRandom(entries.type, entries.values.data() + at, random);
}

FileContents sparseRandom(const GeneratorSpec &spec, const std::vector<int64_t> &dims, ElementType type,
                          Random &random, double density) {
  const int64_t cells = checkedProduct(dims, spec.text);
  double expected = double(cells) * density;
  if (expected > 0x1p62)
    requireMemory(INT64_MAX, spec.text);
  FileContents contents;
  contents.suggested = dims.size() == 2 ? "CSR" : "CSF";
  if (cells <= kCellByCell) {
    contents.entries = reserveEntries(type, dims, int64_t(expected), spec.text);
    for (int64_t cell = 0; cell < cells; ++cell)
      if (random.unit() < density)
        append(contents.entries, cell, random);
    return contents;
  }
  int64_t count = int64_t(expected + 0.5);
  contents.entries = reserveEntries(type, dims, count, spec.text);
  auto bound = [&](int64_t e) { return int64_t(static_cast<unsigned __int128>(cells) * e / count); };
  for (int64_t e = 0; e < count; ++e)
    append(contents.entries, bound(e) + int64_t(random.below(bound(e + 1) - bound(e))), random);
  return contents;
}

} // namespace

FileContents generateFilled(const GeneratorSpec &spec, const std::vector<int64_t> &dims, ElementType type) {
  int64_t seed = spec.arguments.empty() ? 0 : spec.integer(0, "seed", 0, INT64_MAX);
  double density = spec.arguments.size() > 1 ? spec.real(1, "density", 0, 1) : 1;
  Random random(seed);
  if (density < 1)
    return sparseRandom(spec, dims, type, random, density);
  FileContents contents;
  contents.isStored = true;
  contents.suggested = "dense";
  contents.stored = makeDense(type, dims, false);
  auto *out = static_cast<std::byte *>(contents.stored.values());
  const int64_t count = contents.stored.storedCount(), width = byteWidth(type);
  for (int64_t i = 0; i < count; ++i) {
    if (spec.name == "random")
      storeRandom(type, out + i * width, random);
    else if (isInteger(type)) // wraps where the type is too narrow
      storeScalar(type, out + i * width, Scalar{spec.name == "iota" ? i : 1, 0});
    else
      storeValue(type, out + i * width, spec.name == "iota" ? double(i) : 1);
  }
  return contents;
}

} // namespace tulle::runtime
