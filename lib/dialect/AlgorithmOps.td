// Stage 2: the algorithms that build new tensors. tulle-expand-assembly writes these ops; each has a pass that lowers it.

def Tulle_IndexBuffer : MemRefRankOf<[Index], [1]>;
def Tulle_IntegerBuffer : MemRefRankOf<[AnyTypeOf<[Index, AnySignlessInteger]>], [1]>;
/// Entries as an array of structures: whole words with an entry's coordinates and its value.
def Tulle_RecordBuffer : MemRefRankOf<[I64], [1]>;

//===--- On buffers ---===//

def Tulle_ScanOp : Tulle_Op<"scan"> {
  let summary = "An exclusive prefix sum in place";
  let description = [{
    ```mlir
    %total = tulle.scan %counts[%begin to %end] init %first : memref<?xindex>
    ```
    Element `begin` becomes `init`, each element behind it the sum of `init` and the elements before, and the result is the sum of
    all. With `rows`, the buffer holds so many rows of `end` elements, and the sum goes down each column, one column after the other:
    the positions that chunks with a histogram each store their buckets at.

    Constraints:
    1. With `rows`, `begin` is 0.
  }];
  let arguments = (ins Arg<Tulle_IntegerBuffer, "", [MemRead, MemWrite]>:$buffer, Index:$begin, Index:$end, Optional<Index>:$rows,
                       Index:$init);
  let results = (outs Index:$total);
  let assemblyFormat = "$buffer `[` $begin `to` $end `]` (`rows` $rows^)? `init` $init attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tulle_KeyOp : Tulle_Op<"key", [Pure, Terminator, ParentOneOf<["HistogramOp", "ScatterEntriesOp"]>]> {
  let summary = "The bucket of an entry, less than the number of buckets";
  let arguments = (ins Index:$bucket);
  let assemblyFormat = "$bucket attr-dict";
}

def Tulle_HistogramOp : Tulle_Op<"histogram", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Counts the entries of a list by bucket";
  let description = [{
    ```mlir
    tulle.histogram %begin to %end into %counts[%first] buckets %n {
    ^bb0(%entry: index):
      …
      tulle.key %bucket
    } : memref<?xindex>
    ```
    Elements `first` … `first + buckets - 1` become the numbers of entries `begin` … `end - 1` with each key.

    Constraints:
    1. The block argument is the number of an entry (index); the region ends with tulle.key.
  }];
  let arguments = (ins Index:$begin, Index:$end, Arg<Tulle_IndexBuffer, "", [MemRead, MemWrite]>:$counts, Index:$first, Index:$buckets);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$begin `to` $end `into` $counts `[` $first `]` `buckets` $buckets $body attr-dict `:` type($counts)";
  let hasVerifier = 1;
}

def Tulle_ScatterEntriesOp : Tulle_Op<"scatter_entries", [SingleBlock, RecursiveMemoryEffects, AllTypesMatch<["list", "into"]>]> {
  let summary = "Moves each entry of a list to the next position of its bucket";
  let description = [{
    ```mlir
    tulle.scatter_entries %begin to %end of %list into %sorted by %offsets[%first] words 2 {
    ^bb0(%entry: index):
      …
      tulle.key %bucket
    } : memref<?xi64>, memref<?xindex>
    ```
    An entry whose key is `b` goes to record `offsets[first + b]` of `into`, which is one more afterwards: stable, where the offsets are
    the scan of the histogram of the same keys.

    Constraints:
    1. The block argument is the number of an entry (index); the region ends with tulle.key.
    2. A record has at least one word.
  }];
  let arguments = (ins Index:$begin, Index:$end, Arg<Tulle_RecordBuffer, "", [MemRead]>:$list, Arg<Tulle_RecordBuffer, "", [MemWrite]>:$into,
                       Arg<Tulle_IndexBuffer, "", [MemRead, MemWrite]>:$offsets, Index:$first, I64Attr:$words);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $begin `to` $end `of` $list `into` $into `by` $offsets `[` $first `]` `words` $words $body attr-dict
    `:` type($list) `,` type($offsets)
  }];
  let hasVerifier = 1;
}

def Tulle_ChainedScanOp : Tulle_Op<"chained_scan", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "An exclusive prefix sum over chunks that several threads make at the same time";
  let description = [{
    Waits until all chunks before `number` have said how many they have, adds `count` to their sum, and returns the sum before: what
    an ordered, single-pass scan does for a chunk. `state` is a cell of two words, both 0 in the beginning (the number of the next chunk,
    and the sum).

    Constraints:
    1. Each number from 0 on is handed in once, and whoever does it has no number before it to hand in.
  }];
  let arguments = (ins Index:$count, Index:$number, Tulle_IndexBuffer:$state, Index:$cell);
  let results = (outs Index:$start);
  let assemblyFormat = "$count `of` $number `in` $state `[` $cell `]` attr-dict `:` type($state)";
}

//===--- Coordinate lists ---===//

def Tulle_CollectOp : Tulle_Op<"collect", [MemoryEffects<[MemAlloc, MemRead, MemWrite]>]> {
  let summary = "A list of entries, in the order in which the loops insert them";
  let description = [{
    ```mlir
    %list, %count = tulle.collect %entries bound %n sizes (%m, %k) for tensor<?x?xf64, #BCSR> : !tulle.entries<2, f64>
    ```
    The list is new memory for `bound` records of coordinates and value, of which `count` are written. Coordinates have 32 bits
    where each level of the tensor is a dimension, and stores 32 bits; a size beyond is an error at run time. With `parallel`, several
    threads count, and then write, a chunk of the outermost loop each.

    Constraints:
    1. The entries have the tensor's rank and element type.
    2. One size for each dimension.
  }];
  let arguments = (ins Tulle_EntriesType:$entries, Index:$bound, Variadic<Index>:$sizes, TypeAttr:$tensor, UnitAttr:$parallel);
  let results = (outs Tulle_RecordBuffer:$list, Index:$count);
  let assemblyFormat = [{
    $entries `bound` $bound `sizes` `(` $sizes `)` `for` $tensor (`parallel` $parallel^)? attr-dict `:` qualified(type($entries))
    `->` type($list)
  }];
  let hasVerifier = 1;
}

def Tulle_SortOp : Tulle_Op<"sort", [AllTypesMatch<["list", "spare", "sorted", "other"]>]> {
  let summary = "An LSD radix sort of a list by the coordinates of a tensor's levels";
  let description = [{
    ```mlir
    %sorted, %other = tulle.sort %list, %spare count %n by 2 for tensor<?x?xf64, #CSC> : memref<?xi64>
    ```
    The first `by` levels are the key, the outermost most significant; entries with equal keys keep their order. Each level takes as
    many passes over digits of equal width as the range of its coordinates needs. A pass moves the records from one buffer to the
    other: `sorted` is the one that has them in the end. With `parallel`, threads have a chunk of the list each.

    Constraints:
    1. `by` is at least 1 and at most the number of the tensor's levels.
  }];
  let arguments = (ins Arg<Tulle_RecordBuffer, "", [MemRead, MemWrite]>:$list, Arg<Tulle_RecordBuffer, "", [MemRead, MemWrite]>:$spare,
                       Index:$count, I64Attr:$by, TypeAttr:$tensor, UnitAttr:$parallel);
  let results = (outs Tulle_RecordBuffer:$sorted, Tulle_RecordBuffer:$other);
  let assemblyFormat = [{
    $list `,` $spare `count` $count `by` $by `for` $tensor (`parallel` $parallel^)? attr-dict `:` type($list)
  }];
  let hasVerifier = 1;
}

//===--- Tensors from streams of entries ---===//

/// Makes the fields of format::layout of the tensor's encoding. `plan` says how memory is sized, and repeats are combined by
/// `combine`, as for tulle.assemble. With `parallel`, several threads have a chunk of the outermost loop each.
class Tulle_BuildOp<string mnemonic, list<Trait> traits = [], dag more = (ins)>
    : Tulle_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemAlloc, MemRead, MemWrite]>])> {
  let arguments = !con((ins Tulle_EntriesType:$entries), more, (ins Variadic<Index>:$sizes, TypeAttr:$tensor, UnitAttr:$parallel,
                       DefaultValuedAttr<Tulle_CombineAttr, "::tulle::dialect::Combine::Add">:$combine,
                       DefaultValuedAttr<Tulle_PlanAttr, "::tulle::dialect::AssemblyPlan::Auto">:$plan));
  let results = (outs Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = [{
    $entries `sizes` `(` $sizes `)` `for` $tensor (`parallel` $parallel^)? attr-dict `:` qualified(type($entries)) `->` type($buffers)
  }];
  let hasVerifier = 1;
}

def Tulle_AppendOp : Tulle_Op<"append", [AttrSizedOperandSegments, MemoryEffects<[MemAlloc, MemRead, MemWrite]>]> {
  let summary = "The buffers of a tensor whose entries come in storage order, from loops or a list";
  let description = [{
    ```mlir
    %buffers:3 = tulle.append %sorted count %n sizes (%m, %k) for tensor<?x?xf64, #CSR> {combine = …, plan = …} : memref<?xi64> -> …
    %buffers:3 = tulle.append %entries sizes (%m, %k) for tensor<?x?xf64, #CSR> parallel : !tulle.entries<2, f64> -> …
    ```
    Entries go to the ends of the levels; repeats, next to each other unless `unique` (of a list, or of the entries) says that there
    are none, are combined. `plan` says how memory is sized, as for tulle.assemble. What the tensor that the entries come from stores alike
    is copied as whole buffers; with `share`, it is that tensor's memory. With `parallel`, each thread appends chunks of the outermost
    loop to a staging buffer, and a `tulle.chained_scan` says where they go; chunks that are cheap to count are counted instead.

    Constraints:
    1. The results are the fields of format::layout of the tensor's encoding, with their types.
    2. One size for each dimension.
    3. The source is a list, with a count, or the result of a tulle.entries, without one.
  }];
  let arguments = (ins AnyTypeOf<[Tulle_RecordBuffer, Tulle_EntriesType]>:$source, Optional<Index>:$count, Variadic<Index>:$sizes, TypeAttr:$tensor,
                       UnitAttr:$unique, UnitAttr:$parallel, UnitAttr:$share,
                       DefaultValuedAttr<Tulle_CombineAttr, "::tulle::dialect::Combine::Add">:$combine,
                       DefaultValuedAttr<Tulle_PlanAttr, "::tulle::dialect::AssemblyPlan::Auto">:$plan);
  let results = (outs Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = [{
    $source (`count` $count^)? `sizes` `(` $sizes `)` `for` $tensor (`unique` $unique^)? (`parallel` $parallel^)? attr-dict `:`
    qualified(type($source)) `->` type($buffers)
  }];
  let hasVerifier = 1;
}

def Tulle_AppendBlocksOp : Tulle_BuildOp<"append_blocks"> {
  let summary = "The buffers of a tensor of blocks, each of which one iteration of a loop accumulates";
  let description = [{
    ```mlir
    %buffers:3 = tulle.append_blocks %entries sizes (%m, %k) for tensor<?x?xf64, #BCSR> : !tulle.entries<2, f64> -> …
    ```
    A block goes to the ends of the levels before the loops that make its values, which are combined in place.

    Constraints:
    1. The results are the fields of format::layout of the tensor's encoding, with their types.
    2. One size for each dimension.
    3. The entries are the result of a tulle.entries.
  }];
}

def Tulle_WorkspaceOp : Tulle_BuildOp<"workspace"> {
  let summary = "The buffers of a tensor whose fibers come in storage order, by a dense workspace for each (Gustavson)";
  let description = [{
    ```mlir
    %buffers:3 = tulle.workspace %entries sizes (%m, %k) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> …
    ```
    The values of a fiber are combined in an array, with a set of the coordinates that occur; the end of a fiber appends these in
    order and empties both. The set has a bit for each coordinate, or a byte where a sample says that many entries meet at each. Where the level has far more coordinates than there are entries, known at run time, these are sorted
    instead (tulle.sort).

    Constraints:
    1. The results are the fields of format::layout of the tensor's encoding, with their types.
    2. One size for each dimension.
    3. The entries are the result of a tulle.entries.
  }];
}

def Tulle_AccumulateOp : Tulle_BuildOp<"accumulate", [], (ins UnitAttr:$hashed)> {
  let summary = "The buffers of a row that lives in one iteration of a loop, its entries in any order";
  let description = [{
    ```mlir
    %buffers:3 = tulle.accumulate %entries sizes (%n) for tensor<?xf64, #row> : !tulle.entries<1, f64> -> …
    ```
    The row is a list of coordinates and values. Entries are combined in an array, with a bit set of the coordinates that occur, and
    then listed in order; or, with `hashed`, in the list itself, as they come: a hash table leads from a coordinate to its place. It is
    sorted where the tensor's level is ordered.
    What is done costs what is stored, and of a hash table memory, too. The buffers live as long as the iteration.

    Constraints:
    1. The results are the fields of format::layout of the tensor's encoding, with their types.
    2. One size for each dimension.
    3. The entries are the result of a tulle.entries.
    4. The tensor has one level, which is compressed, and ordered unless the row is `hashed`.
  }];
}

def Tulle_ScatterLevelsOp : Tulle_BuildOp<"scatter_levels", [AttrSizedOperandSegments], (ins Optional<AnyRankedTensor>:$pairs)> {
  let summary = "The buffers of a tensor whose entries are stored at the positions that attribute queries give";
  let description = [{
    ```mlir
    %buffers:3 = tulle.scatter_levels %entries sizes (%m, %k) for tensor<?x?xf64, #CSC> : !tulle.entries<2, f64> -> …
    ```
    A first run of the loops answers the queries of levels (histograms, largest coordinates), prefix sums give the positions, and a
    second run stores each entry at its own. Entries that come in any order are sorted in their segments afterwards
    (tulle.sort_segments, tulle.unique). Where a sample says that the positions of consecutive entries are far apart, a list in the
    order of some hundred ranges of parents brings them together first.

    `pairs` has the different coordinates of the dimensions that a rank is of and counts, where there are more than two.

    Constraints:
    1. The results are the fields of format::layout of the tensor's encoding, with their types.
    2. One size for each dimension.
    3. The entries are the result of a tulle.entries.
  }];
  let assemblyFormat = [{
    $entries (`pairs` $pairs^)? `sizes` `(` $sizes `)` `for` $tensor (`parallel` $parallel^)? attr-dict `:`
    qualified(type($entries)) (`,` type($pairs)^)? `->` type($buffers)
  }];
}

def Tulle_BuildLevelsOp : Tulle_Op<"build_levels"> {
  let summary = "A tensor of any levels from its sorted entries, one level after the other";
  let description = [{
    ```mlir
    %C = tulle.build_levels %sorted : tensor<?x?xf64, #COO> -> tensor<?x?xf64, #CSF>
    ```
    For each level, a traversal of the entries answers the level's attribute query, where it has one, and a second gives each entry
    its position there; the last one stores the values.

    Constraints:
    1. The operand stores each entry once, in the storage order of the result.
  }];
  let arguments = (ins AnyRankedTensor:$sorted, Variadic<Index>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$sorted `sizes` `(` $sizes `)` attr-dict `:` type($sorted) `->` type($result)";
  let hasVerifier = 1;
}

//===--- Segments ---===//

class Tulle_SegmentsOp<string mnemonic> : Tulle_Op<mnemonic> {
  dag segments = (ins Arg<Tulle_IntegerBuffer, "", [MemRead, MemWrite]>:$positions, Arg<AnyMemRef, "", [MemRead, MemWrite]>:$coordinates,
                      Arg<AnyMemRef, "", [MemRead, MemWrite]>:$values, Index:$first, Index:$last, Index:$start, TypeAttr:$tensor);
  let hasVerifier = 1;
}

def Tulle_SortSegmentsOp : Tulle_SegmentsOp<"sort_segments"> {
  let summary = "Sorts the coordinates of each segment of a tensor's last level, with the values";
  let description = [{
    Of parents `first` … `last - 1`, whose segments begin at `start`. Stable: by counting where segments are short, by merging
    where they are long. Segments of other parents may be in the making on other threads.

    Constraints:
    1. The last level is compressed or loose_compressed, and the buffers are its fields.
  }];
  let arguments = segments;
  let assemblyFormat = [{
    $coordinates `,` $values `segments` $positions `[` $first `to` $last `]` `start` $start `for` $tensor attr-dict
    `:` type($coordinates) `,` type($values) `,` type($positions)
  }];
}

def Tulle_UniqueOp : Tulle_SegmentsOp<"unique"> {
  let summary = "Combines the values at equal coordinates of sorted segments, and closes the gaps";
  let description = [{
    Of the segments that tulle.sort_segments names. Returns where the last one ends then.

    Constraints:
    1. The last level is compressed or loose_compressed, and the buffers are its fields.
  }];
  let arguments = !con(segments, (ins DefaultValuedAttr<Tulle_CombineAttr, "::tulle::dialect::Combine::Add">:$combine));
  let results = (outs Index:$end);
  let assemblyFormat = [{
    $coordinates `,` $values `segments` $positions `[` $first `to` $last `]` `start` $start `for` $tensor attr-dict
    `:` type($coordinates) `,` type($values) `,` type($positions)
  }];
}
