// What a kernel does, in order.
#pragma once
#include "aot/Interface.h"

namespace tulle::aot {

/// Adds the steps of a compiled program, conversions before what needs them, and the tensors that these make.
/// Throws Error for what a kernel does not do.
void addSteps(Interface &kernel, const notation::Program &program, const engine::Signature &signature);

/// Whether the sizes and positions of a tensor say how long its arrays are (runtime/bind.c).
bool saysItsLengths(const format::Encoding &encoding);

/// The code of a step that is a conversion, for one machine: its function is called `statement0`.
engine::Compilation conversionOf(const Interface &kernel, const Step &step, const engine::Options &options,
                                 const engine::Target &target);

} // namespace tulle::aot
