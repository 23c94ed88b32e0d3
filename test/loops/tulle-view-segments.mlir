// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-view-segments))' | FileCheck %s

// Rows from an offset on are the rows of a view.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %{{[a-z0-9]*}}: memref<?xf64>, %{{[a-z0-9]*}}: memref<?xf64>, %[[FROM:[a-z0-9]*]]: index
// CHECK: %[[ALL:.*]] = memref.dim %[[POS]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[ALL]], %[[FROM]]
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %[[POS]] to offset: [%[[FROM]]], sizes: [%[[LEFT]]], strides: [1]
// CHECK: scf.for %[[I:.*]] =
// CHECK: tulle.segment %[[ROWS]][%[[I]]]
func.func @rows(%pos: memref<?xi32>, %a: memref<?xf64>, %y: memref<?xf64>, %from: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.addi %i, %from : index
    %begin, %end = tulle.segment %pos[%row] : memref<?xi32>
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %v = memref.load %a[%p] : memref<?xf64>
      %t = arith.addf %s, %v : f64
      scf.yield %t : f64
    }
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  return
}

// Rows that are apart, or whose offset is the loop's own, are not.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: memref.reinterpret_cast
// CHECK: return
func.func @apart(%pos: memref<?xi32>, %a: memref<?xf64>, %y: memref<?xf64>, %step: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %apart = arith.muli %i, %step : index
    %twice = arith.addi %i, %i : index
    %first, %second = tulle.segment %pos[%apart] : memref<?xi32>
    %begin, %end = tulle.segment %pos[%twice] : memref<?xi32>
    %length = arith.subi %end, %first : index
    %sum = scf.for %p = %begin to %length step %c1 iter_args(%s = %zero) -> (f64) {
      %v = memref.load %a[%p] : memref<?xf64>
      %t = arith.addf %s, %v : f64
      scf.yield %t : f64
    }
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  return
}
