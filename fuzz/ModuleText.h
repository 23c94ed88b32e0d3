// Texts of MLIR, changed by the tokens and lines that they consist of.
#pragma once
#include <random>
#include <string>
#include <vector>

namespace tulle::fuzz {

/// Numbers below a bound.
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  size_t operator()(size_t bound) { return bound ? engine() % bound : 0; }

private:
  std::minstd_rand engine;
};

/// A text with one to four tokens or lines replaced, exchanged, repeated or left out. A token is replaced by
/// one that means something of its kind: a type by a type, a level format by a level format.
std::string mutate(const std::string &text, Random &random);

/// The first text with lines or tokens of the second.
std::string mix(const std::string &first, const std::string &second, Random &random);

} // namespace tulle::fuzz
