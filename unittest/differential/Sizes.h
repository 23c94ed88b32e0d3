// Random encodings of any map and level formats, at random sizes up to 2^63: refused, or stored right.
#pragma once
#include "Random.h"
#include "runtime/tensor/Tensor.h"

namespace tulle::differential {

/// A few entries of a tensor, and two formats for it.
struct Storing {
  std::string format, other;
  runtime::Entries entries; ///< i64
  std::string describe() const;
};

/// Nullopt where the text drawn is no executable encoding, or storing it would touch much memory.
std::optional<Storing> drawStoring(Random &random);

/// Stores the entries in the one format, converts that to the other, and sums it in a compiled statement.
/// Empty when each step was refused with an Error or right, else what is wrong.
std::string judgeStoring(const Storing &storing, bool &refused);

} // namespace tulle::differential
