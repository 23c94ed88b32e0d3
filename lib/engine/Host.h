// The machine this runs on, for which code is planned and generated.
#pragma once
#include "iteration/Cpu.h"
#include <string>

namespace tulle::engine {

/// What machine code depends on besides the program: part of every cache key.
struct Host {
  std::string triple, cpu, features;
};
const Host &host();

/// What the cost model knows of its processor: the row that LLVM's name and features say, caches as the
/// operating system says.
const iteration::Cpu &hostCpu();

} // namespace tulle::engine
