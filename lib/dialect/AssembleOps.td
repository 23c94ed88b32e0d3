// Stage 2: tensors that come into being.

def Tulle_Combine : Tulle_Enum<"Combine", "what becomes of several values at one coordinate",
    ["Add", "Mul", "Min", "Max", "And", "Or", "Xor"]>;
def Tulle_CombineAttr : EnumAttr<Tulle_Dialect, Tulle_Combine, "combine">;

def Tulle_Plan : Tulle_Enum<"AssemblyPlan", "how the memory of a new tensor is sized", ["Auto", "Count", "Bound", "Grow"]>;
def Tulle_PlanAttr : EnumAttr<Tulle_Dialect, Tulle_Plan, "plan">;

def Tulle_AssemblyStrategy : Tulle_Enum<"AssemblyStrategy", "the algorithm that builds a new tensor",
    ["AppendBlocks", "Append", "Workspace", "Scatter", "RadixSort", "LevelByLevel", "Bitmap", "Hashed"],
    ["append_blocks", "append", "workspace", "scatter", "radix_sort", "level_by_level", "bitmap", "hashed"]>;
def Tulle_AssemblyStrategyAttr : EnumAttr<Tulle_Dialect, Tulle_AssemblyStrategy, "assembly">;

def Tulle_AssembleOp : Tulle_Op<"assemble", [AttrSizedOperandSegments, NoTerminator, SingleBlock, RecursiveMemoryEffects, AutomaticAllocationScope]> {
  let summary = "A new tensor that holds the entries its region inserts";
  let description = [{
    ```mlir
    %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
      tulle.iterate …  {
        tulle.insert %v at (%i, %j) : f64
      }
    } : tensor<?x?xf64, #DIA>
    ```
    The region is a description as much as a program: assembly runs copies of its loops, to count first and to store then, so all
    its effects are its inserts.

    Facts about the stream of entries, which whoever writes the loops knows:
    - `order`: expressions of the dimensions' coordinates by which the entries arrive in ascending lexicographic order. Without
      results, or absent: they arrive in any order.
    - `unique`: no coordinates are inserted twice. Otherwise values at equal coordinates are combined by `combine`.
    - `bound`: at most this many inserts run.
    - `entries`: at most this many coordinates are inserted at, however often.

    With `share`, buffers of the tensor that the entries come from may become the new tensor's, where both store the same
    (tulle.convert).

    `strategy` names the algorithm that builds the tensor; `tulle-choose-assembly` sets it and verifies one that is set:
    - `append`: entries arrive in storage order and go to the ends of the levels.
    - `append_blocks`: the same for blocks of values, each of which one iteration of a loop accumulates.
    - `workspace`: fibers arrive in order; a dense workspace accumulates each, and its entries are appended.
    - `scatter`: attribute queries (histograms, prefix sums) give each entry's position, and a second run of the loops stores it.
    - `radix_sort`: an LSD radix sort by level puts a list of the entries in storage order, and they are appended.
    - `level_by_level`: the sorted list is traversed once or twice for each level, which gives all entries their positions there.
    - `bitmap`: of a row that lives in one iteration of a loop: a dense array accumulates it, and a bit set has its coordinates.
    - `hashed`: of such a row: a hash table leads from a coordinate to its entry, and the entries stand as they came.

    Constraints:
    1. One size for each dimension; static sizes agree with the type.
    2. `order` has one dimension for each of the tensor's, and no symbols.
    3. The region has no arguments, and inserts of nested tulle.assemble are not its own.
    4. The encoding has no `explicitVal`.
  }];
  let arguments = (ins Variadic<Index>:$sizes, Optional<Index>:$bound, Optional<Index>:$entries, OptionalAttr<AffineMapAttr>:$order, UnitAttr:$unique,
                       DefaultValuedAttr<Tulle_CombineAttr, "::tulle::dialect::Combine::Add">:$combine,
                       DefaultValuedAttr<Tulle_PlanAttr, "::tulle::dialect::AssemblyPlan::Auto">:$plan, OptionalAttr<Tulle_AssemblyStrategyAttr>:$strategy, UnitAttr:$share);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $sizes `)` (`bound` $bound^)? (`entries` $entries^)? attr-dict-with-keyword $body `:` type($result)";
  let hasVerifier = 1;
}

def Tulle_EntriesType : Tulle_Type<"Entries", "entries"> {
  let summary = "The entries that loops insert: coordinates of so many dimensions, and a value";
  let parameters = (ins "unsigned":$rank, "::mlir::Type":$element);
  let assemblyFormat = "`<` $rank `,` $element `>`";
}

def Tulle_EntriesOp : Tulle_Op<"entries", [Pure, AttrSizedOperandSegments, NoTerminator, SingleBlock]> {
  let summary = "The entries that the loops of its region insert, wherever they are needed";
  let description = [{
    ```mlir
    %entries = tulle.entries bound %n attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
      tulle.iterate …  {
        tulle.insert %v at (%i, %j) : f64
      }
    } : !tulle.entries<2, f64>
    ```
    Nothing runs here: each op that has the entries as operand runs copies of the loops. Chunks of the outermost loop begin at
    coordinates that are multiples of `aligned`. At most `bound` inserts run, at at most `distinct` coordinates; they arrive in
    `order`, and `unique` says that none repeats, as for tulle.assemble.

    Constraints:
    1. The region has no arguments, and all its effects are its inserts.
    2. The alignment is positive.
  }];
  let arguments = (ins Optional<Index>:$bound, Optional<Index>:$distinct, OptionalAttr<I64Attr>:$aligned,
                       OptionalAttr<AffineMapAttr>:$order, UnitAttr:$unique);
  let results = (outs Tulle_EntriesType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`bound` $bound^)? (`distinct` $distinct^)? (`aligned` $aligned^)? attr-dict-with-keyword $body `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tulle_ForEachEntryOp : Tulle_Op<"for_each_entry", [AttrSizedOperandSegments, NoTerminator, SingleBlock,
                                                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Runs its region for each entry, in the order in which the loops insert them";
  let description = [{
    ```mlir
    tulle.for_each_entry %entries chunk %k of %n {
    ^bb0(%i: index, %j: index, %value: f64):
      …
    } : !tulle.entries<2, f64>
    ```
    With `chunk`, for the entries of that chunk of the outermost loop, as tulle.partition splits it. What only the value needs is
    not computed where the region does not use it.

    Constraints:
    1. The entries are the result of a tulle.entries.
    2. Block arguments: a coordinate (index) for each dimension, then the value.
    3. A chunk has its number and the number of chunks.
  }];
  let arguments = (ins Tulle_EntriesType:$entries, Optional<Index>:$chunk, Optional<Index>:$chunks);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$entries (`chunk` $chunk^)? (`of` $chunks^)? $body attr-dict `:` qualified(type($entries))";
  let hasVerifier = 1;
}

def Tulle_InsertOp : Tulle_Op<"insert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Puts an entry into the tensor that the enclosing tulle.assemble makes, or into the enclosing tulle.entries";
  let description = [{
    Constraints:
    1. There is an enclosing tulle.assemble or tulle.entries; the coordinates are those of its dimensions.
    2. The value has its element type.
  }];
  let arguments = (ins AnyType:$value, Variadic<Index>:$coordinates);
  let assemblyFormat = "$value `at` `(` $coordinates `)` attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tulle_StorageOp : Tulle_Op<"storage", [AttrSizedOperandSegments]> {
  let summary = "The tensor that buffers and sizes make up";
  let description = [{
    The tensor is what the buffers hold where the op stands: it reads them.

    Constraints:
    1. `buffers` are the fields of format::layout of the tensor's encoding, with their types.
    2. One size for each dimension.
  }];
  let arguments = (ins Arg<Variadic<AnyMemRef>, "", [MemRead]>:$buffers, Variadic<Index>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`(` $buffers `)` `sizes` `(` $sizes `)` attr-dict `:` type($buffers) `->` type($result)";
  let hasVerifier = 1;
}
