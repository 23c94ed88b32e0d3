// Stage 1: what is said next to linalg.generic on whole tensors.

def Tulle_StoredOp : Tulle_Op<"stored", [Pure]> {
  let summary = "Whether the tensor behind a block argument of linalg.generic stores an entry here";
  let description = [{
    Constraints:
    1. The operand is a block argument of the enclosing linalg.generic that stands for one of its inputs.

    Index notation's `where` becomes a select on sets of these: `where A & ~B` keeps the accumulator unless
    `stored(a) and not stored(b)`.
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs I1:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tulle_FillOp : Tulle_Op<"fill", [Pure, AllTypesMatch<["tensor", "result"]>]> {
  let summary = "The tensor with every stored slot set to one value";
  let description = [{
    Constraints:
    1. The value has the tensor's element type.
  }];
  let arguments = (ins AnyType:$value, AnyRankedTensor:$tensor);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value `,` $tensor attr-dict `:` type($value) `,` type($tensor)";
  let hasVerifier = 1;
}

def Tulle_LikeOp : Tulle_Op<"like", [Pure, AllTypesMatch<["tensor", "result"]>]> {
  let summary = "States that a tensor's storage has the pattern of another: same encoding, same positions and coordinates";
  let description = [{
    Constraints:
    1. Both tensors have equal encodings and shapes; the element types may differ.

    The result is the first operand. A result that shares an operand's pattern (SDDMM, scaling, `where A`) is written at
    the position the pattern's iterator has.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, AnyRankedTensor:$pattern);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$tensor `,` $pattern attr-dict `:` type($tensor) `,` type($pattern)";
  let hasVerifier = 1;
}

def Tulle_ConvertOp : Tulle_Op<"convert", [Pure]> {
  let summary = "The same tensor in another encoding";
  let description = [{
    Constraints:
    1. Shapes and element types of source and result are equal; only the encoding differs.
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
