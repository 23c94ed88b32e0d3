// Archives of NumPy arrays: one dense array, or the sparse matrices of scipy.sparse.save_npz.
#pragma once
#include "runtime/io/Io.h"

namespace tulle::runtime::io {

/// Writes CSR, CSC, BCSR (where blocks divide the sizes) and DIA as SciPy's csr, csc, bsr and dia, a dense
/// tensor as one array, anything else as coo. Returns what writeFile does.
std::string writeNpz(const std::string &path, const Tensor &tensor);

} // namespace tulle::runtime::io
