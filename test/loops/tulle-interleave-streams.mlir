// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-interleave-streams,canonicalize))' --split-input-file | FileCheck %s

// Rows first … last - 1 with blocks of 128 bytes: where they have more than 8 MiB of them, round t is row t / 2 of the first half, or of
// the second one.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[FIRST:[a-z0-9]*]]: index, %[[LAST:[a-z0-9]*]]: index)
// CHECK: %[[COUNT:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK: %[[MORE:.*]] = arith.addi %[[COUNT]], %c1
// CHECK: %[[HALF:.*]] = arith.shrui %[[MORE]], %c1
// CHECK: %[[LARGE:.*]] = scf.if
// CHECK:   memref.load %[[POS]][%[[FIRST]]]
// CHECK:   %[[BLOCKS:.*]] = arith.subi
// CHECK:   arith.cmpi sgt, %[[BLOCKS]], %c65536
// CHECK: scf.for %[[T:.*]] = %c0 to %[[COUNT]]
// CHECK:   %[[PLACE:.*]] = arith.shrui %[[T]], %c1
// CHECK:   %[[REST:.*]] = arith.remui %[[T]], %c2
// CHECK:   %[[SECOND:.*]] = arith.cmpi ne, %[[REST]], %c0
// CHECK:   %[[BASE:.*]] = arith.select %[[SECOND]], %[[HALF]], %c0
// CHECK:   %[[TURN:.*]] = arith.addi %[[PLACE]], %[[BASE]]
// CHECK:   %[[AT:.*]] = arith.select %[[LARGE]], %[[TURN]], %[[T]]
// CHECK:   %[[ROW:.*]] = arith.addi %[[FIRST]], %[[AT]]
// CHECK:   memref.load %[[POS]][%[[ROW]]]
// CHECK:   memref.store %{{.*}}, %[[Y]][%[[ROW]]]
func.func @blocks(%pos: memref<?xi32>, %a: memref<?xf64>, %y: memref<?xf64>, %first: index, %last: index) {
  %zero = arith.constant 0.0 : f64
  %c1 = arith.constant 1 : index
  scf.for %i = %first to %last step %c1 {
    %b = memref.load %pos[%i] : memref<?xi32>
    %begin = arith.index_castui %b : i32 to index
    %next = arith.addi %i, %c1 : index
    %e = memref.load %pos[%next] : memref<?xi32>
    %end = arith.index_castui %e : i32 to index
    %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %v = memref.load %a[%k] : memref<?xf64>
      %t = arith.addf %s, %v : f64
      scf.yield %t : f64
    } {tulle.block_bytes = 128 : i64}
    memref.store %sum, %y[%i] : memref<?xf64>
  } {tulle.kind = "parallel"}
  return
}

// -----

// Rounds that add to the same place keep their order.
// CHECK-LABEL: func.func @ordered
// CHECK-NOT: arith.remui
func.func @ordered(%pos: memref<?xi32>, %a: memref<?xf64>, %y: memref<?xf64>, %first: index, %last: index) {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %first to %last step %c1 {
    %b = memref.load %pos[%i] : memref<?xi32>
    %begin = arith.index_castui %b : i32 to index
    %next = arith.addi %i, %c1 : index
    %e = memref.load %pos[%next] : memref<?xi32>
    %end = arith.index_castui %e : i32 to index
    %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %v = memref.load %a[%k] : memref<?xf64>
      %t = arith.addf %s, %v : f64
      scf.yield %t : f64
    } {tulle.block_bytes = 128 : i64}
    memref.store %sum, %y[%c0] : memref<?xf64>
  } {tulle.kind = "reduction"}
  return
}

// -----

// Loops of which nothing says that they are over blocks.
// CHECK-LABEL: func.func @no_bytes
// CHECK-NOT: arith.remui
func.func @no_bytes(%pos: memref<?xi32>, %a: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.load %pos[%i] : memref<?xi32>
    %begin = arith.index_castui %b : i32 to index
    %next = arith.addi %i, %c1 : index
    %e = memref.load %pos[%next] : memref<?xi32>
    %end = arith.index_castui %e : i32 to index
    %sum = scf.for %k = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %v = memref.load %a[%k] : memref<?xf64>
      %t = arith.addf %s, %v : f64
      scf.yield %t : f64
    }
    %more = scf.for %k = %begin to %end step %c1 iter_args(%s = %sum) -> (f64) {
      %v = memref.load %a[%k] : memref<?xf64>
      %t = arith.addf %s, %v : f64
      scf.yield %t : f64
    }
    memref.store %more, %y[%i] : memref<?xf64>
  } {tulle.kind = "parallel"}
  return
}
