// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s

// Segments of stored entries are short, and a division takes long: masked vectors, and no epilogue.
// CHECK-LABEL: func.func @divide(
// CHECK-SAME: %[[POS:.*]]: memref<?xi32>, %[[A:.*]]: memref<?xf64>, %[[C:.*]]: memref<?xf64>, %[[I:.*]]: index, %[[D:.*]]: f64)
// CHECK: scf.for %[[P:.*]] = %[[LO:.*]] to %[[HI:.*]] step %c{{[48]}}
// CHECK:   %[[LEFT:.*]] = arith.subi %[[HI]], %[[P]]
// CHECK:   %[[ON:.*]] = vector.create_mask
// CHECK:   %[[V:.*]] = vector.maskedload %[[A]][%[[P]]], %[[ON]]
// CHECK:   %[[Q:.*]] = arith.divf %[[V]]
// CHECK:   vector.maskedstore %[[C]][%[[P]]], %[[ON]], %[[Q]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @divide(%pos: memref<?xi32>, %a: memref<?xf64>, %c: memref<?xf64>, %i: index, %d: f64) {
  %c1 = arith.constant 1 : index
  %lo32 = memref.load %pos[%i] : memref<?xi32>
  %lo = arith.index_castui %lo32 : i32 to index
  %i1 = arith.addi %i, %c1 : index
  %hi32 = memref.load %pos[%i1] : memref<?xi32>
  %hi = arith.index_castui %hi32 : i32 to index
  scf.for %p = %lo to %hi step %c1 {
    %v = memref.load %a[%p] : memref<?xf64>
    %q = arith.divf %v, %d : f64
    memref.store %q, %c[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// A body as cheap as its loads is left to LLVM.
// CHECK-LABEL: func.func @scale(
// CHECK-NOT: vector.
// CHECK: return
func.func @scale(%pos: memref<?xi32>, %a: memref<?xf64>, %c: memref<?xf64>, %i: index, %d: f64) {
  %c1 = arith.constant 1 : index
  %lo32 = memref.load %pos[%i] : memref<?xi32>
  %lo = arith.index_castui %lo32 : i32 to index
  %i1 = arith.addi %i, %c1 : index
  %hi32 = memref.load %pos[%i1] : memref<?xi32>
  %hi = arith.index_castui %hi32 : i32 to index
  scf.for %p = %lo to %hi step %c1 {
    %v = memref.load %a[%p] : memref<?xf64>
    %q = arith.mulf %v, %d : f64
    memref.store %q, %c[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
