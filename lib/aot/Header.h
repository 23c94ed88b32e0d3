// The C header of a kernel, and its description as JSON.
#pragma once
#include "aot/EmitKernel.h"
#include "aot/Interface.h"
#include <string>

namespace tulle::aot {

/// C99, and C++.
std::string headerOf(const Interface &kernel);

/// What NAME_info() returns: program, machines, and for each argument its format and arrays.
std::string informationOf(const Interface &kernel, const std::vector<Machine> &machines, Threads threads);

} // namespace tulle::aot
