// Sizes that are constants of the code.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// By tensor and dimension, whether code is made for the size that it has: of indices that run over dense
/// tensors alone, over rows of at most 1024 bytes. As many features as a layer has, or right-hand sides, are
/// the same in each call; loops over a constant number need neither versions nor remainders.
std::vector<std::vector<bool>> fixedSizes(const Program &program);

} // namespace tulle::notation
