// What a Matrix Market header says, and the half of a symmetric matrix that its file leaves out.
#pragma once
#include "runtime/io/Text.h"

namespace tulle::runtime::io {

enum class MtxField : uint8_t { Real, Integer, Complex, Pattern };
enum class MtxSymmetry : uint8_t { General, Symmetric, Skew, Hermitian };

struct MtxHeader {
  bool array = false;
  MtxField field = MtxField::Real;
  MtxSymmetry symmetry = MtxSymmetry::General;
  int64_t rows = 0, cols = 0;
  int64_t entries = 0; ///< lines after the header: of an array, the elements it stores
};

std::string_view name(MtxSymmetry symmetry);
/// Real and pattern: f64, integer: i64, complex: c128.
ElementType elementType(MtxField field);

/// The value across the diagonal of one that is not on it.
Scalar mirrored(MtxSymmetry symmetry, const Scalar &value);

/// Writes the value at `to` that the value at `from` (element numbers of the two buffers) implies across the
/// diagonal. On the diagonal checks that the value is its own mirror. False when it is not, or when an
/// integer has no negative.
bool mirrorValue(const MtxHeader &header, const std::byte *source, int64_t from, std::byte *target,
                 int64_t to, bool onDiagonal);
/// Throws the Error that explains why mirrorValue refused the entry at `at`.
[[noreturn]] void failMirror(const Text &text, const char *at, const MtxHeader &header, bool onDiagonal);

/// Appends the mirrored entries of a coordinate file that stores half of the matrix. Entries may lie on
/// either side of the diagonal; one that is stored on both is refused, since the sum would be twice what was
/// meant. `body` is where the entries' lines begin.
void expandEntries(const Text &text, const char *body, const MtxHeader &header, Entries &entries);

} // namespace tulle::runtime::io
