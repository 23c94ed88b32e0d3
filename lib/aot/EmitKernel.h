// The part of a kernel that is neither compiled from its program nor the same in all: what the run time is
// told of it, and its functions.
#pragma once
#include "aot/Interface.h"
#include "aot/Targets.h"
#include <string>
#include <vector>

namespace tulle::aot {

enum class Threads : uint8_t { None, OpenMp, Hook };

/// LLVM IR that defines the functions of a kernel, as text. The entry of a step for the machine number v is
/// `entryName(step, v)`; `information` is what `NAME_info()` returns.
std::string emitKernel(const Interface &kernel, const std::vector<Machine> &machines, Threads threads,
                       const std::string &information);
std::string entryName(const Step &step, size_t machine);
/// What the names of a program's functions begin with, and those of a conversion's.
std::string variantPrefix(size_t machine);
std::string conversionName(const Step &step, size_t machine);

/// The functions that the kernel exports.
std::vector<std::string> exportsOf(const Interface &kernel);

} // namespace tulle::aot
