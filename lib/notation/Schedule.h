// Schedules: how a program is to be computed, where the default is not wanted.
#pragma once
#include "notation/Program.h"

namespace tulle::notation {

/// Puts `text` on the statements of a checked program: `assemble(C, count); assemble(D, bound)`. Throws
/// SyntaxError, pointing into the text, for what does not parse and for what the statements that make a
/// tensor do not do. Source: Chou, Kjolstad and Amarasinghe, "Automatic generation of efficient sparse tensor
/// format conversion routines", 2020 (plans of assembly).
void applySchedule(Program &program, std::string_view text, std::string_view name = "<schedule>");

/// Canonical text of the schedule that a program has; empty where all is left to the compiler.
std::string printSchedule(const Program &program);

} // namespace tulle::notation
