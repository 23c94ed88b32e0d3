// What the functions of a parallel region are called.
#pragma once
#include <string>

namespace tulle::passes {

/// `part<n>_<function>(part, captures…)`: the region.
inline const std::string kPartPrefix = "part";
/// `launch<n>_<function>(parts, captures…)`: runs all parts; declared by tulle-outline, defined by
/// tulle-launch.
inline const std::string kLaunchPrefix = "launch";

} // namespace tulle::passes
