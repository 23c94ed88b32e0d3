// Storage formats by name or by encoding text.
#pragma once
#include "tulle/export.h"
#include <string>

namespace tulle {

/// A storage format: a name of `tulle formats` ("CSR", "BCSR(4,4)") or an encoding ("(i,j) -> (i : dense, j :
/// compressed)"). The text is checked where a tensor is made with it, for the order of that tensor.
class Format {
public:
  explicit Format(std::string text) : value(std::move(text)) {}
  /// The structure of the tensor that a program calls so: its levels and the very buffers of its coordinates,
  /// with one value for each of its entries, or a dense fiber of values over the dimensions that it lacks.
  static Format like(const std::string &tensor) { return Format("like " + tensor); }
  /// This encoding, whose levels may also be of the formats that the text declares, `level mine { … }` (see
  /// docs/reference/encoding.md). Throws Error pointing into one of the two; `name` is what it calls the
  /// declarations.
  TULLE_EXPORT Format withLevels(const std::string &declarations, const std::string &name = "<levels>") const;
  const std::string &text() const { return value; }
  bool operator==(const Format &) const = default;

private:
  std::string value;
};

inline const Format Dense("dense"), DenseColMajor("denseColMajor"), COO("COO"), COOSoa("COO-soa"), CSR("CSR"),
    CSC("CSC"), DCSR("DCSR"), DCSC("DCSC"), BCOO("BCOO"), CSF("CSF"), NV24("NV24");
/// Compressed rows of dense blocks of `rows` × `columns`.
inline Format BCSR(int rows, int columns) {
  return Format("BCSR(" + std::to_string(rows) + "," + std::to_string(columns) + ")");
}
/// Compressed columns of dense blocks of `rows` × `columns`.
inline Format BCSC(int rows, int columns) {
  return Format("BCSC(" + std::to_string(rows) + "," + std::to_string(columns) + ")");
}
/// `n` of every `m` columns.
inline Format NM(int n, int m) { return Format("NM(" + std::to_string(n) + "," + std::to_string(m) + ")"); }

} // namespace tulle
