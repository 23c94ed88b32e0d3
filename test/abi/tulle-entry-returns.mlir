// RUN: tulle-opt %s --finalize-memref-to-llvm='use-generic-functions=true' --convert-to-llvm --reconcile-unrealized-casts --tulle-noalias --tulle-entry --split-input-file | FileCheck %s

// New memory comes from the caller and aliases nothing. One index takes slot 0; the two memrefs come back in 1 to 5 and 6 to 10.
// CHECK: llvm.func @_mlir_memref_to_llvm_alloc(i64) -> (!llvm.ptr {llvm.noalias})
// CHECK-LABEL: llvm.func @statement0_entry(
// CHECK-SAME: %[[SLOTS:.*]]: !llvm.ptr)
// CHECK: %[[R:.*]] = llvm.call @statement0(
// CHECK: %[[ALLOCATED:.*]] = llvm.extractvalue %[[R]][0, 0]
// CHECK: %[[AT1:.*]] = llvm.getelementptr %[[SLOTS]][1]
// CHECK: llvm.store %[[ALLOCATED]], %[[AT1]]
// CHECK: %[[COUNT:.*]] = llvm.extractvalue %[[R]][0, 3, 0]
// CHECK: %[[AT4:.*]] = llvm.getelementptr %[[SLOTS]][4]
// CHECK: llvm.store %[[COUNT]], %[[AT4]]
// CHECK: %[[SECOND:.*]] = llvm.extractvalue %[[R]][1, 1]
// CHECK: %[[AT7:.*]] = llvm.getelementptr %[[SLOTS]][7]
// CHECK: llvm.store %[[SECOND]], %[[AT7]]
// CHECK: llvm.getelementptr %[[SLOTS]][10]
func.func @statement0(%n: index) -> (memref<?xi32>, memref<?xf64>) {
  %a = memref.alloc(%n) : memref<?xi32>
  %b = memref.alloc(%n) : memref<?xf64>
  return %a, %b : memref<?xi32>, memref<?xf64>
}

// -----

// One alone is no struct of structs.
// CHECK-LABEL: llvm.func @statement0_entry(
// CHECK-SAME: %[[SLOTS:.*]]: !llvm.ptr)
// CHECK: %[[R:.*]] = llvm.call @statement0(
// CHECK: llvm.extractvalue %[[R]][0]
// CHECK: llvm.getelementptr %[[SLOTS]][1]
// CHECK: llvm.extractvalue %[[R]][4, 0]
// CHECK: llvm.getelementptr %[[SLOTS]][5]
func.func @statement0(%n: index) -> memref<?xi32> {
  %a = memref.alloc(%n) : memref<?xi32>
  return %a : memref<?xi32>
}
