// Running a kernel on tensors.
#pragma once
#include "engine/Kernel.h"

namespace tulle::engine {

std::shared_ptr<Executable> makeExecutable(notation::Program program, std::shared_ptr<const Kernel> kernel,
                                           double compileMs, const char *origin, const Options &options);

} // namespace tulle::engine
