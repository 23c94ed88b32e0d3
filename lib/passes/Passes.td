// Every pass of Tulle's stages. A pass's example is a lit test; its file, flag and test share one stem.
#ifndef TULLE_PASSES
#define TULLE_PASSES
include "passes/TullePass.td"

//===--- Stage 1: from upstream's spelling ---===//

def ImportSparseTensor : ModulePass<"tulle-import-sparse-tensor", tulle # linalg # tensor # arith # complex,
    "Import linalg on tensors with #sparse_tensor.encoding", [{
  Encodings of the upstream sparse_tensor dialect become `#tulle.encoding`, `sparse_tensor.convert` becomes `tulle.convert`, `sparse_tensor.concatenate` and `tensor.concat` of
  a sparse result become `tulle.concat`, `tensor.pad` with what is not stored one of the source and parts that store nothing, `tensor.collapse_shape` and `tensor.expand_shape` become `tulle.reshape`, before or behind which stands a `tulle.convert` where the types ask for other
  levels than a view has, `tensor.gather` and `tensor.scatter` become `tulle.gather` and `tulle.scatter`, and
  named linalg operations become linalg.generic. A dense tensor that a function makes (`tensor.empty`,
  `bufferization.alloc_tensor`) becomes its last argument, because results are written in place; a sparse one is `tensor.empty`,
  and the op that stores it makes it, in a pattern of its own.

  In the body of a linalg.generic, `sparse_tensor.unary`, `binary`, `select` and `reduce` become selects on `tulle.stored`: where upstream computes no
  value, the result keeps what it has, and a new one stores nothing. A reduction starts with its identity. A sparse argument that is written in
  place becomes an input, and a new last argument of the same name has its pattern (`tulle.like`); what is stored elsewhere is left out, as upstream does.
}]> {
  let options = [
    Option<"reassociate", "reassociate", "bool", /*default=*/"false", "Floating-point operations may be reassociated and contracted, as those of the notation">
  ];
}

def ExportSparseTensor : ModulePass<"tulle-export-sparse-tensor", ["::mlir::sparse_tensor::SparseTensorDialect"] # linalg # tensor # arith,
    "Export stage 1 in the spelling of the sparse_tensor dialect", [{
  The inverse of `tulle-import-sparse-tensor`, for tools of upstream: `#tulle.encoding` becomes `#sparse_tensor.encoding`, `tulle.convert`, `tulle.fill`, `tulle.concat`,
  `tulle.reshape`, `tulle.gather` and `tulle.scatter` become ops of the sparse_tensor, linalg and tensor dialects, selects on `tulle.stored` become
  `sparse_tensor.unary`, `binary`, `select` and `reduce`, and a result with the pattern of an argument, which it replaces, is that argument. Importing the result gives
  the module again. Attributes of Tulle's that only say how to compile are left out.

  A format, op or attribute that upstream cannot say is an error.
}]>;

//===--- Stages 1 and 2: sets of coordinates ---===//

def ExpandGather : FunctionPass<"tulle-expand-gather", tulle # linalg # tensor # arith,
    "Expand gathers and scatters of tensors to products with what their integers select", [{
  `tulle.gather` and `tulle.scatter` of tensors in any format become linalg.generic over `tulle.one_hot`. Integers are checked before the loops, or made
  coordinates (`tulle.bounded_indices`, `tulle.distinct_indices`). Indices of type index, which have to be an argument of the function, become i64.
}]>;

def ExpandIndexMap : FunctionPass<"tulle-expand-index-map", tensor # arith, "Expand index maps to tensors of coordinates", [{
  `tulle.index_map` that no fold has used becomes tensor.generate, which evaluates the region for each coordinate that it stores.
}]>;

def LowerGather : FunctionPass<"tulle-lower-gather", scf # memref # arith # ["::mlir::cf::ControlFlowDialect"],
    "Lower gathers and scatters of buffers to loops", [{
  `tulle.gather` and `tulle.scatter` of memrefs, as one-shot-bufferize leaves them, become a loop over the places of the indices, around loops over the elements of a
  slice; a view becomes a memref.subview for each place. Where `outside` is an error, `cf.assert` says of which dimension an integer is no coordinate, and
  with `unique` that coordinates are given twice: each has a flag.
}]>;

def ExpandConvert : FunctionPass<"tulle-expand-convert", tulle # arith # scf # tensor # complex,
    "Expand a returned conversion to loops over its source that insert", [{
  `tulle.convert` whose result the function returns becomes `tulle.assemble` of loops over the source in storage order, level by
  level. What is stored stays stored, zeros and block padding included, but of a source that is all dense only what
  differs from the target's fill. Other conversions are the caller's (`tulle-hoist-convert`).
}]>;

def ExpandConcat : FunctionPass<"tulle-expand-concat", tulle # arith # scf # tensor,
    "Expand a concatenation to loops over its parts that insert", [{
  `tulle.concat` becomes `tulle.assemble` of loops over each part in storage order, one part behind the other, with its place added to coordinates.
  Dense levels that all parts begin with, of dimensions that they have in common, are one loop around these: the rows of matrices that stand side by
  side are entered one after the other, so that what arrives is in the order of the result.
}]>;

def ResolveOrder : FunctionPass<"tulle-resolve-order", tulle, "Convert operands whose level order no common loop order allows", [{
  For every linalg.generic the loop order is planned (iteration/Plan.h). The operand that does not fit is read through
  a `tulle.convert` to the cheapest encoding that does, and a remark says so. Of a `tensor.extract_slice`, the argument is converted, whose
  slice the caller has. After this pass `tulle-sparsify` finds a loop order for every statement.

  Where coordinates without an entry meet the result by a constant that is as good once as often (`max=`), or add to it what is the same for all
  that is reduced (`+= (A(i,j) - m(i)) ** 2`), the loops over a dense result stand outside of those that are reduced, where one operand is sparse,
  by a conversion of it or by `reorder` of the `#tulle.schedule`: then gaps are counted, not visited.
}]>;

def TileReaders : ModulePass<"tulle-tile-readers", tulle, "Tile loops whose rows share what a reduction reads, and compute an intermediate there", [{
  `T(r,i,l) = A(r,i,j) * X(j,l); Y(i,k) = T(r,i,l) * W(r,l,k)`: each i of Y reads all of W. Where T is known to be larger than caches, and only Y
  reads it, the `#tulle.schedule` of the two statements becomes that of `Y: split(i, i_tile, i_row, 32); reorder(i_tile, r, i_row, l, k);
  compute_at(T, r)`: the rows of a tile share what W has of one r, and T needs memory for that, if it can be computed there (`if_possible`). All
  loops of Y, and the two that T shares with it, are over all coordinates; numbers of 16 bits are summed in wider rows, and have no tiles. `tulle.splits` of the function repeats the split. Statements of which a schedule says something stay as they are.
}]>;

def AlignLoops : ModulePass<"tulle-align-loops", tulle, "Begin loops that make a dense tensor as those of its reader begin", [{
  `T(r,i,l) = A(r,i,j) * X(j,l); Y(i,k) = T(r,i,l) * W(r,l,k)`: the loops of Y begin with i, those of T with r, as A is stored. Where the loops
  that would be left are over all coordinates, of dense levels, those of T begin with i, too (`reorder` of its `#tulle.schedule`):
  `tulle-fuse-loops` makes them one, and T needs memory for a part of its i. What a schedule orders stays.
}]>;

def ResolveWidths : ModulePass<"tulle-resolve-widths", tulle, "Name the widths of positions and coordinates that encodings leave open", [{
  An encoding whose `posWidth` or `crdWidth` is 0 gets 32 bits, or 64 where a tensor of it needs them: its largest coordinate, or the most
  entries that its sizes allow, do not fit 31 bits, or a size is not known. The engine, which sees the data, names the widths before stage 1
  by the same rule; where no type in the module says a size, and where this pass does not run, 0 is 64 bits.
}]>;

def ResolveSlices : FunctionPass<"tulle-resolve-slices", tulle # linalg # arith # tensor,
    "Let statements read slices in the tensors that they were cut from", [{
  An argument whose encoding has slices, each of a dimension that one dense level stores, or of stride 1 and one ordered compressed level,
  becomes the tensor it was cut from, of which statements read a `tensor.extract_slice`: nothing is copied, and the argument's attribute
  `tulle.whole` records the encoding the caller has. A `?` of the encoding is an argument of type index behind the tensor, whose attribute
  `tulle.slice` says which number it is. `tulle-sparsify` visits the part of a compressed level (`tulle.restrict`, `tulle.shift`),
  whose ends are searched below each parent. Other slices are read through a `tulle.convert` to a format without slices, which the caller runs; a remark says so.
  A slice cannot be a result.
}]>;

def HoistConvert : FunctionPass<"tulle-hoist-convert", tulle, "Let the caller convert arguments", [{
  `tulle.convert` of an argument becomes an argument of the converted type; its attribute `tulle.source` records the
  encoding the caller has.
}]>;

def ExpandQuery : FunctionPass<"tulle-expand-query", tulle # linalg # arith, "Expand queries to statements on the pattern", [{
  `tulle.query` becomes a linalg.generic that reads no value: a reduction restricted by `tulle.stored`. What follows treats it as
  any statement; loops that only count become differences of positions (canonicalization of `tulle.iterate`).
}]>;

def Sparsify : FunctionPass<"tulle-sparsify", tulle # arith # scf # tensor # complex # memref,
    "Lower linalg.generic on tensors with encodings to loops over sets of coordinates", [{
  Each loop visits the coordinates where the statement's body changes the result, as its algebra says: products
  intersect, sums unite, `tulle.stored` restricts. Each case of a `tulle.coiterate` holds the body simplified for the
  operands that are present. Coordinates of a reduction that no operand has, and that all change the result in the same way, are counted: it
  meets a constant once (`max=`), a sum is a product with their number.
}]> {
  let options = [
    Option<"strategy", "strategy", "std::string", /*default=*/"\"auto\"", "How sets of coordinates are iterated: a name of the enum Strategy">
  ];
}

def FuseInit : FunctionPass<"tulle-fuse-init", tulle # arith # scf # memref, "Fuse the initialization of a dense result into the loop that updates it", [{
  `tulle.fill` of a result whose rows the iterations of one loop update, each its own row or block of rows, becomes a loop
  over them at the beginning of the iteration; of a loop over tiles of rows (`split`), at that of the loop inside.

  Of a result with a given pattern whose innermost levels are full (`BCSR`, edge features), a nest that assigns all elements within the dimensions
  needs no start value but where a block reaches beyond them: such blocks get it in the loop over blocks.

  Where several loops, one after the other, update disjoint rows (`tulle.disjoint`), as those of joined statements may, each starts its
  own, and the rows that none of them visits are filled before. Of rows of one element, the start value is read instead of the tensor.
}]>;

def LinkStatements : ModulePass<"tulle-link-statements", tulle # arith, "Join the functions of consecutive statements", [{
  Consecutive statements become one function, each of which reads what those before it computed as SSA values, new sparse tensors
  (`tulle.assemble`) too. They do so as long as all run in the rounds of the same loops (`tulle.loops`), a tensor keeps its encoding, and what is
  written in place has a pattern that was there before the function began; what the caller has and a statement replaces is dense. The function returns
  what a later function reads, and what is no intermediate (`tulle.intermediate`): first the tensors that arguments became (`tulle.statement`), then those
  that are new. Dimensions of one size (`tulle.sizes`) and tensors of one pattern (`tulle.pattern`) are read from one argument. Where several tensors are
  new, `tulle_making` is told which one comes.
}]>;

def FuseLoops : FunctionPass<"tulle-fuse-loops", tulle # arith # memref, "Fuse a loop with a loop before it whose result it reads, or whose operand", [{
  Two loops over the same space become one where the second uses tensors that the first stores, and both touch these at the loop's own
  coordinate only: each iteration then needs nothing of a later one. Outermost loops must be of one kind, or reduce into values
  of which each task has a partial one. Loops inside of a fused loop follow. A load at the iterator of the store before it is the stored value.
  Outermost loops without loops inside that need nothing of each other are fused where both read a tensor at their own coordinate.

  Outermost loops that both have loops inside are fused so where a tensor disappears by it, and no inner loop would wait for a reduction of the
  same iteration: fibers are short, and iterations of separate loops overlap. Others become one loop over blocks of the space, which runs both
  loops over a block in turn, where their inner loops read the same tensor: what one stores is in the cache when the next reads it.
  ```mlir
  %r:2 = tulle.iterate %i_block in %blocks : !tulle.range iter_args(%m = %m0, %e = %e0) … {
    %rows = tulle.partition %all, %i_block of %count by %A : tensor<?x?xf64, #CSR> : !tulle.range
    %max = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %m) …
    %exp = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %e) …
    tulle.yield %max, %exp : …
  }
  ```

  Where a directive says so (`compute_at`), a loop over other coordinates that reads a dense tensor computes what an iteration reads: intervals of its
  dimensions, or of the number whose digits several are. The loops that make the tensor are restricted to these, and it has memory for one iteration.
  ```mlir
  %v = tulle.iterate %t in %tiles : !tulle.range iter_args(%acc = %v0) … loop = <parallel, index = l0, of = ["C", "v"]> {
    %tile = tulle.storage(%memory) sizes(%c5) : memref<?xf64> -> tensor<?xf64>
    %C = tulle.iterate %i in %rows : !tulle.range iter_args(%own = %tile) …
    %some = tulle.iterate %l in %own : !tulle.range iter_args(%to = %acc) …
    tulle.yield %some : …
  }
  ```
}]> {
  let options = [Option<"always", "always", "bool", /*default=*/"false", "Fuse whatever is legal, without blocks">];
}

def ContractTensors : FunctionPass<"tulle-contract-tensors", tulle # arith # memref, "Give a tensor that is used block by block memory for one block", [{
  A destination (`tulle.statement`) that a loop over blocks stores and reads at coordinates of the block only, and nothing needs
  afterwards, becomes a `tulle.empty` of each block. What its pattern was read for is read from another tensor of that pattern. Where the block is of
  a level below others of a dense tensor (`T(r,i,l)` in blocks of i), each block has a tensor of its own, with as many coordinates of that level. So has
  each iteration of a loop that is over no blocks, with one coordinate, of a dense tensor of more than one dimension: a row, in a loop over rows.
}]>;

def ContractAssemblies : FunctionPass<"tulle-contract-assemblies", tulle, "Assemble a row at a time what one loop reads", [{
  A new tensor whose place is a loop (`compute_at`) becomes a row in each iteration of that loop, where all that reads the tensor is at the
  iteration's coordinate. Both loops visit the same coordinates; the tensor's first level has all of them, and its last one those
  that are stored. The row is a `bitmap`, or `hashed`, as the statement's schedule says: entries of that have no order.

  ```mlir
  %w = tulle.assemble (%m, %n) … { tulle.iterate %i in %rows … { … tulle.insert %v at (%i, %k) } } : tensor<?x?xf64, #CSR>
  %D = tulle.iterate %i in %rows … { %row = tulle.space %w level(1) under %it … }
  ```
  becomes
  ```mlir
  %D = tulle.iterate %i in %rows … {
    %w = tulle.assemble (%n) attributes {strategy = bitmap} { … tulle.insert %v at (%k) } : tensor<?xf64, #row>
    %row = tulle.space %w level(0) …
  }
  ```
}]>;

def RemoveDeadStores : FunctionPass<"tulle-remove-dead-stores", tulle, "Remove stores into tensors that nobody reads", [{
  A tensor is needed where a load, a return or another op reads it or what continues it in place. Other stores go, and so do arguments
  with `tulle.statement` that are left without a use: those tensors do not exist at run time.
}]>;

def FactorReductions : FunctionPass<"tulle-factor-reductions", tulle # arith # scf # memref,
    "Give each iteration of a reduction a partial result", [{
  Of loops whose directives say so (`rfactor`). Values that the iterations share become tensors with an element for each; a
  dense result gets a copy for each. What loops behind combine, in order, starts from the identity of the operation; the loop's
  iterations are independent then, and threads may have them.

  ```mlir
  %s = tulle.iterate %t in %tiles : !tulle.range iter_args(%acc = %zero) -> (f64)
      loop = <reduction, index = j0, directives = <rfactor = "w">> { … }
  ```
  becomes
  ```mlir
  %w = tulle.storage(%memory) sizes(%n) : memref<?xf64> -> tensor<?xf64>
  %p = tulle.iterate %t in %tiles : !tulle.range iter_args(%to = %w) -> (tensor<?xf64>) loop = <parallel, index = j0> { … }
  %s = tulle.iterate %t in %all : !tulle.range iter_args(%acc = %zero) -> (f64) loop = <reduction, index = j0> { … }
  ```
}]>;

def Parallelize : FunctionPass<"tulle-parallelize", tulle # arith # scf # memref,
    "Partition outermost loops into tasks that threads run at the same time", [{
  - Iterations with disjoint stores are partitioned into chunks of about as many stored entries (`tulle.partition`), which a
    `tulle.parallel` runs; a fiber that is longer than a chunk is split, and its partial results are combined.
  - A reduction into values: each task makes a partial result, and these are combined.
  - A reduction into a tensor: the result is privatized, where copies are small against the work; else, where an integer of each iteration selects the
    row that it updates, a task has a range of these rows, and runs the iterations that select one; else an inner loop over a dimension of it is partitioned; else
    one thread runs the loop.
  - Loops that store to disjoint rows, of parts of an operand (`tulle.disjoint`), share one `tulle.parallel`: a task has a chunk of each.
  - `tulle.fill` fills the buffer in chunks.

  The same goes for minima, products and other operations that may be reassociated; sums of floats only where their flags say so.
}]> {
  let options = [Option<"deterministic", "deterministic", "bool", /*default=*/"false",
                        "Partial results do not depend on the number of threads">];
}

def CheckSchedule : FunctionPass<"tulle-check-schedule", [], "Refuse what a schedule says of a loop that is none any more", [{
  `tulle.scheduled` of a function lists what its schedule says of loops and no pass has done yet. Each of these has a loop that says so,
  else it is an error at its place in the text; at the end, nothing is left.
}]> {
  let options = [Option<"end", "end", "bool", /*default=*/"false", "All of it should be done">,
                 Option<"threads", "threads", "bool", /*default=*/"true", "A later pass divides loops among threads">];
}

def ChooseAssembly : ModulePass<"tulle-choose-assembly", tulle, "Choose the strategy that builds each new tensor", [{
  Every `tulle.assemble` gets the cheapest `strategy` that the order of its entries, its format and its loops allow, and a remark
  says which. A strategy that an op has already stays, and is an error where it does not fit:
  ```mlir
  tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> (i, j)>, strategy = #tulle<assembly append>, unique} { … }
  ```
}]>;

def ExpandAssembly : ModulePass<"tulle-expand-assembly", tulle # arith # memref # scf # func # complex # llvm # vector,
    "Expand tulle.assemble to the algorithm that its strategy names", [{
  The loops become `tulle.entries`; the ops of the strategy make buffers of these, and the tensor is `tulle.storage` of the buffers:
  ```mlir
  %entries = tulle.entries bound %n attributes {order = …, unique} { … } : !tulle.entries<2, f64>
  %buffers:3 = tulle.append %entries sizes(%m, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> …
  %C = tulle.storage(%buffers#0, %buffers#1, %buffers#2) sizes(%m, %n) : … -> tensor<?x?xf64, #CSR>
  ```
  Assemblies without a strategy are an error (`tulle-choose-assembly`), as are those whose strategy does not fit.
}]> {
  let options = [Option<"parallel", "parallel", "bool", /*default=*/"false", "Partition the work among threads">];
}

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

//===--- Stage 4: vectors ---===//

def PeelPartialTiles : FunctionPass<"tulle-peel-partial-tiles", arith # scf # llvm, "Peel partial tiles off loops over blocks", [{
  A nest of loops `0 to min(rest, size)` with small constant sizes becomes a branch: constant bounds where every tile is full, else
  the nest as it was.
  The bounds themselves say which loops are over tiles, so no attribute does.
}]>;

def VectorizeBlockRows : FunctionPass<"tulle-vectorize-block-rows", vector # arith # scf # llvm,
    "Vectorize reductions over rows of small blocks", [{
  `for p: for r in 0..R: y[f(r)] = y[f(r)] + sum over c in 0..C of …`, with small R and C (the BSR micro-kernel), becomes a loop over p that
  carries R vector accumulators, with a lane for each c, and one horizontal reduction of each at the end. Blocks with columns outside of the
  tensor are masked; a partial last row of blocks keeps its loops.

  Where the rows are independent, and no prefetch of the processor covers their stream (`prefetch_blocks` of `tulle.cpu`), two streams are
  interleaved at run time if the blocks are larger than the caches: iteration t is row t / 2 of the first half of the rows, or of the second.
}]>;

def PackOperands : FunctionPass<"tulle-pack-operands", arith # scf # memref,
    "Pack operands of products over a dense range into panels, and block the loops", [{
  `for i: for g: for k: C[i*n + k] = C[…] + … B[row(g)*m + k]`, where the range of g is the same for all i and row(g) is g, or a choice
  among a few rows from g times a constant on (2:4 formats), becomes loops over tiles of k and blocks of g outside of i. The rows of
  B that these need are packed into a panel as large as L1 first. Where B is small or rows are few, at run time, the loops stay as they were. Every
  element sees the same operations in the same order.
  No stage before can decide this: which row of B an iteration chooses is in the addresses, and the sizes are known at run time.
}]>;

def CacheBlock : FunctionPass<"tulle-cache-block", arith # scf # memref,
    "Block loops over selected rows of an operand for L1, and interchange", [{
  `for i: for q in segment(i): for p in segment(q): for k: C[i*n + k] = C[…] + … D[crd[q]*n + k]` reads most of D for every i where
  segments(i) select most of its rows (MTTKRP). The loop over q is split where crd[q] passes multiples of a block, and the chunks of some i run
  one after another, so that a block of D is loaded into L1 once for all of them. A table holds where each chunk begins, and
  the stored entries of the next chunk but one are prefetched, since the chunks of an i are far apart in time. Chosen at run time, by
  sizes. Every element sees the same operations in the same order.
  Blocks are split here, since only addresses say which loads the coordinates select; the loop over a chunk is marked
  `cache_resident` in its `tulle.loop`, which `tulle-register-tiles` reads.
}]>;

def VersionLoops : FunctionPass<"tulle-version-loops", arith # scf, "Version loops over rows that one vector holds", [{
  `for i: for p: for k < n: C[f(i, k)] = …`, where n does not depend on i, gets versions, for rows of as many elements as one tile has
  and for fewer than a vector, in which n is that constant, or a minimum with it, in bounds and addresses: the choice of tiles moves out of the loop over i.
  The elements of a vector depend on the widest element that the lowered body loads or stores, so this runs on buffers.
}]> {
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element">
  ];
}

def ExpandPowers : FunctionPass<"tulle-expand-powers", arith # scf # vector, "Expand integer powers into loops", [{
  Every `math.ipowi`, of numbers and of vectors, becomes a loop that squares the base and ends with the last bit of the exponents.
}]>;

def ExpandExp : FunctionPass<"tulle-expand-exp", arith, "Expand exponentials into polynomials", [{
  Every `math.exp` of f32 and f64 with `fastmath<contract>` becomes arithmetic, with an error below one unit in the last place
  for all inputs, infinities, nan and subnormal results included.
}]>;

def ExpandBf16 : FunctionPass<"tulle-expand-bf16", arith, "Expand rounding to bf16 into integer arithmetic", [{
  Every `arith.truncf` of f32 to bf16, of a scalar or a vector, becomes integer arithmetic: round half to even; subnormal numbers are kept,
  nan stays nan.
}]>;

def TileRows : FunctionPass<"tulle-tile-rows", vector # arith # scf # memref, "Tile several rows of a product for registers", [{
  `for i: for p: for k: C[f(i) + k] = g(C[f(i) + k], i, p, k)`, where rows are independent, the bounds of p and k do not depend on i, and some
  vector of an operand is the same for all i (a product of matrices, of blocks, of a row of blocks), gets a loop before it over groups of
  rows: vectors of several rows are loaded or start from their initialization, are updated over all p, and are stored. What does not
  depend on i is then loaded once for all of them. Blocks of rows run over a range of columns after the other, with what rows share in L1; what the
  next block reads in order is prefetched, and quotients and functions of (i, p) are computed once for a block. Of loops below a branch (`if (t[i] >= 0) for p: …`, `for r: if (t[i, r] >= 0) for p: …`,
  as of neighbors that some rows lack), the rows of a block that have them are packed into tiles for each r, unless all rows have all; a tile with fewer
  rows computes one of them several times. Every element sees the same operations in the same order. A loop over k behind the nest that alone uses the elements of C, in
  a buffer of the function's own, takes them from registers, as with `tulle-register-tiles`. Rows that are left, and all
  where the nest does not update what a loop before it initializes, at run time, stay with the loop as it was.
}]> {
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: the widest vector">
  ];
}

def TileReductions : FunctionPass<"tulle-tile-reductions", vector # arith # scf # memref # llvm, "Reduce several rows at a time", [{
  `for j: s = reduce over k of f(i, j, k); C[j] = s`, where the iterations over j are independent, the bounds of k do not depend on j, and some
  operand of the reduction is the same for all j (SDDMM, `A * B^T`), gets a loop before it over groups of j: each j of a group has a
  vector of partial results, what they share is loaded once, and their horizontal reductions are one (pairs of lanes of pairs of
  vectors). Factors that do not depend on k are multiplied with the sums. What is done with the sums is a loop over the group. A sum is in another order than a scalar one, as with `tulle-vectorize`, which is left with the j that are in no group. Rows that coordinates
  select are prefetched where they are remote.
}]> {
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: a cache line, or the widest vector">
  ];
}

def RegisterTiles : FunctionPass<"tulle-register-tiles", vector # arith # scf # memref # llvm, "Tile reduction nests for registers", [{
  `for p: for k: C[f(k)] = g(C[f(k)], …)`, where f does not depend on p, becomes a loop over tiles of k (several vectors, then
  a masked one) in which the elements are loaded once, updated over all p and stored once. Every element sees the same
  operations in the same order, so nothing is reassociated.
  - Updates may be conditional (padding), which makes masks, and f may be a load (the rows of a permutation); where masks take time
    (`masks` of `tulle.cpu`), tiles whose lanes are all active have an unmasked version.
  - A loop just before that initializes the same elements is fused: tiles start from the constant, and stores are non-temporal where the
    buffer is larger than caches. If a loop just behind it over the same k is all that reads them (`v[k] = h(C[k], x[k])`), and the buffer is
    the function's own, that loop's body follows each tile instead of its store, and the buffer is gone.
  - Where k is long and every p loads streams of its own (diagonals), a few iterations of p are jammed. Where the bounds of k depend on p,
    the tiles cover what these have in common.
  - Rows of an operand that coordinates select are prefetched where they are remote, or follow each other in memory.
  - Factors of a product that vary in an outer loop only are hoisted out of the sums of the loops inside, at every level, where sums may be
    reassociated (MTTKRP: `C[k] += v[p] * D[q, k] * E[crd[p], k]` for p in segment(q)); the innermost two loops are coalesced where segments
    are short.

  Tiles are chosen here and not as fields of `tulle.loop`: whether an iteration updates the same elements again follows from addresses,
  and the tiles' widths from the widest element of the lowered body.
}]> {
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element, 512 in tiles of long rows">,
    Option<"index32", "index32", "bool", /*default=*/"false", "Coordinates fit a signed 32-bit integer: gather with 32-bit indices">,
    Option<"factors", "factors", "bool", /*default=*/"true", "Hoist factors out of sums that may be reassociated">
  ];
}

def PipelineScatters : FunctionPass<"tulle-pipeline-scatters", llvm # arith # scf, "Pipeline loops with indirect stores", [{
  The index of such a store is computed from an element whose own index was loaded. Until it is known, later
  loads may depend on the store. The loop is unrolled, and a few iterations at a time do all loads of what no iteration changes first, then, in
  order, loads of what earlier iterations may have written (counters), then the stores, with all else that accesses
  their buffers. An `scf.if` without results whose condition is known before is a guard: iterations of which one is
  taken run in order. No load moves over a check for an error that may be about its index. Buffers made by
  the function, and its arguments, do not alias; loops over others stay as they are.
}]>;

def LoopHints : FunctionPass<"tulle-loop-hints", llvm # arith # memref, "Keep LLVM from vectorizing loops with indirect stores, and from unrolling short sums", [{
  LLVM would vectorize such a loop where the processor can scatter, or extract vectors of addresses. Either is slower than
  scalar stores. The loop gets an `llvm.loop_annotation` that says so, unless it has one already; a reduction inside
  of another loop, which may be over short segments, is not unrolled either, nor is a loop over a segment of any length that
  sums one or two vectors, nor the loops around it. A loop that only accumulates loads at its index at loaded indices does a few iterations at a time, with a software
  prefetch of these loads: those of a cache line where it has a constant number of iterations.
}]>;

def CountIterations : FunctionPass<"tulle-count-iterations", arith # scf, "Count iterations from 0 where a loop has a constant number of them", [{
  `scf.for %i = %lower to %lower + 64` (a block or a tile of what a dimension has) becomes `scf.for %k = 0 to 64`, with `%lower + %k` in the place
  of `%i`: LLVM then sees how often the loop runs, and needs neither a remainder nor a test before it.
}]>;

def StreamStores : FunctionPass<"tulle-stream-stores", vector # arith # scf # memref # llvm, "Write large results past the caches", [{
  A parallel loop that writes elements of results one behind the other (a copy, an element-wise statement), which nothing reads, gets a loop of
  vectors ahead of it, each a cache line or several, whose stores are non-temporal. It runs where, at run time, the buffers are larger than the caches
  and the lines of all of them begin in the same iteration; a few iterations before it go up to the first line. What is left is the loop's, as is
  all where that does not hold. A fence follows for other threads. Loops inside of others, but for those over a thread's chunks, stay as they are.
}]>;

def Unroll : FunctionPass<"tulle-unroll", scf # arith # llvm, "Put as many iterations into a loop's body as its schedule says", [{
  A loop whose `tulle.loop` says `unroll = n` becomes a loop over groups of n iterations, and one over those that are left. LLVM unrolls neither
  again. Loops that tulle-vectorize has made vectors of have n vectors in their body already.
}]>;

def Jam : FunctionPass<"tulle-jam", scf # arith # llvm, "Let iterations of a loop share the loops inside of it, as its schedule says", [{
  A loop whose `tulle.loop` says `jam = n` becomes a loop over groups of n iterations (unroll and jam), and one over those that are left. A group
  runs each loop inside once, whose body does the work of all n: what they have in common is loaded once, and each has its sums in registers
  of its own.

  It is an error where iterations depend on each other, where a loop inside has other bounds in each of them, or where none is inside.
}]>;

def CacheOperands : FunctionPass<"tulle-cache-operands", memref # scf # arith, "Copy what loops read of an operand to the stack, as a schedule says", [{
  In each iteration of a loop whose `tulle.loop` says `cache = {B = #tulle<cache_place stack>}`, what a loop inside reads of the buffers whose argument has `tulle.name = "B"`
  is copied to the stack before the loops inside, where these addresses depend on its own index and on what the iteration knows, and its trip
  count has a constant bound. It is an error where there is nothing like that.
}]>;

def Prefetch : FunctionPass<"tulle-prefetch", memref # scf # arith # llvm, "Prefetch what a schedule says", [{
  In a loop whose `tulle.loop` says `prefetch = {B = n}`, each iteration prefetches what the one n iterations later reads of the buffers whose
  argument has `tulle.name = "B"`: the address is computed as it is there, from coordinates that are loaded ahead, as far as there are some. Of
  a loop inside that reads consecutive elements these are all of its lines, of another one the first element. Segments that are selected so are
  looked up twice as far ahead as their entries. With `prefetch_into_l2` of `tulle.cpu` they go into the second-level cache. Afterwards the loop says 0: nothing else is prefetched.

  It is an error where nothing of that operand is at an address that can be computed ahead.
}]>;

def PrefetchRows : FunctionPass<"tulle-prefetch-rows", memref # scf # arith # llvm, "Prefetch the rows that integers of later iterations select", [{
  `for p: for k: C[q[p] * n + k] = g(…, B[r[p] * n + k])`, where the rows that the loop over k stores to differ from one p to the next (rows of an
  operand that integers give, messages along edges), gets a version that prefetches the rows of a later p, as far as q and r have elements. It runs where B or C is
  larger than the caches of a core, rows have two cache lines, and elements of q and r that are close to each other select rows that are far apart: a test at run time,
  before the loops around. Of a row, `prefetch_row_lines` of `tulle.cpu` are prefetched, since a hardware prefetcher goes on with it; with `prefetch_into_l2`, into the second-level cache. Rows that
  registers hold over p are up to `tulle-register-tiles`, and those of sums over k to `tulle-vectorize`.
}]>;

def PrefetchElements : FunctionPass<"tulle-prefetch-elements", memref # scf # arith, "Prefetch the elements that integers of later iterations select", [{
  An innermost `for p: … x[crd[p]] …`, which reads, updates or assigns such elements, with all loops around it, gets a version in which each iteration prefetches the
  element that the one `prefetch_elements` of `tulle.cpu` later selects, as far as crd has elements: also those of the segments behind. It runs where x takes as much as
  stays in the caches (`resident_bytes`), and elements of crd that are close to each other select elements of x that are far apart: a test at run time before the loops.
  Loops that prefetch already, and those that scatter into a buffer which is no argument, as assembly does, stay as they are.
}]>;

def CacheRegisters : FunctionPass<"tulle-cache-registers", vector # arith # scf # memref, "Hold in registers what loops read or update of a tensor, as a schedule says", [{
  Of a loop whose `tulle.loop` says `cache = {B = #tulle<cache_place registers>}`, each innermost loop inside that reads or updates the buffers
  whose argument has `tulle.name = "B"` becomes straight-line vector code. Loops between the two then have the same elements in all iterations:
  these are loaded once before, and carried where they are updated.

  It is an error where such an innermost loop has no constant trip count or no vectors, where a loop between changes the addresses, or where
  the elements take more registers than the processor has (`registers` of `tulle.cpu`).
}]> {
  let options = [Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: the widest vectors">];
}

def JamUpdates : FunctionPass<"tulle-jam-updates", scf # arith # memref # llvm, "Let iterations of a reduction update the elements of a loop over entries together", [{
  A loop that is a reduction, and does nothing but one over a segment that updates one element for each entry, becomes a loop over groups of its iterations
  and one over those that are left (a sampled product with loops i, k, j: `X(i,j) += S(i,j) * A(i,k) * B(k,j)`). A group loads and stores each element once, and
  loads the entry once; each element sees the same operations in the same order.
}]>;

def Vectorize : FunctionPass<"tulle-vectorize", vector # arith # scf # memref # llvm, "Vectorize innermost loops that gather or reduce", [{
  An innermost `scf.for` of step 1 over 1-D memrefs becomes a loop of whole vectors and a scalar epilogue:
  loads at consecutive indices are `vector.load`, indirect ones `vector.gather`, a reduction has a vector accumulator, carried through
  outer loops that only pass it on. Floating-point sums and products are only reassociated when they have
  `fastmath<reassoc>`. Loops whose accesses are all consecutive and that reduce nothing are left to LLVM, and so are loops with a small
  constant trip count, and any loop with an operation or a dependence this pass does not know (missed-optimization remarks of the category
  `tulle-vectorize`). Of the consecutive ones, loops over segments of stored entries that compute much (an exponential,
  a division) are predicated, without an epilogue; whole vectors come first where masks take time. Where they take none, reductions are, too, and loops in
  others that copy a segment elsewhere; of long reductions several whole vectors at a time come first.
  Where the processor has no profitable gather (`gathers` of `tulle.cpu`), gathers are scalarized; where it has one, rows that gather from
  local elements scalarize theirs.

  With `sample-rows`, a loop over rows around a reduction over the entries of each is split at run time. Where a sample finds that rows leave
  different numbers of entries behind the last whole vector, they end with a vector that over-reads into the next row: all but the last rows, behind which
  too few entries are. Other rows have a scalar epilogue. Without a profitable gather, rows over-read, too, where they are long and gather from remote
  elements of a buffer larger than L2.
  Where masked gathers are best (`masked_rows` of `tulle.cpu`), rows that over-read, and all long ones, are masked vectors of eight entries instead.
  Where the gather instruction is profitable but for local elements (`local_elements`), gathers become loads if the buffers that are gathered from fit twice
  L2 and those that are read in order fit `resident_bytes`, or if long rows gather from local elements of a larger buffer. Rows that over-read are then
  vectors of eight, all of which may over-read.

  A reduction over the entries of stored fibers is versioned, too: a copy of the nest without vectors runs where the positions say that a mean fiber has fewer
  entries than a vector has elements.

  With `tail=mask`, no loop has an epilogue but those that a schedule unrolls: its last vector is a masked one, whose lanes behind the end are
  inactive. Otherwise (`tail=auto`) that is so of the loops that are predicated.

  A row of a buffer of several dimensions, whose outer subscripts do not change in the loop, is a buffer of one dimension
  (`memref.reinterpret_cast` before the loop). Where the loop stores to the buffer, all of its accesses to it must be to one row.

  The vector length is chosen here and not as a field of `tulle.loop`: it depends on how addresses vary over the lanes.
}]> {
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element">,
    Option<"scalable", "scalable", "bool", /*default=*/"false", "vl counts the elements of one granule of a scalable vector">,
    Option<"index32", "index32", "bool", /*default=*/"false", "Coordinates fit a signed 32-bit integer: gather with 32-bit indices">,
    Option<"tail", "tail", "::tulle::passes::Tail", /*default=*/"::tulle::passes::Tail::Auto", "The iterations behind the last whole vector",
           [{::llvm::cl::values(clEnumValN(::tulle::passes::Tail::Auto, "auto", "as is fastest"),
                                clEnumValN(::tulle::passes::Tail::Mask, "mask", "one masked vector"))}]>,
    Option<"sampleRows", "sample-rows", "bool", /*default=*/"false", "Version reductions over rows by a sample of the rows">
  ];
}

def Outline : ModulePass<"tulle-outline", func, "Outline parallel regions into functions", [{
  The region of a `tulle.parallel` becomes `@task<n>_<function>(task, captures…)`, and the op a call of
  `@launch<n>_<function>(tasks, captures…)`, which `tulle-launch` defines. The buffers a region uses are distinct, or only read: unless two of them are
  views of one, the function says so (`tulle.noalias`). So does a region of `scf.execute_region` with `no_inline`. Of a function that has many
  outermost loops, each becomes one: LLVM looks from each loop of a function at those before it.
}]>;

//===--- Stage 5: calling convention ---===//

def LowerFilledBuffers : ModulePass<"tulle-lower-filled-buffers", ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect"], "Lower workspaces to calls that take them from the engine and give them back", [{
  `tulle.filled_buffer` becomes a call of `tulle_allocate_filled`, and `tulle.return_filled_buffer` one of `tulle_free_filled`, with the
  element as its width in bytes and its bits.
}]>;

def Launch : ModulePass<"tulle-launch", llvm, "Define the functions that launch parallel regions", [{
  Runs on the LLVM dialect. `@launch<n>_…` stores its arguments in memory and calls the engine's `tulle_parallel`, which calls
  `@enter_task<n>_…` with them for each task. The region itself is never inlined there: its arguments carry alias facts.
}]>;

def AttachLoopMetadata : ModulePass<"tulle-attach-loop-metadata", [], "Attach loop annotations to branches", [{
  Moves `llvm.loop_annotation` of `llvm.br` and `llvm.cond_br`, where the conversion of `scf.for` leaves it, to the attribute that
  is translated to LLVM IR.
}]>;

def Noalias : ModulePass<"tulle-noalias", llvm, "Mark the buffer arguments of statements and parallel regions llvm.noalias", [{
  Runs on the LLVM dialect. The caller guarantees that a buffer a statement writes is no other buffer of the statement;
  buffers that are only read may coincide. Other functions are marked where they have `tulle.noalias`.
}]>;

def Entry : ModulePass<"tulle-entry", llvm, "Add entry functions that take arguments from an array of 8-byte slots", [{
  Runs on the LLVM dialect. `@NAME_entry(ptr)` is added for every statement. Slot k holds argument k of the statement: five slots for a
  memref (data, data, 0, count, 1), one for an index. Memrefs that the statement returns come back in the slots behind, five each. The statements
  themselves become private to the module and are never inlined, which would weaken their alias facts; nor are other private functions: outlined regions
  have registers of their own. The module's `tulle.cpu` is removed: no
  pass chooses after this, and LLVM's own tools can read the module.
}]>;

#endif // TULLE_PASSES
