// Loops of statements: the order in which steps run, and what a round leaves to the next one.
#pragma once
#include "notation/Program.h"
#include <span>

namespace tulle::notation {

/// Runs the steps [begin, end) in turn. A loop's run again as long as there are rounds left and
/// `again(loop)`, asked after each, says so.
template <class Step, class Again>
void runSteps(std::span<const Loop> loops, unsigned begin, unsigned end, const Step &step,
              const Again &again) {
  while (begin < end) {
    if (loops.empty() || loops.front().begin != begin) {
      step(begin++);
      continue;
    }
    const Loop &loop = loops.front();
    size_t inner = 0;
    while (1 + inner < loops.size() && loops[1 + inner].begin < loop.end)
      ++inner;
    int64_t rounds = 0;
    do {
      runSteps(loops.subspan(1, inner), loop.begin, loop.end, step, again);
      ++rounds;
    } while (again(loop) && rounds < loop.most);
    begin = loop.end;
    loops = loops.subspan(1 + inner);
  }
}

/// By tensor: whether some round begins with the value that the round before left.
std::vector<bool> carriedTensors(const Program &program);

} // namespace tulle::notation
