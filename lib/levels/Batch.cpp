// batch: every coordinate exists, and each has the arrays of the levels below to itself.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Batch : FullLevelFormat {
  bool separatesBatches() const override { return true; }
};

TULLE_LEVEL_FORMAT(Batch)

} // namespace tulle::levels
