// What the functions of a parallel region are called, and attributes of tulle.part and tulle.values.
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
/// Of a tulle.values: it means the coordinates that the level stores one by one.
inline const std::string kLevel = "tulle.level";

} // namespace tulle::passes
