// Stages 2 and 3: partitions of work among threads.

def Tulle_ThreadsOp : Tulle_Op<"threads", [Pure]> {
  let summary = "The number of parallel tasks that is profitable for an amount of work";
  let description = [{
    `work` counts stored entries, or what costs as much. The result is 1 where two threads are not profitable, where one thread
    is requested, and inside a parallel region; it is at most the number of threads.

    With `fixed`, it depends on the work alone: what combines partial results then gives the same bits for any number of threads.
  }];
  let arguments = (ins Index:$work, UnitAttr:$fixed);
  let results = (outs Index:$result);
  let assemblyFormat = "$work (`fixed` $fixed^)? attr-dict";
}

def Tulle_ParallelOp : Tulle_Op<"parallel", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects, AutomaticAllocationScope,
                                            DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Runs its region once for each task, in any order, possibly at the same time";
  let description = [{
    ```mlir
    %r = tulle.parallel %task of %tasks iter_args(%y = %init) -> (tensor<?xf64, #dense>) {
      %rows = tulle.partition %all, %task of %tasks : !tulle.range
      %n = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %y) … 
      tulle.yield %n : tensor<?xf64, #dense>
    }
    ```
    Whoever writes the region guarantees that tasks are race-free: none writes what another one reads or writes. Tasks may
    allocate, and may report errors. Stage 3 knows the op without carried tensors.

    Constraints:
    1. Block arguments: the task (index), 0 <= task < tasks, then one per init with its type.
    2. Results and yielded values have the types of the inits; they are the storage of the inits.
  }];
  let arguments = (ins Index:$tasks, Variadic<AnyRankedTensor>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tulle_PartitionOp : Tulle_Op<"partition", [Pure, AttrSizedOperandSegments, AllTypesMatch<["space", "result"]>]> {
  let summary = "One chunk of a partition of a space or a range into consecutive chunks of equal work";
  let description = [{
    Chunks 0, 1, … follow each other in storage order and together are all of the space. Entries with equal coordinates, of a level
    that stores a coordinate several times, are in one chunk. Chunks hold about as many stored entries each, as far as positions
    tell: entries below a space are counted through compressed, dense and singleton levels. A range is partitioned by the entries of
    `estimate`, whose first level the range runs over; without it, by the number of coordinates. With `to`, the result is all chunks
    from `chunk` on and before that one.

    A level where every coordinate exists is partitioned by coordinates: the same ones below every parent. Chunks of such a level, or
    of a range, begin at multiples of `align` (default 1): coordinates that a result stores together stay together.

    Constraints:
    1. `estimate` belongs to a range, and its first level is dense.
    2. The alignment is positive; it is 1 where the space stores its coordinates.
  }];
  let arguments = (ins Tulle_SpaceOrRange:$space, Index:$chunk, Optional<Index>:$to, Index:$chunks,
                       Optional<AnyRankedTensor>:$estimate,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$alignment);
  let results = (outs Tulle_SpaceOrRange:$result);
  let assemblyFormat = [{
    $space `,` $chunk (`to` $to^)? `of` $chunks (`by` $estimate^ `:` type($estimate))? (`align` $alignment^)? attr-dict
    `:` qualified(type($space))
  }];
  let hasVerifier = 1;
}

def Tulle_WorkOp : Tulle_Op<"work", [Pure]> {
  let summary = "The number of stored entries of a space or a range, counted as tulle.partition does";
  let description = [{
    Without levels below that count, positions or coordinates are counted; with them, these and the entries below: never less
    than there are entries.

    Constraints:
    1. `estimate` as for tulle.partition.
  }];
  let arguments = (ins Tulle_SpaceOrRange:$space, Optional<AnyRankedTensor>:$estimate);
  let results = (outs Index:$result);
  let assemblyFormat = "$space (`by` $estimate^ `:` type($estimate))? attr-dict `:` qualified(type($space))";
  let hasVerifier = 1;
}

def Tulle_PartitionBoundaryOp : Tulle_Op<"partition_boundary", [Pure]> {
  let summary = "The beginning of a chunk of a nonzero-split partition, possibly inside of a long fiber";
  let description = [{
    Where one fiber (what is stored below one coordinate) is longer than a chunk, boundaries between coordinates cannot balance the
    work. The chunks are those of `tulle.partition`, but `chunk` may begin between the entries of a fiber. If that fiber (of `whole`
    entries, counted as `tulle.work` does) is longer than `least`, then `begin` and `end` are the positions around it, counted as
    `tulle.slice` does, and `before` of its `whole` entries belong to the chunks before; of more than 2^31 entries, both are in
    larger units. Else `begin` and `end` are the same position, where `tulle.partition` begins the chunk, and the other two mean
    nothing.

    Constraints:
    1. `estimate` as for tulle.partition; a space's level holds its coordinates in order.
  }];
  let arguments = (ins Tulle_SpaceOrRange:$space, Index:$chunk, Index:$chunks, Index:$least,
                       Optional<AnyRankedTensor>:$estimate);
  let results = (outs Index:$begin, Index:$end, Index:$before, Index:$whole);
  let assemblyFormat = [{
    $space `,` $chunk `of` $chunks `over` $least (`by` $estimate^ `:` type($estimate))? attr-dict `:` qualified(type($space))
  }];
  let hasVerifier = 1;
}

def Tulle_SliceOp : Tulle_Op<"slice", [Pure, AllTypesMatch<["space", "result"]>]> {
  let summary = "The positions of a space, or the coordinates of a range, from one to another";
  let description = [{
    A space that stores its coordinates is sliced by positions, another one and a range by coordinates, both counted from 0. With
    `one`, all of the slice has one coordinate.
  }];
  let arguments = (ins Tulle_SpaceOrRange:$space, Index:$begin, Index:$end, UnitAttr:$one);
  let results = (outs Tulle_SpaceOrRange:$result);
  let assemblyFormat = "$space `[` $begin `to` $end `]` (`one` $one^)? attr-dict `:` qualified(type($space))";
}

def Tulle_BoundsBelowOp : Tulle_Op<"bounds_below", [Pure]> {
  let summary = "The positions of the next level that stand below the coordinates of a space or a range";
  let description = [{
    From `begin` to below `end`, counted as `tulle.slice` does; those below one coordinate after those below the one before.

    Constraints:
    1. `by` belongs to a range, whose coordinates are those of the first level, which is dense.
    2. The next level is compressed, or a singleton: its positions ascend with those above.
  }];
  let arguments = (ins Tulle_SpaceOrRange:$space, Optional<AnyRankedTensor>:$tensor);
  let results = (outs Index:$begin, Index:$end);
  let assemblyFormat = "$space (`by` $tensor^ `:` type($tensor))? attr-dict `:` qualified(type($space))";
  let hasVerifier = 1;
}

def Tulle_EnclosingOp : Tulle_Op<"enclosing", [Pure, AllTypesMatch<["space", "result"]>]> {
  let summary = "The part of a space or a range below which some positions of the next level stand";
  let description = [{
    From the coordinate that has the position `begin` to the one that has the position before `end`: with `tulle.slice` of the
    next level below each of these, a loop visits a tile of stored entries that may begin and end inside of rows. Nothing where
    there are no such positions.

    ```mlir
    %rows = tulle.enclosing %all [%begin to %end] by %A : tensor<?x?xf64, #CSR> : !tulle.range
    ```

    Constraints: those of `tulle.bounds_below`.
  }];
  let arguments = (ins Tulle_SpaceOrRange:$space, Index:$begin, Index:$end, Optional<AnyRankedTensor>:$tensor);
  let results = (outs Tulle_SpaceOrRange:$result);
  let assemblyFormat = [{
    $space `[` $begin `to` $end `]` (`by` $tensor^ `:` type($tensor))? attr-dict `:` qualified(type($space))
  }];
  let hasVerifier = 1;
}

def Tulle_RestrictOp : Tulle_Op<"restrict", [Pure, AllTypesMatch<["space", "result"]>]> {
  let summary = "The coordinates of a space that lie in a range";
  let description = [{
    Constraints:
    1. The level is ordered.
  }];
  let arguments = (ins Tulle_SpaceType:$space, Tulle_RangeType:$range);
  let results = (outs Tulle_SpaceType:$result);
  let assemblyFormat = "$space `to` $range attr-dict `:` qualified(type($space))";
  let hasVerifier = 1;
}

def Tulle_ShiftOp : Tulle_Op<"shift", [Pure, AllTypesMatch<["space", "result"]>]> {
  let summary = "The entries of a space, whose coordinates count from an offset";
  let description = [{
    A dimension of a tensor that is a part of a longer one, or a subscript `j + 3`: the coordinate 3 of the tensor is 0 of the loop. Of the
    space, all coordinates are at least the offset, as `tulle.restrict` makes it. Iterators are those of the tensor.

    ```mlir
    %columns = tulle.range %lo to %hi
    %part = tulle.restrict %row to %columns : !tulle.space<#CSR, 1>
    %from_zero = tulle.shift %part by %lo : !tulle.space<#CSR, 1>
    ```

    Constraints:
    1. The level stores its coordinates, in order.
  }];
  let arguments = (ins Tulle_SpaceType:$space, Index:$offset);
  let results = (outs Tulle_SpaceType:$result);
  let assemblyFormat = "$space `by` $offset attr-dict `:` qualified(type($space))";
  let hasVerifier = 1;
}

def Tulle_ValuesOp : Tulle_Op<"values", [Pure]> {
  let summary = "The buffer of a tensor's values";
  let description = [{
    For code that treats all values alike, whatever their positions. What is written to the buffer is not the tensor's any more:
    the tensor that has it is `tulle.with_values` of the same tensor and this buffer, afterwards. Truth values are bytes. With `coordinates`, the
    buffer of that level's coordinates instead, where it stores one for each of its positions and nothing else there.

    Constraints:
    1. The tensor has the level, which stores its coordinates in a buffer of their own.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, OptionalAttr<I64Attr>:$level);
  let results = (outs AnyMemRef:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$tensor),
                            [{ build($_builder, $_state, result, tensor, ::mlir::IntegerAttr()); }]>];
  let hasVerifier = 1;
  let assemblyFormat = "$tensor (`coordinates` $level^)? attr-dict `:` type($tensor) `->` type($result)";
}

def Tulle_WithValuesOp : Tulle_Op<"with_values"> {
  let summary = "A tensor with the pattern of another and a buffer of values of its own";
  let description = [{
    Constraints:
    1. Both tensors have equal encodings and shapes; the element types may differ.
    2. The buffer is one of the result's values: it has as many as the other tensor (`tulle.stored_count`).

    The values are those that the buffer holds when the op executes: it reads them. A result whose pattern exists is summed in
    such a tensor where its own values are too narrow.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, Arg<AnyMemRef, "", [MemRead]>:$values);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$tensor `,` $values attr-dict `:` type($tensor) `,` type($values) `->` type($result)";
  let hasVerifier = 1;
}

def Tulle_EmptyOp : Tulle_Op<"empty", [AttrSizedOperandSegments]> {
  let summary = "A tensor with memory for some coordinates of its first level only";
  let description = [{
    What a loop over blocks stores and reads within one block needs no memory for the others. The values are unspecified, and
    the memory is freed at the end of the op's block. Only entries below `coordinates` may be read or stored, at the iterators that a tensor
    with all values has.

    ```mlir
    %rows = tulle.partition %all, %block of %blocks by %A : tensor<?x?xf64, #CSR> : !tulle.range
    %e = tulle.empty(%m, %n) like %A : tensor<?x?xf32, #CSR> at %rows : !tulle.range -> tensor<?x?xf64, #CSR>
    ```

    Constraints:
    1. There is a size for each dimension.
    2. The pattern is that of `like`, of the same encoding; without it, all levels are dense.
    3. The coordinates are a space of the first level, or a range where that level is dense.
    4. Levels below the first are dense, compressed, ragged, banded or singleton: values of consecutive coordinates of the first
       level are stored one after the other.
  }];
  let arguments = (ins Variadic<Index>:$sizes, Optional<AnyRankedTensor>:$like, Tulle_SpaceOrRange:$coordinates);
  let results = (outs Res<AnyRankedTensor, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    `(` $sizes `)` (`like` $like^ `:` type($like))? `at` $coordinates attr-dict `:` qualified(type($coordinates))
    `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Whether a tensor of this type may have memory for some coordinates of its first level only (constraint 4).
    static bool isPossibleFor(::mlir::RankedTensorType type);
  }];
  let hasVerifier = 1;
}
