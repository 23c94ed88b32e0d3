// The passes of stage 3: what builds tensors, buffers and loops.
#ifndef TULLE_LOWER_PASSES
#define TULLE_LOWER_PASSES
include "passes/TullePass.td"

//===--- Stage 3: algorithms that build tensors, each lowered alone ---===//

class LowerAlgorithm<string argument, string verb, string text>
    : ModulePass<argument, tulle # arith # math # memref # scf # func # complex # llvm # vector, verb, text>;

def LowerCollect : LowerAlgorithm<"tulle-lower-collect", "Lower tulle.collect to loops that write records", [{
  Each entry is stored behind the one before. With `parallel`, each thread counts the entries of a chunk, a `tulle.scan` of the counts says
  where the chunks begin, and each thread stores its own.
}]>;

def LowerSort : LowerAlgorithm<"tulle-lower-sort", "Lower tulle.sort to passes of histogram, scan and scatter", [{
  For each level of the key, from the innermost, the range of its coordinates is found, and for each digit of up to 11 bits
  `tulle.histogram`, `tulle.scan` and `tulle.scatter_entries` move the records to the other buffer.
}]>;

def LowerAppend : LowerAlgorithm<"tulle-lower-append", "Lower tulle.append to loops that append entries to levels", [{
  Memory is allocated for the number of entries, or, as `plan` says, for what a first loop over them counts. A loop that inserts an entry for each position of a
  segment becomes a parallel one, whose entries go where their positions say. Several threads append
  chunks of the outermost loop to staging buffers, which move to the result behind those of the chunks before (`tulle.chained_scan`).
}]>;

def LowerAppendBlocks : LowerAlgorithm<"tulle-lower-append-blocks",
    "Lower tulle.append_blocks to loops that append a block and accumulate its values", [{
  Before the loops that make a block, if they have an iteration, its coordinate and as many zeros are appended.
}]>;

def LowerWorkspace : LowerAlgorithm<"tulle-lower-workspace",
    "Lower tulle.workspace to loops that accumulate fibers in an array and append them", [{
  Each thread has an array of values and a set of coordinates. Where a fiber ends, the set is visited in order, its entries
  appended, and both are emptied. Where entries may meet at a coordinate, the loops have two versions, of which a sample of chunks that is counted
  chooses: a set of bits, or, from six entries a coordinate on, of bytes, which are stored without being read, so that entries next to
  each other do not wait for each other. A level that is large against the number of entries leads to `tulle.sort`.
}]>;

def LowerAccumulate : LowerAlgorithm<"tulle-lower-accumulate", "Lower tulle.accumulate to loops that list the entries of a row", [{
  The array and the bit set are workspaces that come back filled (`tulle.filled_buffer`). The hash table has twice as many slots as
  the row has inserts, which a first loop counts, a power of two; probes are linear. Each task keeps its memory from row to row, as
  large as the largest so far. Entries that come once each and in order are listed alone.
}]>;

def LowerScatterLevels : LowerAlgorithm<"tulle-lower-scatter-levels", "Lower tulle.scatter_levels to loops that query the entries and loops that store them", [{
  Levels are queried together as far as they do not depend on each other; each then says how many positions it has. Entries far
  from each other are partitioned by ranges of parents first, which a sample of the stream decides.
}]>;

def LowerBuildLevels : LowerAlgorithm<"tulle-lower-build-levels", "Lower tulle.build_levels to traversals of the sorted entries", [{
  A level that needs an attribute query takes one traversal for it; its positions take another, and storing the values the last.
}]>;

def LowerSortSegments : LowerAlgorithm<"tulle-lower-sort-segments", "Lower tulle.sort_segments to counting and merge sorts", [{
  Runs of 32 coordinates are sorted by counting, eight at a time, those that are less; longer segments are merged from these.
}]>;

def LowerUnique : LowerAlgorithm<"tulle-lower-unique", "Lower tulle.unique to a loop that combines and moves entries", [{
  An entry whose coordinate is that of the entry before is combined with it; others move to the end of what is left.
}]>;

def LowerHistogram : LowerAlgorithm<"tulle-lower-histogram", "Lower tulle.histogram to loops that clear and count", [{
  One loop clears the buckets, and one adds 1 to the bucket of each entry.
}]>;

def LowerScan : LowerAlgorithm<"tulle-lower-scan", "Lower tulle.scan to a loop that carries the sum", [{
  With `rows`, to a loop over columns around one over rows.
}]>;

def LowerScatterEntries : LowerAlgorithm<"tulle-lower-scatter-entries", "Lower tulle.scatter_entries to a loop that moves records", [{
  The loop copies the words of each record to the next position of its bucket.
}]>;

def LowerChainedScan : LowerAlgorithm<"tulle-lower-chained-scan", "Lower tulle.chained_scan to a call of the runtime", [{
  The runtime waits for the chunks before, and knows what an error of another thread ends.
}]>;

def InlineEntries : LowerAlgorithm<"tulle-inline-entries", "Inline tulle.for_each_entry as a copy of the loops of its entries", [{
  The body takes the place of each `tulle.insert`. A body that does not use the value leaves out what only values need. Of a chunk,
  the outermost loop is restricted to that.
}]>;

def IndexOperands : FunctionPass<"tulle-index-operands", tulle # arith # memref # scf,
    "Index sparse operands of co-iterations by position tables, or by addresses", [{
  A co-iteration inside a loop meets some of its spaces in every iteration of that loop: the row of a mask, for every row of
  the second factor in a product. Where all but one are such, and nothing is visited without that one, the others are written to
  tables before the loop (`tulle.position_table`): what is left is an iteration over the one space, which looks its coordinates up
  (`tulle.lookup`). Chosen when the code runs: a level with far more coordinates than entries has no table, and in a row that is much
  longer than the others of an intersection these are searched for. Levels whose coordinates are at addresses (ragged, banded, bitmap) need
  no table: they are searched (`tulle.search`), in any loop.
}]>;

def DeferChecks : FunctionPass<"tulle-defer-checks", tulle, "Find integers that may be checked where loops read them", [{
  `tulle.bounded_indices` with `error` says `deferred` where innermost loops read all integers of a vector, each at its own coordinate, and what
  they change is new, or they read nothing of it. Where a loop adds to what the caller has, all integers are checked before it, so that an error
  leaves that as it was.
}]>;

def CheckInBlocks : FunctionPass<"tulle-check-in-blocks", tulle # arith,
    "Check integers that give coordinates in the loops that read them", [{
  A loop that reads integers whose check is deferred becomes a loop over blocks of as many coordinates, in which these integers are checked
  (`tulle.bounded_indices … over`) and then read, from the cache, and the same of the coordinates that are left. The integers come from memory
  once, and each thread checks its own.
}]>;

//===--- Stage 3: buffers and loops ---===//

def InsertCopies : FunctionPass<"tulle-insert-copies", tulle # arith # memref # scf,
    "Copy tensors whose values are read after a store has replaced them in place", [{
  Until here tensors are values, and any pass may move, merge and drop ops that have no memory effects. From here on a
  store writes to the buffer of its tensor. Where a use of the tensor may come after that, in some execution, one of the two
  gets a buffer of its own: the use, or the store if its result does not reach the end of the function. A remark says so.

  ```mlir
  %n = tulle.store %v, %y[…]
  %old = tulle.load %y[…]      // of a copy of %y that is made before the store
  ```
}]>;

def Lower : ModulePass<"tulle-lower", tulle # arith # memref # scf # func # complex # math # vector # x86vector,
    "Lower tensors to their buffers, and loops over coordinate sets to scf loops", [{
  Stage 2 to stage 3. Every tensor argument becomes one `memref<?xT>` for each field of its layout, then one `index`
  for each dimension; results are written in place, but a tensor the function made (`tulle.storage`) is returned as its
  buffers. Stores are in place: a function where a tensor's values are read after that is refused (`tulle-insert-copies`
  mends it). How a level is iterated, located or
  searched comes from its level format. Every `scf.for` says what it is by `tulle.loop`.
}]>;

def LowerLoops : FunctionPass<"tulle-lower-loops", tulle # arith # scf,
    "Lower some loops over coordinate sets to loops over positions, and leave the others", [{
  A loop over one space becomes a counted loop over its positions, one over a range or a level that has every coordinate counts these. What
  is below it stays as it is, on the part of each tensor that is below the loop's iterator (`tulle.at`), so that the loops of a nest are
  lowered one by one in any order; `tulle-lower` does the rest. No pass of the pipeline: what the loops of tulle.iterate tell later passes
  about prefetch is lost.

  ```mlir
  tulle.iterate %j, %it in %s : !tulle.space<#CSR, 1> loop = <parallel, index = j> { … }
  ```
  becomes
  ```mlir
  %begin, %end = tulle.bounds %s : !tulle.space<#CSR, 1>
  scf.for %p = %begin to %end step %c1 {
    %it, %j, %entry = tulle.at %s[%p] : !tulle.space<#CSR, 1>
    …
  } {tulle.loop = #tulle.loop<parallel, index = j>}
  ```
  Where a level repeats coordinates, an scf.while goes from the first entry of one to that of the next (`tulle.next`), with the entries
  between as the iterator. A loop over a set of several spaces becomes a merge, whatever its strategy: an scf.while that carries a
  number in each space, whose body visits the smallest coordinate there by the case of those that have it, an scf.for where the set has
  coordinates that are in none.

  ```mlir
  tulle.coiterate %j in "a & b" (%sa, %sb : !tulle.space<#CSR, 1>, !tulle.space<#CSR, 1>) loop = <parallel, index = j> … 
  ```
  becomes, but for the bounds and the condition,
  ```mlir
  scf.while (%pa = %a_begin, %pb = %b_begin) : (index, index) -> (index, index) { … } do {
  ^bb0(%pa: index, %pb: index):
    %ita, %ja, %0 = tulle.at %sa[%pa] : !tulle.space<#CSR, 1>
    %itb, %jb, %1 = tulle.at %sb[%pb] : !tulle.space<#CSR, 1>
    %j = arith.minui %ja, %jb : index
    %a = arith.cmpi eq, %ja, %j : index
    %b = arith.cmpi eq, %jb, %j : index
    %next_a = … // %pa + 1 if %a
    %both = arith.andi %a, %b : i1
    scf.if %both { … }
    scf.yield %next_a, %next_b : index, index
  }
  ```
}]> {
  let options = [ListOption<"loops", "loops", "std::string", "Indices of the loops: i, or a digit i/4; all loops without any">,
                 Option<"sample", "sample", "uint64_t", "0", "Loops drawn by this number instead, for tests">];
}

def ExpandSegments : FunctionPass<"tulle-expand-segments", arith # memref, "Expand bounds of segments to loads of positions", [{
  Runs behind the vectorizer, the last pass that queries which segment a loop iterates over.

  ```mlir
  %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
  ```
  becomes
  ```mlir
  %0 = memref.load %pos[%i] : memref<?xi32>
  %begin = arith.index_castui %0 : i32 to index
  %1 = arith.addi %i, %c1 overflow<nsw, nuw> : index
  %2 = memref.load %pos[%1] : memref<?xi32>
  %end = arith.index_castui %2 : i32 to index
  ```
}]>;

def CoalesceSegments : FunctionPass<"tulle-coalesce-segments", tulle # arith # scf,
    "Coalesce a loop over segments with the loop inside it", [{
  `for i: for k in tulle.segment positions[i]: body(k)`, where nothing in the body depends on i, becomes a loop over k from
  the begin of the first segment to the end of the last one, in the same order. The positions are an argument that nobody writes.
}]>;

def NormalizeLoops : FunctionPass<"tulle-normalize-loops", arith # scf, "Count the coordinates of consecutive levels from 0", [{
  A loop whose body subtracts its lower bound from its index (the coordinates below a parent of a ragged or banded level) counts from 0. A loop
  from 0 that does nothing where its index is not below a bound that is known before it (the coordinates that another level has, too)
  ends there. What the loop updates is then seen to be the same for all iterations of a loop around. A loop, or a nest, that changes
  nothing where a condition does not hold that is known before it (`where A(i,j) & (x(i) > 0)`) has no iterations then. A value that a loop carries only to add
  the same to it in each iteration (the entries of a row, by a maximum that has to know whether all are stored) is computed behind it.
}]>;

def HoistInvariants : FunctionPass<"tulle-hoist-invariants", scf, "Hoist loop-invariant code, out of branches as well", [{
  Upstream's `loop-invariant-code-motion`, and more: an operation in a branch that depends on nothing in the loop around it, has no effect
  and can be executed anyway, moves before the loop. (Upstream moves nothing out of branches.)
}]>;

def ViewSegments : FunctionPass<"tulle-view-segments", arith # memref, "Read segments of rows from an offset on in a view of the positions", [{
  `tulle.segment %pos[%i + %offset]` in a loop over `%i` (rows of a slice, or of `A(i+3,j)`) becomes `tulle.segment %rows[%i]`, where `%rows` is a
  view of the positions from `%offset` on, made before the loop: passes see a loop over consecutive segments.
}]>;

def DistributeFunctions : FunctionPass<"tulle-distribute-functions", arith # scf # memref, "Run functions of short rows over all entries of a block", [{
  In a loop over blocks, `for i: for p in segment(i): C[p] = exp(A[p] - m[i])` becomes `for i: for p in segment(i): C[p] = A[p] - m[i]` and
  `for i: for p in segment(i): C[p] = exp(C[p])`, which `tulle-coalesce-segments` makes one loop over all positions: rows are shorter
  than vectors as a rule. So it is where the row is needed for the function's operand alone, whatever other loops of the row compute for
  it; C is in the cache meanwhile.
}]>;

def HoistAllocations : FunctionPass<"tulle-hoist-allocations", memref, "Hoist allocations out of loops", [{
  A `memref.alloc` with a `memref.dealloc` in its block, or a `tulle.filled_buffer` that is given back there, moves, together with it, out of all loops that the size does not depend on. A
  parallel region is not left: each thread has memory of its own. (Upstream's `buffer-loop-hoisting` runs before deallocations
  are inserted: it moves the allocation alone, and leaves a `memref.dealloc` in the loop that frees it in the first iteration.)
}]>;

#endif // TULLE_LOWER_PASSES
