// Files in and out. One .cpp per file format; read() and write() choose by the name's ending.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <string>

namespace tulle::runtime {

/// What a file holds, before a format is chosen.
struct FileContents {
  Entries entries;       ///< when sparse
  Tensor dense;          ///< when the file is a dense array (.npy, array .mtx)
  bool isDense = false;
  std::string suggested; ///< preset name the file suggests: CSR (.mtx), CSF (.tns), dense (.npy)
};

/// Reads .mtx .mtx.gz .tns .tns.gz .smtx .npy. Symmetric, skew and hermitian .mtx are expanded. Throws Error with file,
/// line and cure. `progress` (may be null) is called with a fraction in 0..1.
FileContents readFile(const std::string &path, const std::function<void(double)> &progress = {});

/// Parsers on bytes, for tests and fuzzing; `name` is what errors call the text.
FileContents parseMtx(std::string_view text, const std::string &name);
FileContents parseTns(std::string_view text, const std::string &name);
FileContents parseSmtx(std::string_view text, const std::string &name);
FileContents parseNpy(std::string_view bytes, const std::string &name);

/// Writes .npy (dense), .mtx, .mtx.gz (order <= 2), .tns, .tns.gz by the name's ending, to a temporary name in the same
/// folder, then renames. Values round-trip exactly. Throws Error when the format cannot express the tensor.
void writeFile(const std::string &path, const Tensor &tensor);

} // namespace tulle::runtime
