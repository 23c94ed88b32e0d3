// RUN: tulle-opt %s --tulle-entry --split-input-file --verify-diagnostics

// expected-error@+1 {{expected a statement that returns nothing, or the buffers of the tensors it made}}
llvm.func @statement0(%n: i64) -> i64 {
  llvm.return %n : i64
}

// -----

// expected-error@+1 {{expected arguments of 8 bytes (memrefs and indices), got 'f32'}}
llvm.func @statement0(%x: f32) {
  llvm.return
}
