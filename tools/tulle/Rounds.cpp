// A signal's handler sets a flag and gives the signal back to the handler before it.
#include "Rounds.h"
#include <csignal>
#include <fmt/ranges.h>

namespace tulle::cli {

static volatile std::sig_atomic_t asked = 0;
static void (*before)(int) = SIG_DFL;

extern "C" {
static void stopAfterRound(int) {
  asked = 1;
  std::signal(SIGINT, before);
}
}

Rounds::Rounds() {
  asked = 0;
  before = std::signal(SIGINT, stopAfterRound);
  if (before == SIG_IGN) // as under nohup
    std::signal(SIGINT, SIG_IGN);
}

Rounds::~Rounds() { std::signal(SIGINT, before); }

engine::RunReport Rounds::report(Progress &progress) const {
  engine::RunReport report;
  report.goesOn = [this, &progress, rounds = int64_t(0)](const std::vector<int64_t> &) mutable {
    progress.rounds(++rounds);
    return !interrupted();
  };
  return report;
}

bool Rounds::interrupted() const { return asked != 0; }

std::string describeRounds(const notation::Program &program, const std::vector<int64_t> &iterations,
                           const std::vector<std::optional<runtime::Tensor>> &tensors) {
  std::string text = fmt::format("iterations: {}", fmt::join(iterations, ", "));
  for (const notation::Loop &loop : program.loops) {
    if (!loop.until || loadScalar(ElementType::Bool, tensors[*loop.until]->values()).i)
      continue;
    text += fmt::format("; not {}", notation::print(program, program.statements[loop.end - 1].rhs));
  }
  return text;
}

} // namespace tulle::cli
