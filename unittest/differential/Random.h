// Small, portable random choices: the same on every standard library.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tulle::differential {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15 + 0x1234567) {}
  /// SplitMix64.
  uint64_t bits() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return int64_t(bits() % uint64_t(n)); }
  bool chance(double p) { return double(bits() >> 11) * 0x1p-53 < p; }
  template <typename T> T pick(const std::vector<T> &from) { return from[below(from.size())]; }
  template <typename T> T pick(std::initializer_list<T> from) { return from.begin()[below(from.size())]; }

private:
  uint64_t state;
};

} // namespace tulle::differential
