// RUN: tulle-opt %s --tulle-expand-segments | FileCheck %s

// Both bounds of a iterated segment are loaded.
// CHECK-LABEL: @iterated
// CHECK-SAME: %[[POS:.*]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[I:.*]]: index
// CHECK: %[[B32:.*]] = memref.load %[[POS]][%[[I]]]
// CHECK: %[[B:.*]] = arith.index_castui %[[B32]] : i32 to index
// CHECK: %[[N:.*]] = arith.addi %[[I]], %{{.*}} overflow<nsw, nuw>
// CHECK: %[[E32:.*]] = memref.load %[[POS]][%[[N]]]
// CHECK: %[[E:.*]] = arith.index_castui %[[E32]] : i32 to index
// CHECK: scf.for %{{.*}} = %[[B]] to %[[E]]
func.func @iterated(%pos: memref<?xi32>, %y: memref<?xf64>, %i: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
  scf.for %q = %begin to %end step %c1 {
    memref.store %zero, %y[%q] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// A bound that is not used is not loaded.
// CHECK-LABEL: @begin
// CHECK: memref.load
// CHECK-NOT: memref.load
// CHECK: return
func.func @begin(%pos: memref<?xi64>, %i: index) -> index {
  %begin, %end = tulle.segment %pos[%i] : memref<?xi64>
  return %begin : index
}
