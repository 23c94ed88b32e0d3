// A kernel as a folder to give away: header, library, and what CMake, pkg-config and people read of it.
#pragma once
#include "aot/Ahead.h"
#include <string>
#include <utility>
#include <vector>

namespace tulle::aot {

/// The files of a package, by their paths in it. `code` is an archive.
std::vector<std::pair<std::string, std::string>> packageOf(const Ahead &code, const AheadOptions &options);

} // namespace tulle::aot
