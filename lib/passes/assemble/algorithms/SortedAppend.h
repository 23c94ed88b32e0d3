// Entries in any order as ops: a list, a sort of it, and its appending.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// Makes the target's buffers from the entries: tulle.collect, tulle.sort by as many levels as the order
/// leaves open, tulle.append.
void sortAndAppend(Target &target, dialect::EntriesOp entries, bool parallel);

} // namespace tulle::assemble
