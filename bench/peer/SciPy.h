// SciPy, in a child process that times itself.
#pragma once
#include "Loops.h"
#include <string>

namespace tulle::bench {

/// Owns the child. `script` is scipy_peer.py; the matrices are given to it as files.
class SciPy {
public:
  /// Throws std::runtime_error when Python or SciPy is missing.
  SciPy(const std::string &script, const CsrView &a, const CsrView &b);
  ~SciPy();
  SciPy(const SciPy &) = delete;
  SciPy &operator=(const SciPy &) = delete;

  /// Milliseconds of one run.
  double run(const std::string &operation);

private:
  int toChild = -1, fromChild = -1, process = -1;
  std::string folder;
};

} // namespace tulle::bench
