// `tulle query --suggest`: formats for a matrix, ranked for a kernel.
#pragma once
#include <string>

namespace tulle::cli {

/// Throws Error unless the kernel is `spmv` or `spmm:COLUMNS`, and the file a matrix. `measured`: runs the
/// kernel in each format.
void printSuggestions(const std::string &file, const std::string &dims, const std::string &kernel,
                      bool measured);

} // namespace tulle::cli
