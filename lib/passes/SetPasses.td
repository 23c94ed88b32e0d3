// The passes of stages 1 and 2: tensors and sets of coordinates.
#ifndef TULLE_SET_PASSES
#define TULLE_SET_PASSES
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

#endif // TULLE_SET_PASSES
