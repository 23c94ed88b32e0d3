// The passes of tulle-sparsifier around the stages. Their library is one of its own: what compiles index notation
// needs none of them, nor upstream's bufferization.
#ifndef TULLE_BOUNDARY_PASSES
#define TULLE_BOUNDARY_PASSES
include "passes/TullePass.td"

def RewriteSparseOps : ModulePass<"tulle-rewrite-sparse-ops", vector # arith # scf # tensor # linalg # memref # complex # [
                                  "::mlir::bufferization::BufferizationDialect", "::mlir::affine::AffineDialect", "::mlir::sparse_tensor::SparseTensorDialect"],
    "Rewrite sparse ops as upstream does before sparsification", [{
  Upstream's `pre-sparsification-rewrite`, whose fusion of a product with what samples it asks for inits that `bufferization.alloc_tensor` makes: they become
  that. Outside of linalg `unary`, `binary`, `select` and `reduce` are on scalars that are there, and become the region for these; `crd_translate` becomes
  `affine.apply`. A `tensor.cast` between encodings becomes `sparse_tensor.convert`, for ours as for upstream's.
}]>;

def InsertTensorCopies : ModulePass<"tulle-insert-tensor-copies", ["::mlir::bufferization::BufferizationDialect"],
    "Insert copies of tensors that cannot be written in place", [{
  Upstream's one-shot analysis, with its options for sparse tensors, decides for dense and sparse tensors alike what is written in place. What is not is written to a
  `bufferization.alloc_tensor` that copies, and is freed at the end of its block where nothing takes it elsewhere. With `analysis-only` the decisions are attributes, and nothing changes.
}]> {
  let options = [Option<"analysisOnly", "analysis-only", "bool", /*default=*/"false", "Say what would be written in place, and why not">];
}

def ExpandConstants : ModulePass<"tulle-expand-constants", tulle # arith # memref # ["::mlir::bufferization::BufferizationDialect"],
    "Expand sparse constants that are converted to lists of their entries", [{
  The operand of a `sparse_tensor.convert` from `arith.constant sparse<…>` becomes a tensor of the constant's coordinates and values
  (`tulle.storage`). Zeros that the constant lists are stored.
}]>;

def ExpandFiles : ModulePass<"tulle-expand-files", tulle # func # arith # memref # scf # tensor # llvm # [
                             "::mlir::bufferization::BufferizationDialect", "::mlir::sparse_tensor::SparseTensorDialect"],
    "Expand sparse_tensor.new and out to calls of the run-time library", [{
  The library (mlir_c_runner_utils) reads a file to a list of entries, which is converted, and writes the entries of a list one by one.
}]>;

def ExpandForeach : ModulePass<"tulle-expand-foreach", tulle # arith # memref # scf # tensor # [
                               "::mlir::bufferization::BufferizationDialect", "::mlir::sparse_tensor::SparseTensorDialect"],
    "Expand sparse_tensor.foreach to loops", [{
  A sparse tensor is converted to the list of its entries, in the order in which the op asks for them, and one loop is over these. Of a dense
  tensor, loops are over all elements.
}]>;

def ExpandCompress : ModulePass<"tulle-expand-compress", arith # memref # scf # tensor # complex # ["::mlir::sparse_tensor::SparseTensorDialect"],
    "Expand sparse_tensor.expand and compress to buffers and insertions", [{
  `sparse_tensor.expand` makes buffers as long as the dimension of the last level, `sparse_tensor.compress` inserts what was stored in them, and frees them.
}]>;

def ExpandSlices : ModulePass<"tulle-expand-slices", tulle # arith # memref # scf # tensor # [
                              "::mlir::bufferization::BufferizationDialect", "::mlir::sparse_tensor::SparseTensorDialect"],
    "Expand slices of sparse tensors to tensors of their own", [{
  `tensor.extract_slice` copies the entries that are in the slice, and encodings lose their slices: numbers that only running code knows (`?`) are operands of the op.
  The copy is freed at the end of its block, if nothing takes it elsewhere.
}]>;

def ExpandInserts : ModulePass<"tulle-expand-inserts", tulle # arith # memref # scf # tensor # [
                               "::mlir::bufferization::BufferizationDialect", "::mlir::sparse_tensor::SparseTensorDialect"],
    "Expand insertions into sparse tensors to lists that grow", [{
  Between `tensor.empty` and `sparse_tensor.load … hasInserts` a tensor is a list of entries, through `scf.for` and `scf.if` as well: `tensor.insert` appends
  to it, and its buffers grow by doubling. The load converts the list to the tensor's encoding, in which entries are in order. A tensor that has entries before is
  converted to a list, and freed: the one with the insertions stands for it. Where nothing but the op that reads it ends insertions, they end there.
}]>;

def ExpandAssemble : ModulePass<"tulle-expand-assemble", tulle # arith # memref # tensor # ["::mlir::bufferization::BufferizationDialect"],
    "Expand sparse_tensor.assemble to copies of its buffers", [{
  The tensor is `tulle.storage` of the copies, and is freed at the end of its block, if nothing frees it, or takes it or its buffers elsewhere. `sparse_tensor.has_runtime_library` is true: with a library upstream copies as well.
}]>;

def ExpandDisassemble : ModulePass<"tulle-expand-disassemble", func # arith # memref # scf # tensor # [
                                   "::mlir::bufferization::BufferizationDialect", "::mlir::sparse_tensor::SparseTensorDialect"],
    "Expand sparse_tensor.disassemble to copies into the caller's buffers", [{
  Of each buffer the op has a length, which is what of the caller's is used; one that is too small ends the program (`tulle_error_buffer`).
}]>;

def ExpandExplicitValues : ModulePass<"tulle-expand-explicit-values", func # arith # memref # scf # tensor # complex # [
                                     "::mlir::sparse_tensor::SparseTensorDialect"],
    "Expand conversions to formats with explicitVal to conversions that store values, and are checked", [{
  The values are compared with the one that the format says, which code that reads the tensor takes instead. Who reads the buffer of values finds them.
}]>;

def ExpandReshape : ModulePass<"tulle-expand-reshape", tulle # func # arith # memref # scf # tensor # [
                               "::mlir::bufferization::BufferizationDialect", "::mlir::sparse_tensor::SparseTensorDialect"],
    "Expand reshapes of sparse tensors to sizes that are not known to loops over their entries", [{
  `tensor.reshape`, and `collapse_shape` and `expand_shape` with a group of dimensions of which one but the first has no static size above 1: each entry of
  a list gets the coordinates that its place in row-major order has, and the list is converted. Sizes that do not multiply to the same number end the program
  (`tulle_error_reshape`).
}]>;

def SplitOps : ModulePass<"tulle-split-ops", tulle # linalg # tensor # [
                          "::mlir::bufferization::BufferizationDialect", "::mlir::sparse_tensor::SparseTensorDialect"],
    "Split ops that need a tensor in between", [{
  `sparse_tensor.reorder_coo` becomes a conversion, after which its operand is freed. A conversion of format and elements becomes two, a concatenation one of sparse tensors and a conversion, or a copy of what is not zero. The tensor in between
  is freed, and so is the result of a pad that only ops of its block read. Casts say which sizes of a conversion are static, so that it keeps the shape.
}]>;

def OutlineKernels : ModulePass<"tulle-outline-kernels", tulle # func # tensor # arith # linalg # complex # ["::mlir::bufferization::BufferizationDialect"],
    "Outline ops on sparse tensors to functions of a nested module", [{
  Each linalg op, conversion, concatenation, pad and reshape with a sparse operand or result becomes a function of `@kernels`, which takes the op's tensors, and last the one that is
  written in place, and so does each tensor without entries that other ops use. Reshapes to static sizes of which each alone reads
  the one before, and between which no op with tensors stands (it may write in place), are one function: no tensor is made between them. A function of the same name is declared in the module, and called. A result that nothing was stored in before is made by the
  kernel; those of its sizes that are not static are operands of the call behind the others, since kernels do not return sizes. A kernel has `tulle.noalias`
  unless an operand is a view of the tensor that is written in place. A slice of a dense tensor is copied for the call. `cpu` is the processor that
  kernels are planned for (`tulle.cpu` of `@kernels`).
}]> {
  let options = [Option<"cpu", "cpu", "std::string", /*default=*/"", "A row of the table of processors, as #tulle.cpu names it (empty: generic)">];
}

def CallConversions : ModulePass<"tulle-call-conversions", tulle # func # tensor # ["::mlir::bufferization::BufferizationDialect"],
    "Convert operands before the calls of kernels that ask for it", [{
  Where the argument of a kernel has `tulle.source` (`tulle-hoist-convert`), the operand of its call becomes the result of a call of one more kernel, which
  is `tulle.convert`, and is freed after the call.
}]>;

def LowerBoundary : ModulePass<"tulle-lower-boundary", tulle # func # memref # arith # ["::mlir::bufferization::BufferizationDialect"],
    "Lower sparse tensors outside of kernels to their buffers", [{
  Across func, scf and cf a sparse tensor becomes its fields, in the order of its layout, and its sizes. Calls of kernels, which `tulle-lower` has lowered, pass these, and of a
  dense tensor its one buffer; kernels then replace their declarations. `sparse_tensor.positions`, `coordinates`, `values` become views of the fields, `bufferization.dealloc_tensor` frees each once.
}]>;

def BufferizeDense : ModulePass<"tulle-bufferize-dense", ["::mlir::bufferization::BufferizationDialect"],
    "Bufferize the dense tensors around kernels", [{
  Upstream's bufferization, without an analysis: `tulle-insert-tensor-copies` has made the copies.
}]>;

def ExpandFilledBuffers : FunctionPass<"tulle-expand-filled-buffers", memref # scf # arith,
    "Expand workspaces to memory that the function fills and frees", [{
  `tulle.filled_buffer` becomes `memref.alloc` and a loop of stores, `tulle.return_filled_buffer` becomes `memref.dealloc`: without an engine nobody keeps the memory for the next call.
}]>;

def FreeAllocations : FunctionPass<"tulle-free-allocations", memref,
    "Free what a function allocates, and neither frees nor returns", [{
  Memory of `memref.alloc` that stays in its block, through views, `scf.for` and `scf.if`, is freed at the end of it: with an engine it goes when the call ends.
}]>;

def DefineErrors : ModulePass<"tulle-define-errors", func # arith # scf # llvm,
    "Define the functions that kernels call where there is no engine", [{
  `tulle_error_width`, `tulle_error_group`, `tulle_error_declared`, `tulle_error_buffer`, `tulle_error_reshape` and `tulle_error_explicit` say on stderr what is wrong and abort, `tulle_checked_size` and `tulle_checked_positions` return a product or do so, and
  `tulle_fits` allows an upper bound of up to 1 GiB.
}]>;

def DefineThreads : ModulePass<"tulle-define-threads", llvm,
    "Define the functions that parallel kernels call, on OpenMP", [{
  Runs on the LLVM dialect. `tulle_parallel` runs tasks in a team of OpenMP's threads (`GOMP_parallel`, of libomp and libgomp), which claim them in ascending order;
  `tulle_threads` says how many are profitable, `tulle_ordered_scan` is the chained scan of chunks.
}]>;

#endif // TULLE_BOUNDARY_PASSES
