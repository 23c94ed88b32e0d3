// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize,canonicalize))' | FileCheck %s

// Positions say how many entries all fibers have: where those are fewer than a vector has elements in the mean, a copy of the nest runs
// that has no vectors.
// CHECK-LABEL: func.func @ttv
// CHECK-SAME: %[[POS0:[a-z0-9]*]]: memref<?xi32>, %[[POS1:[a-z0-9]*]]: memref<?xi32>
// CHECK: %[[BEGIN:.*]], %[[END:.*]] = tulle.segment %[[POS0]][%c0]
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK: %[[SHORT:.*]] = scf.if %[[SOME]]
// CHECK:   %[[AT:.*]] = memref.load %[[POS1]][%[[BEGIN]]]
// CHECK:   %[[FIRST:.*]] = arith.index_castui %[[AT]]
// CHECK:   %[[LAST:.*]] = memref.load %[[POS1]][%[[END]]]
// CHECK:   %[[BEHIND:.*]] = arith.index_castui %[[LAST]]
// CHECK:   %[[ENTRIES:.*]] = arith.subi %[[BEHIND]], %[[FIRST]]
// CHECK:   %[[FIBERS:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:   %[[MOST:.*]] = arith.muli %[[FIBERS]], %c4
// CHECK:   arith.cmpi slt, %[[ENTRIES]], %[[MOST]]
// CHECK: scf.if %[[SHORT]] {
// CHECK-NOT: vector
// CHECK: } else {
// CHECK: vector.gather
// CHECK: return

// Rows of a dense level are as many as the dimension has coordinates: nothing is known of those that store something.
// CHECK-LABEL: func.func @spmv
// CHECK: vector.gather
// CHECK: memref.store
// CHECK-NOT: memref.store
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
  func.func @ttv(%pos0: memref<?xi32>, %pos1: memref<?xi32>, %crd0: memref<?xi32>, %crd1: memref<?xi32>, %a: memref<?xf64>,
                 %x: memref<?xf64>, %y: memref<?xf64>) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %begin, %end = tulle.segment %pos0[%c0] : memref<?xi32>
    scf.for %f = %begin to %end step %c1 {
      %j32 = memref.load %crd0[%f] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %lower, %upper = tulle.segment %pos1[%f] : memref<?xi32>
      %sum = scf.for %p = %lower to %upper step %c1 iter_args(%s = %zero) -> (f64) {
        %k32 = memref.load %crd1[%p] : memref<?xi32>
        %k = arith.index_castui %k32 : i32 to index
        %va = memref.load %a[%p] : memref<?xf64>
        %vx = memref.load %x[%k] : memref<?xf64>
        %m = arith.mulf %va, %vx fastmath<reassoc,contract> : f64
        %n = arith.addf %s, %m fastmath<reassoc,contract> : f64
        scf.yield %n : f64
      }
      memref.store %sum, %y[%j] : memref<?xf64>
    }
    return
  }

  func.func @spmv(%pos: memref<?xi32>, %crd: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %rows: index) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %rows step %c1 {
      %lower, %upper = tulle.segment %pos[%i] : memref<?xi32>
      %sum = scf.for %p = %lower to %upper step %c1 iter_args(%s = %zero) -> (f64) {
        %k32 = memref.load %crd[%p] : memref<?xi32>
        %k = arith.index_castui %k32 : i32 to index
        %va = memref.load %a[%p] : memref<?xf64>
        %vx = memref.load %x[%k] : memref<?xf64>
        %m = arith.mulf %va, %vx fastmath<reassoc,contract> : f64
        %n = arith.addf %s, %m fastmath<reassoc,contract> : f64
        scf.yield %n : f64
      }
      memref.store %sum, %y[%i] : memref<?xf64>
    }
    return
  }
}
