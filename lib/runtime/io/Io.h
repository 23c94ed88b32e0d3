// Files in and out. One .cpp per file format; read() and write() choose by the name's ending.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <string>

namespace tulle::runtime {

/// What a file holds, before a format is chosen.
struct FileContents {
  FileContents() = default;
  FileContents(Entries entries, std::string suggested)
      : entries(std::move(entries)), suggested(std::move(suggested)) {}
  FileContents(Tensor stored, std::string suggested)
      : stored(std::move(stored)), isStored(true), suggested(std::move(suggested)) {}

  Entries entries; ///< coordinates and values, in any order
  Tensor stored;   ///< instead of entries, when the file's arrays are those of a format: dense, CSR, …
  bool isStored = false;
  std::string suggested; ///< preset name the file suggests: CSR (.mtx), CSF (.tns), dense (.npy)

  const std::vector<int64_t> &dims() const { return isStored ? stored.dims : entries.dims; }
  ElementType type() const { return isStored ? stored.type : entries.type; }
};

/// Reads .mtx .tns .smtx .npy .npz .h5, each also with .gz appended. Symmetric, skew and hermitian .mtx are
/// expanded; pattern files hold f64 ones, integer files i64, real files f64, complex files c128. Throws Error
/// with file, line and cure. `progress` (may be null) is called with a fraction in 0..1. `order` is the
/// tensor's order where the caller knows it (0: not known): a .tns line of exactly `order` numbers has no
/// value column; otherwise the last column is the value.
FileContents readFile(const std::string &path, const std::function<void(double)> &progress = {},
                      unsigned order = 0);

/// The same for bytes that are no file's, for tests and fuzzing; `name` chooses the format, and errors call
/// the bytes so.
FileContents parseFile(std::string_view bytes, const std::string &name, unsigned order = 0);

/// Writes .npy (dense), .mtx (order <= 2), .tns, each also with .gz appended, and .npz (order <= 2) and .h5,
/// by the name's ending; the file appears whole or not at all. Links are followed, a file that was there
/// gives its permissions, and FIFOs and devices are written into. Values round-trip exactly; explicit zeros
/// and block fill are written as stored. Returns a note for the user where the file holds the entries, but
/// cannot name the storage format; else an empty text. Throws Error when the file cannot express the tensor.
std::string writeFile(const std::string &path, const Tensor &tensor);
/// The same for a text.
void writeTextFile(const std::string &path, std::string_view text);
/// The file that a path leads to: links are followed, also to what is not there yet. Two paths of one file
/// give the same text.
std::string writtenFile(const std::string &path);

/// For programs: SIGINT, SIGTERM and SIGHUP remove unfinished files before they end the process, and SIGXFSZ
/// is ignored, so that writing reports the limit.
void removeTemporariesOnSignals();

} // namespace tulle::runtime
