// Positions of a result that no entry comes to.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// Whether there can be such positions.
bool leavesPadding(const Target &target);

/// The level that numbers the entries of each row, where it and the row make the positions: the slots of a
/// row without an entry are then its last ones (ELL).
std::optional<unsigned> numberedPadding(const Target &target, const Order &order);

/// Empties the slots of a row from its `first` on; `numbered` is `numberedPadding`. `builds` have their
/// sizes.
void fillPadding(const Target &target, llvm::MutableArrayRef<levels::LevelBuild> builds, unsigned numbered,
                 mlir::Value row, mlir::Value first);

} // namespace tulle::assemble
