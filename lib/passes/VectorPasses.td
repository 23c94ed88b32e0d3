// The passes of stage 4: vectors, tiles, prefetches.
#ifndef TULLE_VECTOR_PASSES
#define TULLE_VECTOR_PASSES
include "passes/TullePass.td"

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
  Loops that prefetch already, and those that scatter into a buffer which is neither an argument nor a thread's copy of a result, as assembly does, stay as they are.
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

#endif // TULLE_VECTOR_PASSES
