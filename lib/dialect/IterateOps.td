// Stage 2: loops over sets of coordinates.

def Tulle_LoopKind : Tulle_Enum<"LoopKind", "whether iterations are independent", ["Parallel", "Reduction"]>;

def Tulle_LoopAttr : AttrDef<Tulle_Dialect, "Loop"> {
  let mnemonic = "loop";
  let summary = "The kind and the index of a loop, and what was decided about it";
  let description = [{
    The inherent attribute `loop` of tulle.iterate and tulle.coiterate, and the discardable attribute `tulle.loop` of scf.for.

    | parameter | says |
    |---|---|
    | `parallel`, `reduction` | whether iterations are independent |
    | `index` | the index variable whose coordinates the loop visits: `j`, or the digit of it, `j/4` and `j%4` in blocks |
    | `of` | the statements whose iterations these are, in order; absent where the program has one |
    | `directives` | what the schedule says of it (`#tulle.directives`) |
    | `blocks` | each iteration is a block of coordinates; the index is that of the loop over these, with `_block` behind |
    | `rare` | it hardly ever runs, as a copy that stands in for a faster loop: its code is kept short, without vectors |
    | `cache_resident` | the memory that iterations reach by coordinates they read is in the cache: it is not prefetched |

    An upstream pattern that replaces an scf.for by another one may drop its attribute. A loop without one is a
    reduction over no known index: later passes then vectorize less, and stay correct.

    ```mlir
    scf.for %j_pos = %begin to %end step %c1 {
      …
    } {tulle.loop = #tulle.loop<reduction, index = j>}
    ```
  }];
  let parameters = (ins "::tulle::dialect::LoopKind":$kind,
                        OptionalParameter<"::mlir::StringAttr">:$index,
                        OptionalParameter<"::mlir::ArrayAttr">:$of,
                        OptionalParameter<"::tulle::dialect::DirectivesAttr">:$directives,
                        DefaultValuedParameter<"bool", "false">:$cacheResident,
                        DefaultValuedParameter<"bool", "false">:$blocks,
                        DefaultValuedParameter<"bool", "false">:$rare);
  let builders = [AttrBuilder<(ins "::tulle::dialect::LoopKind":$kind, CArg<"::mlir::StringAttr", "{}">:$index,
                                   CArg<"::mlir::ArrayAttr", "{}">:$of,
                                   CArg<"::tulle::dialect::DirectivesAttr", "{}">:$directives), [{
    return $_get($_ctxt, kind, index, of, directives, false, false, false);
  }]>];
  let extraClassDeclaration = [{
    bool isParallel() const { return getKind() == LoopKind::Parallel; }
    LoopAttr withKind(LoopKind kind) const {
      return get(getContext(), kind, getIndex(), getOf(), getDirectives(), getCacheResident(), getBlocks(),
                 getRare());
    }
    LoopAttr withDirectives(DirectivesAttr directives) const {
      return get(getContext(), getKind(), getIndex(), getOf(), directives, getCacheResident(), getBlocks(),
                 getRare());
    }
    LoopAttr withCacheResident() const {
      return get(getContext(), getKind(), getIndex(), getOf(), getDirectives(), true, getBlocks(), getRare());
    }
    LoopAttr withRare() const {
      return get(getContext(), getKind(), getIndex(), getOf(), getDirectives(), getCacheResident(), getBlocks(), true);
    }
    /// Of a loop over blocks of what this one visits.
    LoopAttr ofBlocks(DirectivesAttr directives) const;
    /// The index of such a loop; null without one here.
    ::mlir::StringAttr blockIndex() const;
    /// The index whose coordinates are visited, one by one or in blocks; empty without one.
    ::llvm::StringRef visitedIndex() const;
    /// The last of the statements; empty where the program has one.
    ::llvm::StringRef lastStatement() const;
    /// What SSA values of the index are called: the index, as an identifier; empty without one.
    std::string valueName() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tulle_Strategy : Tulle_Enum<"Strategy", "how a co-iteration is lowered", ["Auto", "Merge", "Gallop", "MergeOrGallop", "Blocks"],
    ["auto", "merge", "gallop", "merge_or_gallop", "blocks"]>;
def Tulle_StrategyAttr : EnumAttr<Tulle_Dialect, Tulle_Strategy, "strategy">;

/// What an op does at an iterator is all in its results, but it may run only where the iterator exists: a search that found nothing,
/// or a coordinate outside of the tensor, has none.
defvar atIterator = [NoMemoryEffect, DeclareOpInterfaceMethods<ConditionallySpeculatable>];

/// An op that reads or writes a tensor's buffers at an iterator.
class Tulle_AtOp<string mnemonic, list<Trait> traits = []> : Tulle_Op<mnemonic, traits # atIterator>;

/// An op that gives the iterator at a coordinate of a level.
class Tulle_FindOp<string mnemonic, list<Trait> traits> : Tulle_Op<mnemonic, traits> {
  let arguments = (ins AnyRankedTensor:$tensor, I64Attr:$level, Optional<Tulle_IteratorType>:$parent, Index:$coordinate);
  let assemblyFormat = [{
    $tensor `level` `(` $level `)` (`under` $parent^ `:` type($parent))? `at` $coordinate attr-dict
    `:` type($tensor) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tulle_RangeOp : Tulle_Op<"range", [Pure]> {
  let summary = "All coordinates lo <= c < hi";
  let arguments = (ins Index:$lo, Index:$hi);
  let results = (outs Tulle_RangeType:$result);
  let assemblyFormat = "$lo `to` $hi attr-dict";
}

def Tulle_SpaceOp : Tulle_AtOp<"space", [AttrSizedOperandSegments]> {
  let summary = "The stored coordinates of one level of a tensor, below a parent iterator";
  let description = [{
    With a condition that is false the space is empty, and the parent need not be an entry: below the iterators of a merge
    by presence flags, which are entries only where their flags say so.

    ```mlir
    %s = tulle.space %A level(1) under %it : !tulle.iterator<#A, 0> if %present : tensor<?x?xf64, #A> -> !tulle.space<#A, 1>
    ```

    Constraints:
    1. Level 0 has no parent; level k > 0 has the iterator of level k-1, of an encoding with the same levels up to there.
    2. The result type names the tensor's encoding and `level`, and the tensor has that level.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, I64Attr:$level, Optional<Tulle_IteratorType>:$parent,
                       Optional<I1>:$condition);
  let results = (outs Tulle_SpaceType:$result);
  let assemblyFormat = [{
    $tensor `level` `(` $level `)` (`under` $parent^ `:` type($parent))? (`if` $condition^)? attr-dict
    `:` type($tensor) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tulle_LocateOp : Tulle_FindOp<"locate", [Pure]> {
  let summary = "The iterator at a coordinate of a level where every coordinate exists (dense, batch)";
  let description = [{
    Constraints:
    1. As for tulle.space, parent and result type fit the tensor and `level`.
    2. The level's format has the property full: the coordinate is always found.
  }];
  let results = (outs Tulle_IteratorType:$result);
}

def Tulle_SearchOp : Tulle_FindOp<"search", atIterator> {
  let summary = "The iterator at a coordinate of an ordered sparse level, if it is stored there";
  let description = [{
    A tensor read at coordinates it is not being iterated over (an affine subscript, a diagonal) is searched: by an address
    where the level's format has one (bitmap, ragged, banded, offset), by probes of a hash table, else by binary search in the
    parent's segment. Where nothing is found, `found` is false and the iterator must not be used: code that
    uses it stands under `scf.if %found`.

    Constraints:
    1. As for tulle.space, parent and result type fit the tensor and `level`.
    2. The level is ordered or hashed, and not full.
  }];
  let results = (outs Tulle_IteratorType:$result, I1:$found);
}

def Tulle_LevelSizeOp : Tulle_Op<"level_size", [Pure]> {
  let summary = "The number of coordinates a level can have";
  let arguments = (ins AnyRankedTensor:$tensor, I64Attr:$level);
  let results = (outs Index:$result);
  let assemblyFormat = "$tensor `level` `(` $level `)` attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}

def Tulle_StoredCountOp : Tulle_Op<"stored_count", [Pure]> {
  let summary = "The number of values a tensor stores, padding included";
  let arguments = (ins AnyRankedTensor:$tensor);
  let results = (outs Index:$result);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
}

def Tulle_SpaceSizeOp : Tulle_Op<"space_size", [Pure]> {
  let summary = "The number of coordinates a space holds";
  let description = [{
    Constraints:
    1. The space's level is unique.
  }];
  let arguments = (ins Tulle_SpaceType:$space);
  let results = (outs Index:$result);
  let assemblyFormat = "$space attr-dict `:` qualified(type($space))";
  let hasVerifier = 1;
}

def Tulle_BoundsOp : Tulle_Op<"bounds", [Pure]> {
  let summary = "What a counted loop over a space or a range counts: from `begin` to below `end`";
  let description = [{
    Positions of the space; of a level that has every coordinate, and of a range, coordinates. `tulle-lower-loops` makes
    these loops, and `tulle.at` says where in the space one is:

    ```mlir
    %begin, %end = tulle.bounds %s : !tulle.space<#CSR, 1>
    scf.for %p = %begin to %end step %c1 {
      %it, %j, %entry = tulle.at %s[%p] : !tulle.space<#CSR, 1>
      …
    }
    ```
  }];
  let arguments = (ins Tulle_SpaceOrRange:$space);
  let results = (outs Index:$begin, Index:$end);
  let assemblyFormat = "$space attr-dict `:` qualified(type($space))";
}

def Tulle_IteratorAtOp : Tulle_AtOp<"at", [InferTypeOpAdaptor, AttrSizedOperandSegments]> {
  let summary = "The iterator, and the coordinate, at one of the numbers that the bounds of a space are for";
  let description = [{
    `entry` is false where the format has padding there, which is no entry: the iterator must not be used then. Of a level that
    holds a coordinate several times, the iterator is the position alone, or all positions `until` another one, which have
    the coordinate, too. With a condition that is false nothing is at the number, which may be any: the iterator is none of an entry,
    the coordinate 0.

    ```mlir
    %end = tulle.next %s[%p] after %i : !tulle.space<#COO, 0>
    %it, %i, %entry = tulle.at %s[%p] until %end if %more : !tulle.space<#COO, 0>
    ```

    Constraints:
    1. With `until`, the level is nonunique.
  }];
  let arguments = (ins Tulle_SpaceType:$space, Index:$number, Optional<Index>:$until, Optional<I1>:$condition);
  let results = (outs Tulle_IteratorType:$iterator, Index:$coordinate, I1:$entry);
  let builders = [OpBuilder<(ins "::mlir::Value":$space, "::mlir::Value":$number), [{
    build($_builder, $_state, space, number, ::mlir::Value(), ::mlir::Value());
  }]>];
  let assemblyFormat = [{
    $space `[` $number `]` (`until` $until^)? (`if` $condition^)? attr-dict `:` qualified(type($space))
  }];
  let hasVerifier = 1;
}

def Tulle_NextOp : Tulle_Op<"next", [Pure]> {
  let summary = "The number of the first entry of a space from a number on, behind those of a coordinate";
  let description = [{
    Numbers are those that the bounds of the space are for (`tulle.bounds`), the end if there is no entry any more. Padding is skipped; so are the entries of
    `coordinate`, which begin at the number. A loop that carries a number from entry to entry is an iteration of the space, and one that
    carries a number in each of several spaces merges them:

    ```mlir
    %begin, %end = tulle.bounds %s : !tulle.space<#COO, 0>
    scf.while (%p = %begin) : (index) -> index {
      %more = arith.cmpi ult, %p, %end : index
      scf.condition(%more) %p : index
    } do {
    ^bb0(%p: index):
      %first, %i, %entry = tulle.at %s[%p] : !tulle.space<#COO, 0>
      %next = tulle.next %s[%p] after %i : !tulle.space<#COO, 0>
      %it, %same, %any = tulle.at %s[%p] until %next : !tulle.space<#COO, 0>
      …
      scf.yield %next : index
    }
    ```
  }];
  let arguments = (ins Tulle_SpaceType:$space, Index:$number, Optional<Index>:$coordinate);
  let results = (outs Index:$result);
  let assemblyFormat = "$space `[` $number `]` (`after` $coordinate^)? attr-dict `:` qualified(type($space))";
}

def Tulle_CoordinatesOp : Tulle_AtOp<"coordinates", [InferTypeOpAdaptor]> {
  let summary = "The coordinates of the dimensions at an iterator of the last level";
  let description = [{
    The inverse of the encoding's map. Padding of blocks, diagonals or windows of ranks may lie outside the tensor: there
    `inside` is false and the coordinates mean nothing.

    ```mlir
    %i, %j, %inside = tulle.coordinates %A[%q : !tulle.iterator<#DIA, 2>] : tensor<?x?xf64, #DIA>
    ```

    Constraints:
    1. The iterator is of the tensor's last level.
    2. One coordinate for each dimension.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, Tulle_IteratorType:$iterator);
  let results = (outs Variadic<Index>:$coordinates, I1:$inside);
  let assemblyFormat = "$tensor `[` $iterator `:` qualified(type($iterator)) `]` attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}

def Tulle_LoadOp : Tulle_AtOp<"load"> {
  let summary = "The value at an iterator of the last level";
  let description = [{
    Constraints:
    1. The iterator is of the tensor's last level; a tensor of order 0 takes none.
    2. The result type is the tensor's element type.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, Optional<Tulle_IteratorType>:$iterator);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$tensor `[` ($iterator^ `:` type($iterator))? `]` attr-dict `:` type($tensor) `->` type($result)";
  let hasVerifier = 1;
}

def Tulle_StoreOp : Tulle_AtOp<"store", [AllTypesMatch<["tensor", "result"]>]> {
  let summary = "The tensor with the value at an iterator replaced";
  let description = [{
    Constraints:
    1. The iterator is of the tensor's last level; a tensor of order 0 takes none.
    2. The value has the tensor's element type.

    The tensor before is another value, and may be used afterwards. Lowering writes to the buffer in place; where the old values
    are still needed then, `tulle-insert-copies` keeps a copy of them.
  }];
  let arguments = (ins AnyType:$value, AnyRankedTensor:$tensor, Optional<Tulle_IteratorType>:$iterator);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $value `,` $tensor `[` ($iterator^ `:` type($iterator))? `]` attr-dict `:` type($value) `,` type($tensor)
  }];
  let hasVerifier = 1;
}

def Tulle_IterateOp : Tulle_Op<"iterate", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects, AutomaticAllocationScope,
                                          DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getRegionIterArgs", "getYieldedValuesMutable", "getLoopResults"]>,
                                          DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "A loop over one space, or over a range";
  let description = [{
    ```mlir
    %r = tulle.iterate %i, %it in %space : !tulle.space<#CSR, 1> iter_args(%acc = %zero) -> (f64) loop = <reduction, index = j> {
      …
      tulle.yield %next : f64
    }
    ```
    A coordinate that a nonunique level holds several times is visited once, with the segment of them as its iterator; with
    `each`, every position is visited by itself, in storage order, and its iterator is that position alone.
    Without `loop` in the text, the loop is `<parallel>`.

    Constraints:
    1. Block arguments: the coordinate (index), the iterator (absent over a range), then one per init with its type.
    2. Results and yielded values have the types of the inits.
  }];
  let arguments = (ins Tulle_SpaceOrRange:$space, Variadic<AnyType>:$inits,
                       Tulle_LoopAttr:$loop,
                       UnitAttr:$each);
  let results = (outs Variadic<AnyType>:$results);
  let extraClassDeclaration = [{
    LoopKind getKind() { return getLoop().getKind(); }
    /// The tensor whose stored entries estimate the work of a loop over a range: its first, dense level is
    /// located at the loop's coordinate, and its second level is iterated below. Null without one.
    ::mlir::Value getWorkEstimate();
  }];
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tulle_CoiterateOp : Tulle_Op<"coiterate", [AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects, AutomaticAllocationScope,
                                              DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "A loop over a set expression of several spaces of the same coordinate";
  let description = [{
    ```mlir
    %r = tulle.coiterate %i in "a | b" (%sa, %sb : !tulle.space<#S, 0>, !tulle.space<#S, 0>)
         iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i> strategy = auto
      case "a & b" (%ia, %ib) { … tulle.yield %n : f64 }
      case "a" (%ia) { … }
      case "b" (%ib) { … }
    ```
    The case of the coordinates that no space has is `case "none"`.

    `strategy` says what loop this becomes: `merge` visits the smallest coordinate among the spaces and advances those that have it;
    `gallop` (intersections) lets the spaces that are behind leap by doubling steps; `blocks` (intersections of two) compares
    vectors of coordinates, and words of bitmaps; `auto` merges, but
    an innermost intersection of two compares blocks, or gallops where their lengths turn out to differ.

    Each coordinate of the set is visited once, in ascending order, by the region of its minterm: the one that
    names exactly the spaces that have the coordinate.

    A set of many spaces has many cases, and the cases of loops in each other multiply. With presence flags there is one region
    instead, whatever spaces have the coordinate: next to an iterator it takes a flag for each space, whether the space has
    the coordinate; where it has not, the iterator is none of an entry. The loop is always an n-way merge:

    ```mlir
    %r = tulle.coiterate %i in "a | b" (%sa, %sb : !tulle.space<#S, 0>, !tulle.space<#S, 0>)
         iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i>
      flags (%ia if %pa, %ib if %pb) { … tulle.yield %n : f64 }
    ```

    Constraints:
    1. There is at least one space; all levels are ordered.
    2. `cases` lists distinct minterms (bit k: space k has the coordinate), one region each, and they are exactly the
       minterms of `set`; with `flags` there are none, and one region.
    3. A range is given when the set holds minterm 0 (coordinates no space has); coordinates are then those of the range.
    4. Block arguments of a region: the coordinate, the iterators of its minterm's spaces in order, one per init. With `flags`:
       the coordinate, an iterator of each space, a flag (i1) of each, one per init.
    5. Results and yielded values have the types of the inits.
  }];
  let arguments = (ins StrAttr:$set, DenseI64ArrayAttr:$cases, Variadic<Tulle_SpaceType>:$spaces,
                       Optional<Tulle_RangeType>:$range, Variadic<AnyType>:$inits,
                       Tulle_LoopAttr:$loop,
                       DefaultValuedAttr<Tulle_StrategyAttr, "::tulle::dialect::Strategy::Auto">:$strategy,
                       UnitAttr:$flags);
  let results = (outs Variadic<AnyType>:$results);
  let extraClassDeclaration = [{
    LoopKind getKind() { return getLoop().getKind(); }
    /// With flags: whether the space has the coordinate.
    ::mlir::BlockArgument getFlag(unsigned space) {
      return getCaseRegions()[0].getArgument(1 + unsigned(getSpaces().size()) + space);
    }
  }];
  let regions = (region VariadicRegion<SizedRegion<1>>:$caseRegions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tulle_YieldOp : Tulle_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["IterateOp", "CoiterateOp", "ParallelOp", "IndexMapOp"]>]> {
  let summary = "Ends a loop body, or a parallel region, with the values carried on, and an index map with coordinates";
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}
