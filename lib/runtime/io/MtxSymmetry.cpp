// Expands the entries of symmetric, skew-symmetric and Hermitian .mtx files to both triangles.
#include "runtime/io/Mtx.h"
#include <algorithm>
#include <limits>
#include <utility>

namespace tulle::runtime::io {

namespace {

/// The line of entry `k`: only errors need it, so it is found by reading again.
const char *findEntry(const Text &text, const char *body, int64_t k) {
  Scanner scan(text);
  scan.p = body;
  while (scan.nextLine("%") && k-- > 0)
    scan.skipLine();
  return scan.p;
}

int64_t lineNumber(const Text &text, const char *at) { return 1 + std::count(text.begin(), at, '\n'); }

/// Refuses a file that stores an entry on both sides of the diagonal.
void refuseBothTriangles(const Text &text, const char *body, const MtxHeader &header,
                         const Entries &entries) {
  const auto &rows = entries.coords[0], &cols = entries.coords[1];
  struct Upper {
    int64_t row, col, entry;
    auto operator<=>(const Upper &) const = default;
  };
  std::vector<Upper> upper;
  int64_t below = 0;
  for (size_t k = 0; k < rows.size(); ++k) {
    below += rows[k] > cols[k];
    if (rows[k] < cols[k])
      upper.push_back({rows[k], cols[k], int64_t(k)});
  }
  if (upper.empty() || below == 0)
    return;
  std::sort(upper.begin(), upper.end());
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] <= cols[k])
      continue;
    auto found = std::lower_bound(upper.begin(), upper.end(), Upper{cols[k], rows[k], 0});
    if (found == upper.end() || found->row != cols[k] || found->col != rows[k])
      continue;
    const char *here = findEntry(text, body, int64_t(k)), *there = findEntry(text, body, found->entry);
    text.fail(std::max(here, there),
              "the entries ({0}, {1}) and ({1}, {0}) are both stored (the first on line {2}), but a {3} file "
              "stores one half; say general in the banner if the file holds the whole matrix, else remove "
              "one of each pair",
              std::max(rows[k], cols[k]) + 1, std::min(rows[k], cols[k]) + 1,
              lineNumber(text, std::min(here, there)), name(header.symmetry));
  }
}

} // namespace

Scalar mirrored(MtxSymmetry symmetry, const Scalar &value) {
  if (symmetry == MtxSymmetry::Skew)
    return {int64_t(-uint64_t(value.i)), -value.f};
  return {value.i, symmetry == MtxSymmetry::Hermitian ? std::conj(value.f) : value.f};
}

bool mirrorValue(const MtxHeader &header, const std::byte *source, int64_t from, std::byte *target,
                 int64_t to, bool onDiagonal) {
  const ElementType type = elementType(header.field);
  const Scalar value = loadScalar(type, source + from * byteWidth(type));
  const bool skew = header.symmetry == MtxSymmetry::Skew;
  if (onDiagonal && header.symmetry == MtxSymmetry::Hermitian)
    return value.f.imag() == 0;
  if (onDiagonal)
    return !skew || (value.i == 0 && value.f == 0.0);
  if (skew && value.i == std::numeric_limits<int64_t>::min())
    return false;
  storeScalar(type, target + to * byteWidth(type), mirrored(header.symmetry, value));
  return true;
}

void failMirror(const Text &text, const char *at, const MtxHeader &header, bool onDiagonal) {
  if (!onDiagonal)
    text.fail(at, "the negative of this entry's integer does not fit 64 bits; make the field real");
  if (header.symmetry == MtxSymmetry::Hermitian)
    text.fail(at, "the diagonal of a hermitian matrix is real, but this entry has an imaginary part; say "
                  "symmetric or general in the banner");
  text.fail(at, "the diagonal of a skew-symmetric matrix is zero, but this entry is not; say symmetric or "
                "general in the banner");
}

void expandEntries(const Text &text, const char *body, const MtxHeader &header, Entries &entries) {
  refuseBothTriangles(text, body, header, entries);
  auto &rows = entries.coords[0], &cols = entries.coords[1];
  const size_t stored = rows.size(), width = byteWidth(entries.type);
  size_t mirrored = 0;
  for (size_t k = 0; k < stored; ++k)
    mirrored += rows[k] != cols[k];
  rows.resize(stored + mirrored);
  cols.resize(stored + mirrored);
  entries.values.resize((stored + mirrored) * width);
  std::byte *values = entries.values.data();
  size_t next = stored;
  for (size_t k = 0; k < stored; ++k) {
    bool diagonal = rows[k] == cols[k];
    if (!mirrorValue(header, values, int64_t(k), values, int64_t(next), diagonal))
      failMirror(text, findEntry(text, body, int64_t(k)), header, diagonal);
    if (diagonal)
      continue;
    rows[next] = cols[k];
    cols[next++] = rows[k];
  }
}

} // namespace tulle::runtime::io
