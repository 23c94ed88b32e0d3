// Stage 1, and buffers: elements and whole slices at coordinates that a tensor of integers gives (RFC on structured codegen beyond
// rectangular arrays).

def Tulle_TensorOrMemRef : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "a tensor, or a memref">;

class Tulle_SubsetOp<string mnemonic, list<Trait> traits = []>
    : Tulle_Op<mnemonic, !listconcat(traits, [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])> {
  let hasVerifier = 1;
}

def Tulle_GatherOp : Tulle_SubsetOp<"gather"> {
  let summary = "Elements, or whole slices, of a tensor at the coordinates that a tensor of integers gives";
  let description = [{
    ```mlir
    %r = tulle.gather %x[%p] into %init : tensor<4x4x4xf32>[tensor<1x2x3xindex>] into tensor<1x2xf32>
    %r = tulle.gather %x[%p] coordinates = [1] into %init : tensor<2x3x4xf32>[tensor<5x6x1xindex>] into tensor<5x6x2x4xf32>
    ```
    The last dimension of the indices has the coordinates of one element, those of the dimensions that `coordinates` lists, in that order; of
    all where it is not there. The other dimensions are whole: at each place of the indices the result has a slice of the source. Without a result, the same of buffers.

    `outside` says what becomes of integers that are no coordinates: an `error` is the default, with `nothing` the result keeps what the init has
    there, with `nearest` they are 0 or the last coordinate. Except with `nothing`, the init's elements are not read.

    With `view`, of buffers, nothing is copied: the elements of the result are memrefs, each a slice of the source.
    ```mlir
    tulle.gather view %x[%p] coordinates = [0] into %rows
      : memref<4x?xf32>[memref<?x1xindex>] into memref<?xmemref<?xf32, strided<[1], offset: ?>>>
    ```

    It implements upstream's TilingInterface, SubsetExtractionOpInterface and BufferizableOpInterface in `tulle-opt` (`lib/transform`). A tile
    of one element, or slice, is a `tensor.extract_slice` at the coordinates.

    Constraints:
    1. Source, indices and init are tensors, and the result has the type of the init; or they are memrefs, and there is no result.
    2. `coordinates` are distinct dimensions of the source, one at least, and the last dimension of the indices has their number as its static size; indices
       are integers of 8, 16, 32 or 64 bits, or of type index, and as a tensor they are dense in the order of its dimensions.
    3. The dimensions of the init are those of the indices but the last, and then those of the source that are not in `coordinates`; element types are equal.
    4. With `view`, source and init are memrefs; the init has the dimensions of the indices but the last, and its elements are the memrefs that
       `memref.subview` makes of the source's other dimensions.
  }];
  let arguments = (ins Tulle_TensorOrMemRef:$source, Tulle_TensorOrMemRef:$indices, Tulle_TensorOrMemRef:$init,
                       OptionalAttr<DenseI64ArrayAttr>:$coordinates,
                       DefaultValuedAttr<Tulle_OutsideAttr, "::tulle::dialect::Outside::Error">:$outside, UnitAttr:$view);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// The dimensions that integers give the coordinates of, in the order of the integers.
    ::llvm::SmallVector<int64_t> getGiven();
    /// How many dimensions the indices have before their last one.
    int64_t getBatchRank();
  }];
  let assemblyFormat = [{
    (`view` $view^)? $source `[` $indices `]` (`coordinates` `=` $coordinates^)? (`outside` $outside^)? `into` $init attr-dict `:`
    type($source) `[` type($indices) `]` `into` custom<Destination>(type($init), type($result))
  }];
  let hasCanonicalizer = 1;
}

def Tulle_ScatterOp : Tulle_SubsetOp<"scatter"> {
  let summary = "A tensor in which elements, or whole slices, are those of another, at the coordinates that a tensor of integers gives";
  let description = [{
    ```mlir
    %r = tulle.scatter %y into %z[%p] coordinates = [1] : tensor<5x6x2x4xf32> into tensor<2x3x4xf32>[tensor<5x6x1xindex>]
    ```
    The inverse of tulle.gather: element, or slice, of the source at each place of the indices is that of the result at the coordinates there. Elsewhere the
    result has what the destination has. Where several places have the same coordinates, the result has the element of one of them. With `unique`,
    no two have: of tensors, that is checked before the loops, of memrefs, at each place.

    `outside` says what becomes of integers that are no coordinates: an `error` is the default, with `nothing` the elements there are dropped, with
    `nearest` they are stored at 0 or the last coordinate.

    Upstream's interfaces are those of tulle.gather, with SubsetInsertionOpInterface; tiles of several places follow on each
    other, and there are none with `unique`, which would be checked in each of them alone.

    Constraints:
    1. Source, destination and indices are tensors, and the result has the type of the destination; or they are memrefs, and there is no result.
    2. `coordinates` are distinct dimensions of the destination, one at least, and the last dimension of the indices has their number as its static size;
       indices are integers of 8, 16, 32 or 64 bits, or of type index, and as a tensor they are dense in the order of its dimensions.
    3. The dimensions of the source are those of the indices but the last, and then those of the destination that are not in `coordinates`; element types are equal.
    4. With `unique`, `outside` is not `nearest`: what is clamped meets at the ends of the dimension.
  }];
  let arguments = (ins Tulle_TensorOrMemRef:$source, Tulle_TensorOrMemRef:$init, Tulle_TensorOrMemRef:$indices,
                       OptionalAttr<DenseI64ArrayAttr>:$coordinates,
                       DefaultValuedAttr<Tulle_OutsideAttr, "::tulle::dialect::Outside::Error">:$outside, UnitAttr:$unique);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// The dimensions that integers give the coordinates of, in the order of the integers.
    ::llvm::SmallVector<int64_t> getGiven();
    /// How many dimensions the indices have before their last one.
    int64_t getBatchRank();
  }];
  let assemblyFormat = [{
    (`unique` $unique^)? $source `into` $init `[` $indices `]` (`coordinates` `=` $coordinates^)? (`outside` $outside^)? attr-dict `:`
    type($source) `into` custom<Destination>(type($init), type($result)) `[` type($indices) `]`
  }];
}

def Tulle_IndexMapOp : Tulle_Op<"index_map", [SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "Coordinates that are a function of the place in a rectangular set";
  let description = [{
    ```mlir
    %p = tulle.index_map (%n) {
    ^bb0(%l: index):
      %ij:2 = affine.delinearize_index %l into (42, 64) : index, index
      tulle.yield %ij#0, %ij#1 : index, index
    } : tensor<?x2xindex>
    ```
    The region says what stands at each place, before any loop does: canonicalization makes a gather by a range a slice, and one by
    a delinearized index a collapsed tensor. `tulle-expand-index-map` makes a tensor.generate of what is left.

    Constraints:
    1. One size for each dynamic dimension of the result but the last; the last is static.
    2. One block argument of type index for each dimension of the result but the last, and as many yielded values, of type index, as the last one has coordinates.
  }];
  let arguments = (ins Variadic<Index>:$sizes);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs RankedTensorOf<[Index]>:$result);
  let assemblyFormat = "`(` $sizes `)` $body attr-dict `:` type($result)";
  let hasVerifier = 1;
}
