// Inputs whose dimensions have lengths of their own.
#pragma once
#include "Case.h"

namespace tulle::differential {

/// In one program of eight, inputs are ragged: chosen by a generator of its own.
void drawLengths(Case &c);
/// All that is within the lengths, zeros where nothing is given.
runtime::Entries within(const runtime::Entries &entries, const std::vector<std::vector<int64_t>> &lengths);
/// Throws Error where the lengths of operands disagree: such a program is refused before it is compiled.
void checkLengths(const Case &c, const notation::Program &program,
                  const std::map<std::string, runtime::Tensor> &inputs);

} // namespace tulle::differential
