// What the environment says of a test: how many programs it draws, and from which seed.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace tulle::differential {

/// The variable as a number; `otherwise` where it is not set.
inline uint64_t environment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace tulle::differential
