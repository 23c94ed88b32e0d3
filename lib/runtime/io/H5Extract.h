// The parts of an HDF5 file that binsparse uses, taken out by a process of their own.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <map>
#include <string>
#include <string_view>

namespace tulle::runtime::io {

/// One dataset as a list of elements, or why there is none.
struct ExtractedArray {
  Tensor elements;
  std::string error; ///< when not empty, there are no elements
};

struct ExtractedFile {
  std::string text; ///< of the attribute `binsparse`
  std::map<std::string, ExtractedArray, std::less<>> arrays;
};

/// Reads the attribute `binsparse` of the root and every dataset of `names` that the root has. Unsigned
/// integers become the next wider signed type; those beyond 2^63 - 1 are errors. A damaged file can crash the
/// library or keep it busy for ever: so a child process runs it, with a limit of processor time, and only
/// what it leaves in shared memory is believed, after its bounds are checked. Throws Error `path: error: …`.
/// `image`: the file's bytes, when they are in memory and not at `path`.
ExtractedFile extractH5(const std::string &path, const std::vector<std::string> &names,
                        const std::string_view *image);

} // namespace tulle::runtime::io
