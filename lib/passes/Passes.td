// Every pass of Tulle. A pass's example is a lit test; its file, flag and test share one stem.
#ifndef TULLE_PASSES
#define TULLE_PASSES
include "mlir/Pass/PassBase.td"

//===--- Stage 1: from upstream's spelling ---===//

def ImportSparseTensor : Pass<"tulle-import-sparse-tensor", "::mlir::ModuleOp"> {
  let summary = "linalg on tensors with #sparse_tensor.encoding, as stage 1";
  let description = [{
    Encodings of the upstream sparse_tensor dialect become `#tulle.encoding`, `sparse_tensor.convert` becomes `tulle.convert`, and
    named linalg operations become linalg.generic. A tensor that a function makes (`tensor.empty`,
    `bufferization.alloc_tensor`) becomes its last argument, because results are written in place; a sparse one states by
    `tulle.like` which input's pattern it has.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::linalg::LinalgDialect"];
}

//===--- Stages 1 and 2: sets of coordinates ---===//

def ExpandConvert : Pass<"tulle-expand-convert", "::mlir::func::FuncOp"> {
  let summary = "A returned conversion becomes a walk over its source that inserts";
  let description = [{
    `tulle.convert` whose result the function returns becomes `tulle.assemble` of loops over the source in storage order, level by
    level. What is stored stays stored, zeros and block padding included, but of a source that is all dense only what
    differs from the target's fill. Other conversions are the caller's (`tulle-hoist-convert`).
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::complex::ComplexDialect"];
}

def ResolveOrder : Pass<"tulle-resolve-order", "::mlir::func::FuncOp"> {
  let summary = "Convert operands whose level order no common loop order allows";
  let description = [{
    For every linalg.generic the loop order is planned (iteration/Plan.h). The operand that does not fit is read through
    a `tulle.convert` to the cheapest encoding that does, and a remark says so. After this pass `tulle-sparsify` finds
    a loop order for every statement.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect"];
}

def ResolveSlices : Pass<"tulle-resolve-slices", "::mlir::func::FuncOp"> {
  let summary = "Operands that are slices become subscripts of the tensors they were cut from";
  let description = [{
    An argument whose encoding has slices, each of a dimension that one dense level stores, becomes the tensor it was cut from:
    subscript `c` is `offset + stride * c` there, nothing is copied, and the argument's attribute `tulle.whole` records the encoding
    the caller has. Other slices are read through a `tulle.convert` to a format without slices, which the caller runs; a remark says so.
    A slice cannot be a result.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def HoistConvert : Pass<"tulle-hoist-convert", "::mlir::func::FuncOp"> {
  let summary = "Let the caller convert arguments";
  let description = [{
    `tulle.convert` of an argument becomes an argument of the converted type; its attribute `tulle.source` records the
    encoding the caller has.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect"];
}

def ExpandQuery : Pass<"tulle-expand-query", "::mlir::func::FuncOp"> {
  let summary = "Queries as statements on the pattern";
  let description = [{
    `tulle.query` becomes a linalg.generic that reads no value: a reduction restricted by `tulle.stored`. What follows treats it as
    any statement; loops that only count become differences of positions (canonicalization of `tulle.iterate`).
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::linalg::LinalgDialect", "::mlir::arith::ArithDialect"];
}

def Sparsify : Pass<"tulle-sparsify", "::mlir::func::FuncOp"> {
  let summary = "linalg.generic on tensors with encodings to loops over sets of coordinates";
  let description = [{
    Each loop visits the coordinates where the statement's body changes the result, as its algebra says: products
    intersect, sums unite, `tulle.stored` restricts. Each case of a `tulle.coiterate` holds the body simplified for the
    operands that are present.
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", /*default=*/"\"auto\"", "How sets of coordinates are walked: auto, merge, gallop or blocks">
  ];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::complex::ComplexDialect", "::mlir::memref::MemRefDialect"];
}

def FuseInit : Pass<"tulle-fuse-init", "::mlir::func::FuncOp"> {
  let summary = "Rows of a dense result get their start value where they are updated";
  let description = [{
    `tulle.fill` of a result whose rows the rounds of one loop update, each its own row or block of rows, becomes a loop over
    them at the beginning of the round.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect"];
}

def Parallelize : Pass<"tulle-parallelize", "::mlir::func::FuncOp"> {
  let summary = "Partition outermost loops into tasks that threads run at the same time";
  let description = [{
    - Iterations with disjoint stores are partitioned into chunks of about as many stored entries (`tulle.partition`), which a
      `tulle.parallel` runs; a fiber that is longer than a chunk is split, and its partial results are combined.
    - A reduction into values: each task makes a partial result, and these are combined.
    - A reduction into a tensor: an inner loop over a dimension of it is partitioned, or the result is privatized, where copies
      are small against the work; else one thread runs the loop.
    - `tulle.fill` fills the buffer in chunks.

    The same goes for minima, products and other operations that may be reassociated; sums of floats only where their flags say so.
  }];
  let options = [Option<"deterministic", "deterministic", "bool", /*default=*/"false",
                        "Partial results do not depend on the number of threads">];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ChooseAssembly : Pass<"tulle-choose-assembly", "::mlir::ModuleOp"> {
  let summary = "Choose the strategy that builds each new tensor";
  let description = [{
    Every `tulle.assemble` gets the cheapest `strategy` that the order of its entries, its format and its loops allow, and a remark
    says which. A strategy that an op has already stays, and is an error where it does not fit:
    ```mlir
    tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> (i, j)>, strategy = #tulle<assembly append>, unique} { … }
    ```
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect"];
}

def ExpandAssembly : Pass<"tulle-expand-assembly", "::mlir::ModuleOp"> {
  let summary = "Expand tulle.assemble to the algorithm that its strategy names";
  let description = [{
    The loops become `tulle.entries`; the ops of the strategy make buffers of these, and the tensor is `tulle.storage` of the buffers:
    ```mlir
    %entries = tulle.entries bound %n attributes {order = …, unique} { … } : !tulle.entries<2, f64>
    %buffers:3 = tulle.append %entries sizes(%m, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> …
    %C = tulle.storage(%buffers#0, %buffers#1, %buffers#2) sizes(%m, %n) : … -> tensor<?x?xf64, #CSR>
    ```
    Assemblies without a strategy are an error (`tulle-choose-assembly`), as are those whose strategy does not fit.
  }];
  let options = [Option<"parallel", "parallel", "bool", /*default=*/"false", "Threads share the work">];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

//===--- Stage 3: algorithms that build tensors, each lowered alone ---===//

class LowerAlgorithm<string argument> : Pass<argument, "::mlir::ModuleOp"> {
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect", "::mlir::complex::ComplexDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerCollect : LowerAlgorithm<"tulle-lower-collect"> {
  let summary = "Lower tulle.collect to loops that write records";
  let description = [{
    Each entry is stored behind the one before. With `parallel`, each thread counts the entries of a chunk, a `tulle.scan` of the counts says
    where the chunks begin, and each thread stores its own.
  }];
}

def LowerSort : LowerAlgorithm<"tulle-lower-sort"> {
  let summary = "Lower tulle.sort to passes of histogram, scan and scatter";
  let description = [{
    For each level of the key, from the innermost, the range of its coordinates is found, and for each digit of up to 11 bits
    `tulle.histogram`, `tulle.scan` and `tulle.scatter_entries` move the records to the other buffer.
  }];
}

def LowerAppend : LowerAlgorithm<"tulle-lower-append"> {
  let summary = "Lower tulle.append to loops that append entries to levels";
  let description = [{
    Memory is allocated for the number of entries, or, as `plan` says, for what a first loop over them counts. Several threads append
    chunks of the outermost loop to staging buffers, which move to the result behind those of the chunks before (`tulle.chained_scan`).
  }];
}

def LowerAppendBlocks : LowerAlgorithm<"tulle-lower-append-blocks"> {
  let summary = "Lower tulle.append_blocks to loops that append a block and accumulate its values";
  let description = [{
    Before the loops that make a block, if they have an iteration, its coordinate and as many zeros are appended.
  }];
}

def LowerWorkspace : LowerAlgorithm<"tulle-lower-workspace"> {
  let summary = "Lower tulle.workspace to loops that accumulate fibers in an array and append them";
  let description = [{
    Each thread has an array of values and a bit set of coordinates. Where a fiber ends, the bits are visited in order, their entries
    appended, and both are emptied. A level that is large against the number of entries leads to `tulle.sort`.
  }];
}

def LowerScatter : LowerAlgorithm<"tulle-lower-scatter"> {
  let summary = "Lower tulle.scatter to loops that query the entries and loops that store them";
  let description = [{
    Levels are queried together as far as they do not depend on each other; each then says how many positions it has. Entries far
    from each other are partitioned by ranges of parents first, which a sample of the stream decides.
  }];
}

def LowerBuildLevels : LowerAlgorithm<"tulle-lower-build-levels"> {
  let summary = "Lower tulle.build_levels to traversals of the sorted entries";
  let description = [{
    A level that asks about its entries first takes one traversal, placing them another, and storing the values the last.
  }];
}

def LowerSortSegments : LowerAlgorithm<"tulle-lower-sort-segments"> {
  let summary = "Lower tulle.sort_segments to counting and merge sorts";
  let description = [{
    Runs of 32 coordinates are sorted by counting, eight at a time, those that are less; longer segments are merged from these.
  }];
}

def LowerUnique : LowerAlgorithm<"tulle-lower-unique"> {
  let summary = "Lower tulle.unique to a loop that combines and moves entries";
  let description = [{
    An entry whose coordinate is that of the entry before is combined with it; others move to the end of what is left.
  }];
}

def LowerHistogram : LowerAlgorithm<"tulle-lower-histogram"> {
  let summary = "Lower tulle.histogram to loops that clear and count";
  let description = [{
    One loop clears the buckets, and one adds 1 to the bucket of each entry.
  }];
}

def LowerScan : LowerAlgorithm<"tulle-lower-scan"> {
  let summary = "Lower tulle.scan to a loop that carries the sum";
  let description = [{
    With `rows`, to a loop over columns around one over rows.
  }];
}

def LowerScatterEntries : LowerAlgorithm<"tulle-lower-scatter-entries"> {
  let summary = "Lower tulle.scatter_entries to a loop that moves records";
  let description = [{
    The loop copies the words of each record to the next position of its bucket.
  }];
}

def LowerChainedScan : LowerAlgorithm<"tulle-lower-chained-scan"> {
  let summary = "Lower tulle.chained_scan to a call of the runtime";
  let description = [{
    The runtime waits for the chunks before, and knows what an error of another thread ends.
  }];
}

def InlineEntries : LowerAlgorithm<"tulle-inline-entries"> {
  let summary = "Inline tulle.for_each_entry as a copy of the loops of its entries";
  let description = [{
    The body takes the place of each `tulle.insert`. A body that does not use the value leaves out what only values need. Of a chunk,
    the outermost loop is restricted to that.
  }];
}

def IndexOperands : Pass<"tulle-index-operands", "::mlir::func::FuncOp"> {
  let summary = "Sparse rows that many rounds of a loop meet become tables";
  let description = [{
    A co-iteration inside a loop meets some of its spaces in every round of that loop: the row of a mask, for every row of
    the second factor in a product. Where all but one are such, and nothing is visited without that one, the others are written to
    tables before the loop (`tulle.position_table`): what is left is an iteration over the one space, which looks its coordinates up
    (`tulle.lookup`). Chosen when the code runs: a level with far more coordinates than entries has no table, and in a row that is much
    longer than the others of an intersection these are searched for.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

//===--- Stage 3: buffers and loops ---===//

def InsertCopies : Pass<"tulle-insert-copies", "::mlir::func::FuncOp"> {
  let summary = "Copies tensors whose values are read after a store has replaced them in place";
  let description = [{
    Until here tensors are values, and any pass may move, merge and drop ops that have no memory effects. From here on a
    store writes to the buffer of its tensor. Where a use of the tensor may come after that, in some execution, one of the two
    gets a buffer of its own: the use, or the store if its result does not reach the end of the function. A remark says so.

    ```mlir
    %n = tulle.store %v, %y[…]
    %old = tulle.load %y[…]      // of a copy of %y that is made before the store
    ```
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def Lower : Pass<"tulle-lower", "::mlir::ModuleOp"> {
  let summary = "Turns tensors into their buffers, and loops over coordinate sets into scf loops";
  let description = [{
    Stage 2 to stage 3. Every tensor argument becomes one `memref<?xT>` for each field of its layout, then one `index`
    for each dimension; results are written in place, but a tensor the function made (`tulle.storage`) is returned as its
    buffers. Stores are in place: a function where a tensor's values are read after that is refused (`tulle-insert-copies`
    mends it). What a level costs to walk, locate or
    search comes from its level format. Every `scf.for` says what it is by `tulle.loop`.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
                           "::mlir::x86vector::X86VectorDialect"];
}

def ExpandSegments : Pass<"tulle-expand-segments", "::mlir::func::FuncOp"> {
  let summary = "Turns bounds of segments into loads of positions";
  let description = [{
    Runs behind the vectorizer, the last pass that asks which segment a loop iterates over.

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
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CoalesceSegments : Pass<"tulle-coalesce-segments", "::mlir::func::FuncOp"> {
  let summary = "Coalesce a loop over segments with the loop inside it";
  let description = [{
    `for i: for k in tulle.segment positions[i]: body(k)`, where nothing in the body depends on i, becomes a loop over k from
    the begin of the first segment to the end of the last one, in the same order. The positions are an argument that nobody writes.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def HoistAllocations : Pass<"tulle-hoist-allocations", "::mlir::func::FuncOp"> {
  let summary = "Hoist allocations out of loops";
  let description = [{
    A `memref.alloc` with a `memref.dealloc` in its block moves, together with it, out of all loops that the size does not depend on. A
    parallel region is not left: each thread has memory of its own. (Upstream's `buffer-loop-hoisting` runs before deallocations
    are inserted: it moves the allocation alone, and leaves a `memref.dealloc` in the loop that frees it in the first iteration.)
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

//===--- Stage 4: vectors ---===//

def PeelPartialTiles : Pass<"tulle-peel-partial-tiles", "::mlir::func::FuncOp"> {
  let summary = "Peel partial tiles off loops over blocks";
  let description = [{
    A nest of loops `0 to min(rest, size)` with small constant sizes becomes a branch: constant bounds where every tile is full, else
    the nest as it was.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

def VectorizeBlockRows : Pass<"tulle-vectorize-block-rows", "::mlir::func::FuncOp"> {
  let summary = "Vectorize reductions over rows of small blocks";
  let description = [{
    `for p: for r in 0..R: y[f(r)] = y[f(r)] + sum over c in 0..C of …`, with small R and C (the BSR micro-kernel), becomes a loop over p that
    carries R vector accumulators, with a lane for each c, and one horizontal reduction of each at the end. Blocks with columns outside of the
    tensor are masked; a partial last row of blocks keeps its loops.

    Where the rows are independent, and no prefetch of the processor covers their stream (`prefetch_blocks` of `tulle.cpu`), two streams are
    interleaved at run time if the blocks are larger than the caches: iteration t is row t / 2 of the first half of the rows, or of the second.
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def PackOperands : Pass<"tulle-pack-operands", "::mlir::func::FuncOp"> {
  let summary = "Pack operands of products over a dense range into panels, and block the loops";
  let description = [{
    `for i: for g: for k: C[i*n + k] = C[…] + … B[row(g)*m + k]`, where the range of g is the same for all i and row(g) is g, or a choice
    among a few rows from g times a constant on (2:4 formats), becomes loops over tiles of k and blocks of g outside of i. The part of
    B that these need is packed into a panel as large as L1 first. Where B is small or rows are few, at run time, the loops stay as they were. Every
    element sees the same operations in the same order.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect"];
}

def CacheBlock : Pass<"tulle-cache-block", "::mlir::func::FuncOp"> {
  let summary = "Block loops over selected rows of an operand for L1, and interchange";
  let description = [{
    `for i: for q in segment(i): for p in segment(q): for k: C[i*n + k] = C[…] + … D[crd[q]*n + k]` reads most of D for every i where
    segments(i) select most of its rows (MTTKRP). The loop over q is split where crd[q] passes multiples of a block, and the chunks of some i run
    one after another, so that a block of D is loaded into L1 once for all of them. A table holds where each chunk begins, and
    the stored entries of the next chunk but one are prefetched, since the chunks of an i are far apart in time. Chosen at run time, by
    sizes. Every element sees the same operations in the same order.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect"];
}

def VersionLoops : Pass<"tulle-version-loops", "::mlir::func::FuncOp"> {
  let summary = "Version loops over rows that one vector holds";
  let description = [{
    `for i: for p: for k < n: C[f(i, k)] = …`, where n does not depend on i, gets two versions, one for rows of exactly the elements of a
    vector and one for fewer, that say so in their bounds: the choice of tiles moves out of the loop over i.
  }];
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def ExpandExp : Pass<"tulle-expand-exp", "::mlir::func::FuncOp"> {
  let summary = "Expand exponentials into polynomials";
  let description = [{
    Every `math.exp` of f32 and f64 with `fastmath<contract>` becomes arithmetic, with an error below one unit in the last place
    for all inputs, infinities, nan and subnormal results included.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandBf16 : Pass<"tulle-expand-bf16", "::mlir::func::FuncOp"> {
  let summary = "Expand rounding to bf16 into integer arithmetic";
  let description = [{
    Every `arith.truncf` of f32 to bf16, of a scalar or a vector, becomes integer arithmetic: round half to even; subnormal numbers are kept,
    nan stays nan.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RegisterTiles : Pass<"tulle-register-tiles", "::mlir::func::FuncOp"> {
  let summary = "Tile reduction nests for registers";
  let description = [{
    `for p: for k: C[f(k)] = g(C[f(k)], …)`, where f does not depend on p, becomes a loop over tiles of k (several vectors, then
    a masked one) in which the elements are loaded once, updated over all p and stored once. Every element sees the same
    operations in the same order, so nothing is reassociated.
    - Updates may be conditional (padding), which makes masks, and f may be a load (the rows of a permutation); where masks take time
      (`masks` of `tulle.cpu`), tiles whose lanes are all active have an unmasked version.
    - A loop just before that initializes the same elements is fused: tiles start from the constant, and stores are non-temporal where the
      buffer is larger than caches.
    - Where k is long and every p loads streams of its own (diagonals), a few iterations of p are jammed. Where the bounds of k depend on p,
      the tiles cover what these have in common.
    - Rows of an operand that coordinates select are prefetched where they are remote, or follow each other in memory.
    - Factors of a product that vary in an outer loop only are hoisted out of the sums of the loops inside, at every level, where sums may be
      reassociated (MTTKRP: `C[k] += v[p] * D[q, k] * E[crd[p], k]` for p in segment(q)); the innermost two loops are coalesced where segments
      are short.
  }];
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element, 512 in tiles of long rows">,
    Option<"index32", "index32", "bool", /*default=*/"false", "Coordinates fit a signed 32-bit integer: gather with 32-bit indices">,
    Option<"scalarizeGathers", "scalarize-gathers", "bool", /*default=*/"true", "Scalarize gathers: a load for each lane instead of an instruction">,
    Option<"factors", "factors", "bool", /*default=*/"true", "Hoist factors out of sums that may be reassociated">
  ];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

def PipelineScatters : Pass<"tulle-pipeline-scatters", "::mlir::func::FuncOp"> {
  let summary = "Pipeline loops with indirect stores";
  let description = [{
    The index of such a store is computed from an element whose own index was loaded. Until it is known, later
    loads may depend on the store. The loop is unrolled, and a few iterations at a time do all loads of what no iteration changes first, then, in
    order, loads of what earlier iterations may have written (counters), then the stores, with all else that accesses
    their buffers. An `scf.if` without results whose condition is known before is a guard: iterations of which one is
    taken run in order. No load moves over a check for an error that may be about its index. Buffers made by
    the function, and its arguments, do not alias; loops over others stay as they are.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def LoopHints : Pass<"tulle-loop-hints", "::mlir::func::FuncOp"> {
  let summary = "Keep LLVM from vectorizing loops with indirect stores";
  let description = [{
    LLVM would vectorize such a loop where the processor can scatter, or extract vectors of addresses. Either is slower than
    scalar stores. The loop gets an `llvm.loop_annotation` that says so, unless it has one already; a reduction inside
    of another loop, which may be over short segments, is not unrolled either. A loop that
    only accumulates loads at its index at loaded indices is unrolled by two, with a software prefetch of these loads.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def Vectorize : Pass<"tulle-vectorize", "::mlir::func::FuncOp"> {
  let summary = "Vectorize innermost loops that gather or reduce";
  let description = [{
    An innermost `scf.for` of step 1 over 1-D memrefs becomes a loop of whole vectors and a scalar epilogue:
    loads at consecutive indices are `vector.load`, indirect ones `vector.gather`, a reduction has a vector accumulator, carried through
    outer loops that only pass it on. Floating-point sums and products are only reassociated when they have
    `fastmath<reassoc>`. Loops whose accesses are all consecutive and that reduce nothing are left to LLVM, and so are loops with a small
    constant trip count, and any loop with an operation or a dependence this pass does not know (missed-optimization remarks of the category
    `tulle-vectorize`). Of the consecutive ones, loops over segments of stored entries that compute much (an exponential,
    a division) are predicated, without an epilogue; whole vectors come first where masks take time.
    Where the processor has no profitable gather (`gathers` of `tulle.cpu`), gathers are scalarized; where it has one, rows that gather from
    local elements scalarize theirs.

    With `sample-rows`, where gathers are scalarized, a reduction over the entries of each row is versioned, and a sample of the rows selects a version at
    run time: with a scalar epilogue, where rows leave as many entries behind the last whole vector; with an epilogue of one vector that
    over-reads into the next row, where they differ, or where they are long and gather from remote elements of a buffer larger than L2.
  }];
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element">,
    Option<"scalable", "scalable", "bool", /*default=*/"false", "vl counts the elements of one granule of a scalable vector">,
    Option<"index32", "index32", "bool", /*default=*/"false", "Coordinates fit a signed 32-bit integer: gather with 32-bit indices">,
    Option<"scalarizeGathers", "scalarize-gathers", "bool", /*default=*/"false", "Scalarize gathers: a load for each lane instead of an instruction">,
    Option<"sampleRows", "sample-rows", "bool", /*default=*/"false", "Version reductions over rows by a sample of the rows">
  ];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

def Outline : Pass<"tulle-outline", "::mlir::ModuleOp"> {
  let summary = "Outline parallel regions into functions";
  let description = [{
    The region of a `tulle.parallel` becomes `@task<n>_<function>(task, captures…)`, and the op a call of
    `@launch<n>_<function>(tasks, captures…)`, which `tulle-launch` defines. The buffers a region uses are distinct, or only read: unless two of them are
    views of one, the function says so (`tulle.noalias`).
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

//===--- Stage 5: calling convention ---===//

def Launch : Pass<"tulle-launch", "::mlir::ModuleOp"> {
  let summary = "Define the functions that launch parallel regions";
  let description = [{
    Runs on the LLVM dialect. `@launch<n>_…` stores its arguments in memory and calls the engine's `tulle_parallel`, which calls
    `@enter_task<n>_…` with them for each task. The region itself is never inlined there: its arguments carry alias facts.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def AttachLoopMetadata : Pass<"tulle-attach-loop-metadata", "::mlir::ModuleOp"> {
  let summary = "Attach loop annotations to branches";
  let description = [{
    Moves `llvm.loop_annotation` of `llvm.br` and `llvm.cond_br`, where the conversion of `scf.for` leaves it, to the attribute that
    is translated to LLVM IR.
  }];
}

def Noalias : Pass<"tulle-noalias", "::mlir::ModuleOp"> {
  let summary = "Mark the buffer arguments of statements and parallel regions llvm.noalias";
  let description = [{
    Runs on the LLVM dialect. The caller guarantees that a buffer a statement writes is no other buffer of the statement;
    buffers that are only read may coincide. Other functions are marked where they have `tulle.noalias`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def Entry : Pass<"tulle-entry", "::mlir::ModuleOp"> {
  let summary = "Add entry functions that take arguments from an array of 8-byte slots";
  let description = [{
    Runs on the LLVM dialect. `@NAME_entry(ptr)` is added for every statement. Slot k holds argument k of the statement: five slots for a
    memref (data, data, 0, count, 1), one for an index. Memrefs that the statement returns come back in the slots behind, five each. The statements
    themselves become private to the module and are never inlined, which would weaken their alias facts. The module's `tulle.cpu` is removed: no
    pass chooses after this, and LLVM's own tools can read the module.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TULLE_PASSES
