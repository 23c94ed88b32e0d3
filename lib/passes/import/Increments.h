// What a reduction adds to a sparse result, as a tensor of its own.
#pragma once
#include "notation/Program.h"

namespace tulle::passes {

/// The format in which increments are collected that start from `start`: the result's, where loops can follow
/// it together with the result, else plain levels in the order of the result's. What no increment has reached
/// is not stored.
format::Encoding incrementEncoding(const notation::Statement &statement, const notation::TensorDecl &result,
                                   const format::Encoding &resultEncoding, const Scalar &start);

} // namespace tulle::passes
