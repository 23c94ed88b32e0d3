// Random declarations of level formats, most of them sound: refused, or stored right.
#pragma once
#include "Random.h"
#include "Sizes.h"

namespace tulle::differential {

/// `level l { … }`: what its parts say agrees most of the time.
std::string drawDeclaration(Random &random);

/// A few entries, and an encoding with levels `l` of that declaration. Nullopt where it is no executable
/// encoding, or storing it would touch much memory.
std::optional<Storing> drawDeclared(Random &random, const std::string &declaration);

/// Stores the entries in the format, converts that to COO and back, and sums it. What is refused and what is
/// not follows from the meaning of the declaration alone, position by position. Empty when all agrees with
/// that, else what is wrong.
std::string judgeDeclared(const Storing &storing, bool &refused);

} // namespace tulle::differential
