// RUN: tulle-opt %s --tulle-noalias | FileCheck %s

// New memory aliases nothing.
// CHECK: llvm.func @_mlir_memref_to_llvm_alloc(i64) -> (!llvm.ptr {llvm.noalias})
llvm.func @_mlir_memref_to_llvm_alloc(i64) -> !llvm.ptr

// Pointers of a statement are buffers; integers get no attribute.
// CHECK: llvm.func @statement0(%{{[^:]*}}: !llvm.ptr {llvm.noalias}, %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr {llvm.noalias})
llvm.func @statement0(%x: !llvm.ptr, %n: i64, %y: !llvm.ptr) {
  llvm.return
}

// So are those of a function that is marked: one of a parallel region.
// CHECK: llvm.func @region(%{{[^:]*}}: !llvm.ptr {llvm.noalias})
llvm.func @region(%x: !llvm.ptr) attributes {tulle.noalias} {
  llvm.return
}

// Nothing is known about others, nor about functions without a body.
// CHECK: llvm.func @helper(%{{[^:]*}}: !llvm.ptr) {
llvm.func @helper(%x: !llvm.ptr) {
  llvm.return
}
// CHECK: llvm.func @statement1(!llvm.ptr)
llvm.func @statement1(!llvm.ptr)
