// The binsparse format (graphblas.org/binsparse-specification) in HDF5 files.
#pragma once
#include "runtime/io/Io.h"

namespace tulle::runtime::io {

/// Reads the file at `path`; for bytes in memory see readH5(Text).
FileContents readH5File(const std::string &path);

/// Writes CSR, CSC, DCSR, DCSC as they are, dense vectors and matrices as DVEC, DMATR and DMATC, sparse
/// vectors as CVEC, other formats made of dense and compressed levels as "custom", and the entries of what is
/// left as COO. Returns what writeFile does.
std::string writeH5(const std::string &path, const Tensor &tensor);

} // namespace tulle::runtime::io
