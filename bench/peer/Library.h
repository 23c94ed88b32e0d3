// Shared libraries that may be there when the benchmarks run; the build needs none of them.
#pragma once
#include <string>
#include <vector>

namespace tulle::bench {

/// One library, kept open until the process ends.
class Library {
public:
  /// Tries each name, in the folders of $TULLE_BENCH_PEERS (separated by ':'), where `make bench` puts
  /// libraries, and where the system looks. Throws Absent when none is there.
  Library(std::string called, const std::vector<std::string> &names);

  /// A function or variable by its name. Throws Absent when the library lacks it.
  template <typename T> T *get(const char *symbol) const { return reinterpret_cast<T *>(find(symbol)); }

private:
  void *find(const char *symbol) const;
  std::string called;
  void *handle = nullptr;
};

/// What OMP_NUM_THREADS says: this process's number of threads.
int threadCount();

} // namespace tulle::bench
