// What the assembly of tensors says about the loops that it makes.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tulle::lower {

/// Of a tulle.iterate: the places that its rounds look up and store to are in the cache, so that fetching them
/// ahead would be work for nothing.
inline constexpr llvm::StringLiteral kStoresNear = "tulle.stores_near";

} // namespace tulle::lower
