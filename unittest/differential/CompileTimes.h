// How long compiling random programs takes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tulle::differential {

struct CompileTime {
  double ms; ///< of the processor
  uint64_t seed;
};

/// Compiles `count` programs from seed `first` on, with all optimizations for one thread, and runs nothing.
/// Programs that checker or compiler refuse do not count. `operands`: as for `generate`.
std::vector<CompileTime> compileTimes(uint64_t first, uint64_t count, unsigned operands);

/// Percentiles (so many programs take at most that long), how many take long, and the seeds that take
/// longest.
std::string summary(std::vector<CompileTime> times);

} // namespace tulle::differential
