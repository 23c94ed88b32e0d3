// dense: nothing is stored, every coordinate exists.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Dense : FullLevelFormat {};

TULLE_LEVEL_FORMAT(Dense)

} // namespace tulle::levels
