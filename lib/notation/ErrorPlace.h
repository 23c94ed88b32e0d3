// Errors about a tensor of a checked program.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// Throws an Error that points to the first access of the tensor in the text; one without a place for what a
/// schedule has made, which does not stand there.
[[noreturn]] void throwErrorAt(const Program &program, unsigned tensor, const std::string &message);

} // namespace tulle::notation
