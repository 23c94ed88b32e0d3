// What the functions of a parallel region are called, and an attribute of tulle.part.
#pragma once
#include <string>

namespace tulle::passes {

/// `part<n>_<function>(part, captures…)`: the region.
inline const std::string kPartPrefix = "part";
/// `launch<n>_<function>(parts, captures…)`: runs all parts; declared by tulle-outline, defined by
/// tulle-launch.
inline const std::string kLaunchPrefix = "launch";
/// Of a tulle.part: its pieces begin at multiples.
inline const std::string kGrain = "tulle.grain";

} // namespace tulle::passes
