// What `tulle run` says about results: a summary, the JSON of --time, and the comparison of --check.
#pragma once
#include "Inputs.h"

namespace tulle::cli {

using Tensors = std::vector<std::optional<runtime::Tensor>>;

/// `y: f64 [1000], dense, 1000 stored: 0.25 1 0 …`
std::string summarize(const std::string &name, const runtime::Tensor &tensor);

/// Floating point operations that one run does, by the usual count (SpMV: two for each stored entry; padding
/// is not counted). Nothing unless it is exactly known: each statement runs once, and does all of its
/// operations at every point of dense loops, or at every entry of one sparse operand. `entries` is as in
/// LoadedProgram, `results` what a run left.
std::optional<double> countOperations(const notation::Program &program, const std::vector<int64_t> &entries,
                                      const Tensors &results);

/// Compares every written tensor with the dense interpreter's answer for what was given (so that storing it
/// is checked, too). Throws Error naming the first element that differs by more than the rounding of its type
/// explains, and when the dense form is too large to compute. `loaded.given` must be there; `iterations` are
/// those of the program's loops.
void checkAgainstInterpreter(const LoadedProgram &loaded, const Tensors &results,
                             const std::vector<int64_t> &iterations = {});

} // namespace tulle::cli
