// Every pass of Tulle's stages. A pass's example is a lit test; its file, flag and test share one stem.
#ifndef TULLE_PASSES
#define TULLE_PASSES
include "passes/SetPasses.td"
include "passes/LowerPasses.td"
include "passes/VectorPasses.td"

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
