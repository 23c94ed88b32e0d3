// Generated code, which no sanitizer has seen, runs between memory that nobody may touch in the tests of this
// folder.
#include "GuardedBlocks.h"

[[maybe_unused]] static const bool guarded = (tulle::runtime::guardBlocks(), true);
