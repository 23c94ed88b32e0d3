// Widths of positions and coordinates, where no format names them: those of the operand whose pattern a
// result has, of a whole that is decomposed, of the tensor whose structure one shares.
#include "format/Layout.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <limits>

namespace tulle::notation {

/// A result with an operand's pattern has its coordinates, and so their widths where none are named. One with
/// a pattern of its own gets what its coordinates and the most entries it may have need.
static void takeWidths(Program &program, const Statement &s) {
  TensorDecl &result = program.tensors[s.lhs.tensor];
  if (result.like)
    return;
  format::Encoding &encoding = result.encoding;
  if (isDense(result) || (encoding.posWidth && encoding.crdWidth))
    return;
  ResultPattern pattern = resultPattern(program, s);
  if (pattern.kind == PatternKind::Dense)
    return;
  if (pattern.kind == PatternKind::Computed) {
    int64_t elements = 1;
    for (int64_t size : result.dims)
      if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements))
        elements = std::numeric_limits<int64_t>::max();
    encoding = format::resolveWidths(encoding, result.dims, elements);
    return;
  }
  const format::Encoding &from = program.tensors[pattern.operand->tensor].encoding;
  encoding.posWidth = encoding.posWidth ? encoding.posWidth : from.posWidth;
  // Two-bit coordinates are a property of one format, not of the data.
  encoding.crdWidth = encoding.crdWidth ? encoding.crdWidth : from.crdWidth == 2 ? 32 : from.crdWidth;
}

/// Structure that is another tensor's has its widths.
static void takeWidthsOfStructures(Program &program) {
  for (TensorDecl &decl : program.tensors)
    if (decl.like) {
      const format::Encoding &from = program.tensors[*decl.like].encoding;
      decl.encoding.posWidth = from.posWidth;
      decl.encoding.crdWidth = from.crdWidth;
    }
}

void takeWidths(Program &program) {
  takeWidthsOfStructures(program);
  for (const Statement &s : program.statements) {
    takeWidths(program, s);
    takeWidthsOfStructures(program);
  }
}

void takeWidthsOfParts(Program &program) {
  for (const Decomposition &decomposition : program.decompositions) {
    const TensorDecl &whole = program.tensors[decomposition.tensor];
    // Widths of nothing say nothing: what a dense tensor stores has any of its coordinates.
    format::Encoding own = whole.encoding;
    if (isDense(whole))
      own.posWidth = own.crdWidth = format::resolveWidths(whole.encoding, whole.dims, INT64_MAX).posWidth;
    for (unsigned t : decomposition.tensors) {
      format::Encoding &part = program.tensors[t].encoding;
      part.posWidth = part.posWidth ? part.posWidth : own.posWidth;
      // Two-bit coordinates are a property of one format, not of the data.
      part.crdWidth = part.crdWidth ? part.crdWidth : own.crdWidth == 2 ? 32 : own.crdWidth;
    }
  }
}

void resolveWidths(Program &program) {
  takeWidthsOfParts(program);
  for (TensorDecl &decl : program.tensors)
    decl.encoding = format::resolveWidths(decl.encoding, decl.dims, 0);
  takeWidthsOfStructures(program);
}

} // namespace tulle::notation
