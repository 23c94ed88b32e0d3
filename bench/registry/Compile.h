// What compiling costs, as a kernel like the others: each run compiles a text that no cache has seen, or one
// that the disk or the memory has.
#pragma once
#include "Kernel.h"

namespace tulle::bench {

/// `kernel.target` is "anew", "disk", "memory", or "call": a run of a compiled kernel with next to no data.
Runner compilation(const Kernel &kernel);

/// Compiles texts first .. first + count - 1 into the disk cache of the environment: what a process before
/// this one did.
void compileTexts(uint64_t first, uint64_t count);

} // namespace tulle::bench
