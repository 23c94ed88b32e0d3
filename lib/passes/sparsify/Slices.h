// Which slices loops can read where they are.
#pragma once
#include "format/Encoding.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tulle::passes {

/// Whether loops over the levels stay within the slices that the encoding has, or reach them: every
/// coordinate of a sliced dimension is stored, and by one level where others are iterated: reaching it is
/// arithmetic. Or its coordinates are in order and the slice has all of an interval: its ends are searched.
bool isInPlace(const format::Encoding &encoding);
/// The same of a tensor of this encoding, without slices, from which the operation takes a part.
bool isInPlace(format::Encoding encoding, mlir::tensor::ExtractSliceOp slice);

} // namespace tulle::passes
