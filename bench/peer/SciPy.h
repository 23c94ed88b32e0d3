// SciPy, in a child process that times itself.
#pragma once
#include "Loops.h"
#include <string>

namespace tulle::bench {

/// Owns the child. `script` is scipy_peer.py; the matrices are given to it as files.
class SciPy {
public:
  /// `clock`: "cpu" or "wall". Throws Absent when Python or SciPy is missing.
  SciPy(const std::string &script, const CsrView &a, const CsrView &b, const std::string &clock);
  ~SciPy();
  SciPy(const SciPy &) = delete;
  SciPy &operator=(const SciPy &) = delete;

  struct Result {
    double ms = 0, sum = 0;
    int64_t count = 0;
  };
  /// One run of an operation as scipy_peer.py names it. Throws Absent.
  Result run(const std::string &operation);

private:
  int toChild = -1, fromChild = -1, process = -1;
  std::string folder;
};

} // namespace tulle::bench
