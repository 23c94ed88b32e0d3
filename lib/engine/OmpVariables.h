// The environment variables that OpenMP's library reads when it starts. It ends the process, or does not come
// back, over values that it does not expect, and says little: so they are read here first.
#pragma once
#include <cstdint>
#include <optional>

namespace tulle::engine {

/// The number of threads that OMP_NUM_THREADS asks for, where it is set.
std::optional<int64_t> ompNumThreads();

/// Throws an Error that names the variable, for a value that OpenMP's library must not see. To be called
/// before anything of that library, which reads its variables once.
void checkOmpVariables();

} // namespace tulle::engine
