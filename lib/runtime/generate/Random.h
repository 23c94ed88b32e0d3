// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood 2014), no library
// distribution.
#pragma once
#include <cstdint>

namespace tulle::runtime {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) {}

  uint64_t bits() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  double unit() { return double(bits() >> 11) * 0x1p-53; }
  /// Uniform in 0 .. bound-1 up to a bias of bound / 2^64.
  uint64_t below(uint64_t bound) { return uint64_t((static_cast<unsigned __int128>(bits()) * bound) >> 64); }

private:
  uint64_t state;
};

} // namespace tulle::runtime
