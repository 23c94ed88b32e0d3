// Stage 1: what is said next to linalg.generic on whole tensors.

def Tulle_StoredOp : Tulle_Op<"stored", [Pure]> {
  let summary = "Tests whether the tensor behind a block argument of linalg.generic stores an entry here";
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
  let summary = "The tensor with every stored value set to one value";
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
  let summary = "States that a tensor's storage has the pattern of another: same levels, same positions and coordinates";
  let description = [{
    Constraints:
    1. The tensor has the dimensions and levels of the pattern, with the same widths, and below them a dense level for each further
       dimension; or it has the outer ones of them, which store each coordinate of its dimensions once. Element types and fills may
       differ.

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
    With `share`, the result may have buffers of the source, where both store the same: whoever sets it keeps them alive and
    unchanged as long as either is used.

    Constraints:
    1. Shapes and element types of source and result are equal; only the encoding differs.
  }];
  let arguments = (ins AnyRankedTensor:$source, UnitAttr:$share);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source (`share` $share^)? attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tulle_Aggregate : Tulle_Enum<"Aggregate", "what a query says about the entries of one parent", ["Count", "Max", "Min", "Id"]>;
def Tulle_AggregateAttr : EnumAttr<Tulle_Dialect, Tulle_Aggregate, "aggregate">;

def Tulle_QueryOp : Tulle_Op<"query", [Pure, AllTypesMatch<["init", "result"]>]> {
  let summary = "A statistic of where a tensor stores entries, for every coordinate of some of its dimensions";
  let description = [{
    ```mlir
    %n = tulle.query count %A into %zero select affine_map<(i, j) -> (i)> : tensor<?x?xf64, #CSR>, tensor<?xi64>
    %w = tulle.query max %A into %low select affine_map<(i, j) -> (i)> of affine_map<(i, j) -> (j - i)> : …
    ```
    At each coordinate of the selected dimensions: `count` adds the number of stored entries to the element of `init`, `max` and
    `min` combine it with the value of an expression at each entry, `id` makes it 1 where there is an entry. `init` says what holds
    where there is none. Values are never read.

    Constraints:
    1. `select` has one dimension for each of the tensor's, and distinct dimensions as results.
    2. `init` is dense, of type i64, with one dimension for each result of `select`.
    3. `max` and `min` have one expression of the tensor's dimensions, the others none.
  }];
  let arguments = (ins Tulle_AggregateAttr:$aggregate, AnyRankedTensor:$tensor, AnyRankedTensor:$init, AffineMapAttr:$select,
                       OptionalAttr<AffineMapAttr>:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $aggregate $tensor `into` $init `select` $select (`of` $value^)? attr-dict `:` type($tensor) `,` type($result)
  }];
  let hasVerifier = 1;
}
