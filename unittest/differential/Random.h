// Small, portable random choices: the same on every standard library.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace tulle::differential {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15 + 0x1234567) {}
  /// Choices that follow a fuzzer's bytes, a byte for each small one, as long as there are any.
  explicit Random(std::span<const uint8_t> bytes) : Random(bytes.size()) { given = bytes; }
  /// SplitMix64.
  uint64_t bits() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) {
    if (given.empty())
      return int64_t(bits() % uint64_t(n));
    uint64_t value = 0;
    for (uint64_t reached = 1; reached != 0 && reached < uint64_t(n) && !given.empty(); reached <<= 8) {
      value = value << 8 | given.front();
      given = given.subspan(1);
    }
    return int64_t(value % uint64_t(n));
  }
  bool chance(double p) {
    return given.empty() ? double(bits() >> 11) * 0x1p-53 < p : double(below(256)) < 256 * p;
  }
  template <typename T> T pick(const std::vector<T> &from) { return from[below(from.size())]; }
  template <typename T> T pick(std::initializer_list<T> from) { return from.begin()[below(from.size())]; }

private:
  uint64_t state;
  std::span<const uint8_t> given;
};

} // namespace tulle::differential
