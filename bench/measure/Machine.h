// What this machine can do at most: the roofline of every kernel.
#pragma once
#include <string>

namespace tulle::bench {

/// Measured with the threads of this process, once for each size.
class Machine {
public:
  /// Bytes per millisecond: the best of copy, triad and sum over arrays that take `workingSet` bytes
  /// together, rounded to a power of two between 16 KiB and 512 MiB. Caches make small sets faster.
  double bandwidth(double workingSet);
  /// Floating-point operations per millisecond of fused multiply-adds in double precision.
  double peak();
  /// The least milliseconds for so much work: what its bytes take at this bandwidth, or its operations at
  /// this peak.
  double roofline(double bytes, double flops);

  /// Milliseconds of one copy of 64 MiB by so many threads, now: what memory gives several threads over one
  /// differs from minute to minute where processors are virtual.
  double copyMs(int threads);

  /// The processor, its caches, the system, and how much else runs there, in a line.
  static std::string describe();
};

Machine &machine();

} // namespace tulle::bench
