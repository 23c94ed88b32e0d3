// The names of the functions of a parallel region.
#pragma once
#include <string>

namespace tulle::passes {

/// `task<n>_<function>(task, captures…)`: the region.
inline const std::string kTaskPrefix = "task";
/// `launch<n>_<function>(tasks, captures…)`: runs all tasks; declared by tulle-outline, defined by
/// tulle-launch.
inline const std::string kLaunchPrefix = "launch";

} // namespace tulle::passes
