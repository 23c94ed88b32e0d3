// What must hold across the levels of an encoding, wherever it came from.
#pragma once
#include "format/Encoding.h"

namespace tulle::format {

/// A broken rule and the part of the encoding it is about.
struct Violation {
  enum Part { LevelExpr, LevelFormatPart, Inverse, CrdWidth } part;
  unsigned index = 0; ///< level or dimension
  std::string message;
};

/// The first broken rule, if any.
std::optional<Violation> verify(const Encoding &encoding);

} // namespace tulle::format
