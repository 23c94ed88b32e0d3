// Processors that kernels are compiled for ahead of time, and what a processor must have to run them.
#pragma once
#include "engine/Codegen.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tulle::aot {

/// Bits that a word of the run time's `rt_cpu_words` (runtime/cpu.c) must have.
struct Need {
  uint64_t word, bits;
};

/// A processor, as `--march` names it.
struct Machine {
  engine::Target target;
  std::string march;
  std::vector<Need> needs;
};

/// The triple of `--target`, in LLVM's canonical spelling; empty: this machine's. Throws Error for machines
/// that have no run time.
std::string targetTriple(const std::string &text);
/// The machine of that triple called `march`: a processor or a level of its architecture as LLVM calls it;
/// `native`: this one. Throws Error for what LLVM does not know.
Machine machineNamed(const std::string &triple, const std::string &march);
/// What every processor of the triple has.
engine::Target baseline(const std::string &triple);

} // namespace tulle::aot
