// Loops of a program while they run: progress, and Ctrl-C between two rounds.
#pragma once
#include "Progress.h"
#include "engine/Engine.h"

namespace tulle::cli {

/// While alive, the first Ctrl-C asks the loops to end after the round they are in; a second one ends the
/// process.
class Rounds {
public:
  Rounds();
  ~Rounds();
  Rounds(const Rounds &) = delete;

  /// Tells `progress`, which lives as long, of each round.
  engine::RunReport report(Progress &progress) const;
  bool interrupted() const;
};

/// `iterations: 137`, and what does not hold although the loop has ended.
std::string describeRounds(const notation::Program &program, const std::vector<int64_t> &iterations,
                           const std::vector<std::optional<runtime::Tensor>> &tensors);

} // namespace tulle::cli
