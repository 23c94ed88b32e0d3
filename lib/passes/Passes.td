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

def Assemble : Pass<"tulle-assemble", "::mlir::ModuleOp"> {
  let summary = "tulle.assemble to loops that allocate and write the buffers of the new tensor";
  let description = [{
    For every `tulle.assemble` the cheapest strategy is taken that the order of its entries allows: they are appended as they
    come; or each group of them is put in order in a workspace first; or they are stored at positions that attribute
    queries gave; or they are bucketed by one level after the other before. The tensor is then `tulle.storage` of its buffers.
  }];
  let options = [Option<"parallel", "parallel", "bool", /*default=*/"false", "Threads share the work">];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
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
    search comes from its level format. Every `scf.for` says `tulle.kind = "parallel"` or `"reduction"`.
  }];
  let dependentDialects = ["::tulle::dialect::TulleDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
                           "::mlir::x86vector::X86VectorDialect"];
}

def CoalesceSegments : Pass<"tulle-coalesce-segments", "::mlir::func::FuncOp"> {
  let summary = "Loops over segments that do not ask which one they are in become one loop";
  let description = [{
    `for i: for k in positions[i] … positions[i + 1]: body(k)`, where nothing in the body depends on i, becomes a loop over k from
    the first segment's begin to the last one's end, in the same order. The positions are an argument that nobody writes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect"];
}

def HoistAllocations : Pass<"tulle-hoist-allocations", "::mlir::func::FuncOp"> {
  let summary = "Memory that every round of a loop takes and gives back is taken once";
  let description = [{
    `memref.alloc` and `memref.dealloc` in one round of a loop move out of all loops that the size does not depend on. Each part of a
    parallel region keeps memory of its own.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

//===--- Stage 4: vectors ---===//

def PeelPartialTiles : Pass<"tulle-peel-partial-tiles", "::mlir::func::FuncOp"> {
  let summary = "Whole blocks of blocked formats get loops of constant length";
  let description = [{
    A nest of loops `0 to min(rest, size)` with small constant sizes becomes a branch: constant bounds when every bound has its
    full size, else the nest as it was.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

def VectorizeBlockRows : Pass<"tulle-vectorize-block-rows", "::mlir::func::FuncOp"> {
  let summary = "The results of a row of small blocks stay in vectors";
  let description = [{
    `for p: for r in 0..R: y[f(r)] = y[f(r)] + sum over c in 0..C of …`, with small R and C, becomes a loop over p that carries R vectors, a
    lane for each c, and one combination of their lanes at the end. Blocks cut off by the tensor's last column are masked; a
    last row of blocks that is cut off keeps its loops.
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def InterleaveStreams : Pass<"tulle-interleave-streams", "::mlir::func::FuncOp"> {
  let summary = "Rows of blocks are walked from two places in turn";
  let description = [{
    A loop over rows whose blocks (`tulle.block_bytes`) are larger than the caches takes a row of its first half and one of its second in turn:
    round t is row t / 2, or half + t / 2.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PackOperands : Pass<"tulle-pack-operands", "::mlir::func::FuncOp"> {
  let summary = "Products over a dense range work on panels that fit the innermost cache";
  let description = [{
    `for i: for g: for k: C[i*n + k] = C[…] + … B[row(g)*m + k]`, where the range of g is the same for all i and row(g) is g, or a choice
    among a few rows from g times a constant on (2:4 formats), becomes loops over tiles of k and blocks of g outside of i. The part of
    B that these need is copied to a panel of 32 KiB first. Where B is small or rows are few, the loops stay as they were. Every
    element sees the same operations in the same order.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect"];
}

def CacheBlock : Pass<"tulle-cache-block", "::mlir::func::FuncOp"> {
  let summary = "Rows of a result share the rows of an operand while these are in the innermost cache";
  let description = [{
    `for i: for q in segment(i): for p in segment(q): for k: C[i*n + k] = C[…] + … D[crd[q]*n + k]` reads most of D for every i where
    segments(i) name most of its rows (MTTKRP). The loop over q is cut where crd[q] passes multiples of a block, and the pieces of some i run
    one after another, so that a block of D is read into the innermost cache once for all of them. Where each piece begins stands in a
    table, and the stored entries of the next piece are fetched, since the pieces of an i are far apart in time. Chosen when the code runs,
    from sizes. Every element sees the same operations in the same order.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect"];
}

def VersionBySampling : Pass<"tulle-version-by-sampling", "::mlir::func::FuncOp"> {
  let summary = "Rows that no hardware foresees end with a vector that reads on into the next row";
  let description = [{
    A reduction over the entries of each row that gathers has two copies, of which a sample of the rows takes one at run time: as it is, where
    rows leave as many entries behind the last whole vector; marked `tulle.reads_on`, where they differ, or where they are long and name places
    that are far apart in a buffer larger than the second cache. For processors that gather by a load for each lane.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

def VersionLoops : Pass<"tulle-version-loops", "::mlir::func::FuncOp"> {
  let summary = "Loops over rows that one vector holds have a copy of their own";
  let description = [{
    `for i: for p: for k < n: C[f(i, k)] = …`, where n does not depend on i, gets two copies, one that runs where n elements are one
    vector and one for fewer, that say so in their bounds: not every i asks how many tiles of which width fit.
  }];
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def ExpandExp : Pass<"tulle-expand-exp", "::mlir::func::FuncOp"> {
  let summary = "Exponentials become polynomials";
  let description = [{
    Every `math.exp` of f32 and f64 with `fastmath<contract>` becomes arithmetic, less than one unit in the last place from the exact value
    for all inputs: infinities, nan, and where the result is subnormal, too.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandBf16 : Pass<"tulle-expand-bf16", "::mlir::func::FuncOp"> {
  let summary = "Rounding to bf16 becomes arithmetic";
  let description = [{
    Every `arith.truncf` of f32 to bf16, of a number or a vector, becomes integer arithmetic: to the nearest, the even one of two as near;
    subnormal numbers are kept, nan stays nan.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RegisterTiles : Pass<"tulle-register-tiles", "::mlir::func::FuncOp"> {
  let summary = "Rows of a result that a loop adds to stay in registers";
  let description = [{
    `for p: for k: C[f(k)] = g(C[f(k)], …)`, where f does not depend on p, becomes a loop over tiles of k (several vectors, then
    one with a mask) in which the elements are loaded once, updated over all p and stored once. Every element sees the same
    operations in the same order, so no reordering is needed. Updates may be under conditions (empty slots of a padded
    format), which become masks, and f may be a load (the rows of a permutation); where masks take time (`masks` of `tulle.cpu`), tiles whose
    elements all exist have a copy without those. A loop just before that sets the same elements to a constant does not run: tiles start from the
    constant, and go past the caches where the buffer is larger than these. Where k is long and every p reads streams of its
    own (diagonals), a few p are done at a time, and rows of an operand that coordinates name are prefetched where they are far; where the bounds of k depend on p, the tiles cover what these have in common.
    Of products that several loops sum (MTTKRP: `C[k] += v[p] * D[q, k] * E[crd[p], k]` for p in segment(q)) and that may be reassociated, rows that
    an outer one of these decides are taken out of the sums of those inside, at every level; the innermost two are one loop where segments hold few positions each.
  }];
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element, 512 in tiles of long rows">,
    Option<"index32", "index32", "bool", /*default=*/"false", "Coordinates fit a signed 32-bit integer: gather with 32-bit indices">,
    Option<"gatherElements", "gather-elements", "bool", /*default=*/"true", "Gather by a load for each lane instead of an instruction">,
    Option<"factors", "factors", "bool", /*default=*/"true", "Take factors out of sums, where operations may be reassociated">
  ];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

def PipelineScatters : Pass<"tulle-pipeline-scatters", "::mlir::func::FuncOp"> {
  let summary = "Loops that store at places they look up run several iterations at once";
  let description = [{
    The place of such a store is computed from an element that was read at a place which was read itself. Until it is known, later
    loads may have to read what is stored. A few iterations at a time, all loads of what no iteration changes come first, then what
    iterations read after an earlier one may have written it (counters), in order, then those stores, with all else that touches
    their buffers. An `scf.if` without results whose condition is known before is a guard: where a batch has one that is
    taken, its iterations run in order. Nothing is read before a check for an error that may be about its place. Buffers made by
    the function, and its arguments, do not overlap; loops over others stay as they are.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def LoopHints : Pass<"tulle-loop-hints", "::mlir::func::FuncOp"> {
  let summary = "Innermost loops that store at positions they read stay scalar";
  let description = [{
    LLVM would vectorize such a loop where the processor can scatter, or take vectors of addresses apart. Either is slower than
    the stores one by one. The loop gets an `llvm.loop_annotation` that says so, unless it has one already; a reduction inside
    of another loop, which may be over short segments, is not unrolled either. A loop that
    only adds what it reads in order to such positions runs two iterations at a time, and what it reads is fetched ahead.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def Vectorize : Pass<"tulle-vectorize", "::mlir::func::FuncOp"> {
  let summary = "Innermost loops that gather or reduce become vector code";
  let description = [{
    An innermost `scf.for` of step 1 over 1-D memrefs becomes a loop of whole vectors and a scalar loop for the rest:
    loads at consecutive positions are `vector.load`, loads at computed ones `vector.gather`, a reduction keeps a
    vector of partial results. Floating-point sums and products are only reordered when they carry
    `fastmath<reassoc>`. Loops whose accesses are all consecutive and that reduce nothing are left to LLVM, which
    vectorizes and interleaves them well, and so are loops that run a few times only, and any loop with an operation or
    a dependence this pass does not know. Of those, loops over segments of stored entries that compute much (an exponential,
    a division) become vectors whose lanes behind the end are off, without a scalar rest; whole vectors come first where masks take time.
    Where the processor has no gather that is worth while (`gathers` of the module's `tulle.cpu`), each is a load for each lane. `math.exp` of f32 and f64 with
    `fastmath<contract>` becomes a polynomial before, within one unit in the last place of the exact value.
  }];
  let options = [
    Option<"vl", "vl", "unsigned", /*default=*/"0", "Elements of a vector; 0: 256 bits of the widest element">,
    Option<"scalable", "scalable", "bool", /*default=*/"false", "vl counts the elements of one granule of a scalable vector">,
    Option<"index32", "index32", "bool", /*default=*/"false", "Coordinates fit a signed 32-bit integer: gather with 32-bit indices">,
    Option<"gatherElements", "gather-elements", "bool", /*default=*/"false", "Gather by a load for each lane instead of an instruction">
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
  let summary = "Define the functions that run all tasks of a parallel region";
  let description = [{
    Runs on the LLVM dialect. `@launch<n>_…` leaves its arguments in memory and calls the engine's `tulle_parallel`, which calls
    `@enter_task<n>_…` with them for each task. The region itself is never inlined there: its arguments say what does not alias.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def AttachLoopMetadata : Pass<"tulle-attach-loop-metadata", "::mlir::ModuleOp"> {
  let summary = "What LLVM is told about a loop becomes part of its branch";
  let description = [{
    Moves `llvm.loop_annotation` of `llvm.br` and `llvm.cond_br`, where the conversion of `scf.for` leaves it, to the attribute that
    is translated to LLVM IR.
  }];
}

def Noalias : Pass<"tulle-noalias", "::mlir::ModuleOp"> {
  let summary = "Marks the buffer arguments of statements and parallel regions llvm.noalias";
  let description = [{
    Runs on the LLVM dialect. The caller guarantees that a buffer a statement writes is no other buffer of the statement;
    buffers that are only read may coincide. Other functions are marked where they have `tulle.noalias`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def Entry : Pass<"tulle-entry", "::mlir::ModuleOp"> {
  let summary = "Adds @NAME_entry(ptr) for every statement, which takes its arguments from an array of 8-byte slots";
  let description = [{
    Runs on the LLVM dialect. Slot k holds argument k of the statement: five slots for a memref (data, data, 0, count, 1), one
    for an index. Memrefs that the statement returns come back in the slots behind, five each. The statements themselves become private to the module and are never inlined: that would weaken
    their alias facts. The module's `tulle.cpu` is removed: nothing is chosen after this, and LLVM's own tools can read the module.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TULLE_PASSES
