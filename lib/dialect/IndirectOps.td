// Stages 1 and 2: integers of a tensor as coordinates of another, and reshapes (RFC on structured codegen beyond rectangular arrays).

def Tulle_Outside : Tulle_Enum<"Outside", "what becomes of an integer that is no coordinate", ["Error", "Nothing", "Nearest"]>;
def Tulle_OutsideAttr : EnumAttr<Tulle_Dialect, Tulle_Outside, "outside">;

def Tulle_BoundedIndicesOp : Tulle_Op<"bounded_indices", [Pure]> {
  let summary = "The integers of a dense tensor as coordinates below a size";
  let description = [{
    ```mlir
    %q = tulle.bounded_indices %p below %n outside error "p(i)" : tensor<?xi32, #dense> -> tensor<?xi32, #dense>
    ```
    What becomes of an integer that is negative, or not below the size:
    - `error`: the call ends with an error that has the text, the place in the tensor and the integer. The result is the tensor itself.
    - `nothing`: it is -1, which is no coordinate.
    - `nearest`: it is 0, or the last coordinate.

    With `plus`, a number is added to each integer first. With `at`, the integers that are read, and have to be coordinates, are those at these
    coordinates of the source, of which -1 stands for all of a dimension. With `over`, they are those at the coordinates of a range, of which alone
    the result is used. With `deferred`, the call may as well end where loops read an integer, when these have done a part of their work.

    Constraints:
    1. Source and result are dense in the order of their dimensions, of equal shapes, with integers of 8, 16, 32 or 64 bits.
    2. With `error` alone, the types are equal. Otherwise the result's integers are no narrower than the source's, and have 32 bits at least.
    3. `at` has a number for each dimension of the source, -1 or above.
    4. With `over`, the source has one dimension, and the result is the source; there is no `at`.
    5. With `deferred`, the result is the source.
  }];
  let arguments = (ins AnyRankedTensor:$source, Index:$size, Optional<Tulle_RangeType>:$over, Tulle_OutsideAttr:$outside, StrAttr:$text,
                       DefaultValuedAttr<I64Attr, "0">:$plus, OptionalAttr<DenseI64ArrayAttr>:$at, UnitAttr:$deferred);
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    /// Whether the result is the source, all of which are coordinates.
    bool isCheck() { return getOutside() == Outside::Error && getPlus() == 0; }
  }];
  let assemblyFormat = [{
    $source `below` $size (`over` $over^)? (`deferred` $deferred^)? `outside` $outside $text (`plus` $plus^)? (`at` $at^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tulle_DistinctIndicesOp : Tulle_Op<"distinct_indices", [Pure, TypesMatchWith<"the result is the source", "source", "result", "$_self">]> {
  let summary = "The integers of a dense tensor, each of which is given once";
  let description = [{
    ```mlir
    %q = tulle.distinct_indices %p below(%n) "p(i)" : tensor<?xi32, #dense>
    %q = tulle.distinct_indices %p below(%m, %n) "p(i)" : tensor<?x2xi32, #dense>
    ```
    The tensor itself. Where two of its integers are the same coordinate, the call ends with an error that has the text, the place of the second
    in the tensor, and the integer. With `at`, only the integers at these coordinates count, of which -1 stands for all of a dimension.

    With several sizes, the last dimension has a coordinate below each, and what is given once is all of them together. Places where one of them
    is outside do not count.

    Constraints:
    1. The tensor is dense in the order of its dimensions, with integers of 8, 16, 32 or 64 bits.
    2. `at` has a number for each dimension, -1 or above; it is not there with several sizes.
    3. There is one size at least; the last dimension has as many coordinates as there are sizes where these are several.
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$sizes, StrAttr:$text, OptionalAttr<DenseI64ArrayAttr>:$at);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `below` `(` $sizes `)` $text (`at` $at^)? attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Tulle_ReshapeOp : Tulle_Op<"reshape", [Pure]> {
  let summary = "The same buffers as a tensor of other dimensions";
  let description = [{
    ```mlir
    %v = tulle.reshape %A by affine_map<(l) -> (l floordiv 64, l mod 64)> to(%n)
         : tensor<?x?xf64, #CSR> -> tensor<?xf64, #rows>
    ```
    The map has the coordinates of the source for each of the result's dimensions. A reshape is a change of the map from dimensions to
    levels: with it, `#CSR` is `(l) -> (l floordiv 64 : dense, l mod 64 : compressed)`. No entry is moved.

    With `expand` the map has the coordinates of the result, for those of the source:
    ```mlir
    %A = tulle.reshape %v by expand affine_map<(l) -> (l floordiv 64, l mod 64)> to(%m, %c64)
         : tensor<?xf64, #rows> -> tensor<?x?xf64, #CSR>
    ```

    Constraints:
    1. The map's results are digits of its dimensions: `d`, `d floordiv n`, `d mod m` or `d floordiv n mod m`.
    2. The result's encoding is that of the source with the map before its own; with `expand`, that of which this holds the other way round, once
       dense levels of the source are split into digits, or each level of a whole dimension is the sum of its digits: `#vector` is
       `(i, j) -> (i * 64 + j : compressed)`.
    3. One size for each dimension of the result; the digits of the coordinates below them are those of the source, or its coordinates those of which they are digits.
  }];
  let arguments = (ins AnyRankedTensor:$source, UnitAttr:$expand, AffineMapAttr:$map, Variadic<Index>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    /// What each dimension of the source is of those of the result, or with `expand` the other way round; fewer
    /// where the map is not made of digits.
    std::vector<::tulle::format::Digit> getDigits();
  }];
  let assemblyFormat = [{
    $source `by` (`expand` $expand^)? $map `to` `(` $sizes `)` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tulle_OneHotOp : Tulle_Op<"one_hot", [Pure]> {
  let summary = "A tensor of integers as the selection that they are: one entry in the last dimension, for each of them";
  let description = [{
    ```mlir
    %s = tulle.one_hot total distinct %q of %n : tensor<?xi32, #dense> -> tensor<?x?xi32, #selection>
    ```
    The result has an entry at (i, u) where the source has u at i; with `total`, each integer of the source is a coordinate, with `distinct` no two are the same one, so that
    loops over the first dimensions are parallel where u is a coordinate of the result. A product with it is a gather (`y(i) = s(i,u) * x(u)`), or
    a scatter (`z(u) = s(i,u) * y(i)`), and what loops over sets, and assembly, know of products holds for these. The source's
    values are the coordinates of the last level; nothing is copied.

    Constraints:
    1. The source is dense in the order of its dimensions; its values are coordinates below the size (tulle.bounded_indices), or -1 without
       `total`, each once with `distinct` (tulle.distinct_indices).
    2. The result has the source's dimensions and one more, its levels and a `singleton(padded)` one, the source's element type, and
       coordinates as wide as that.
  }];
  let arguments = (ins AnyRankedTensor:$source, Index:$size, UnitAttr:$total, UnitAttr:$distinct);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "(`total` $total^)? (`distinct` $distinct^)? $source `of` $size attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tulle_ConcatOp : Tulle_Op<"concat", [Pure]> {
  let summary = "A new sparse tensor of several, one behind the other";
  let description = [{
    ```mlir
    %C = tulle.concat %A, %B along [1] : (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #COO>) -> tensor<?x?xf64, #CSR>
    ```
    Each operand is at coordinates that begin, in the dimensions of `along`, where those of the one before it end; in the others all
    begin at 0, and have one size. Along several dimensions the operands are blocks of a diagonal. What an operand stores is stored: all of a
    dense one. Values are converted to the element type of the result.

    An operand without the one dimension of `along` is at one coordinate of it; where all are, the result is a stack:
    ```mlir
    %S = tulle.concat %A, %B along [0] : (tensor<?x?xf64, #CSR>, tensor<?x?xf32, #COO>) -> tensor<2x?x?xf64, #CSF>
    ```

    Constraints:
    1. Operands and result have the same order, but where one lacks the dimension, and one fill; elements are numbers or truth values.
    2. The dimensions of `along` are distinct, and of the result; there is one at least.
    3. The result's format is sparse. Parts of a dense tensor are written by loops of their own.
    4. Sizes along `along` add up to those of the result, and others are equal, as far as they are static; those that are not are the caller's to
       check.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts, DenseI64ArrayAttr:$along);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$parts `along` $along attr-dict `:` functional-type($parts, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
