// RUN: tulle-opt %s --tulle-coalesce-segments --split-input-file | FileCheck %s

// Counting the entries of each column: the body does not depend on the row.
// CHECK-LABEL: func.func @count
// CHECK-SAME: %[[POS:.*]]: memref<?xi32>, %[[CRD:.*]]: memref<?xi32>, %[[COUNTS:.*]]: memref<?xi32>, %[[ROWS:.*]]: index
// CHECK: %[[C0:.*]] = arith.constant 0
// CHECK: %[[BEGIN:.*]], %{{.*}} = tulle.segment %[[POS]][%[[C0]]]
// CHECK: %[[END:.*]], %{{.*}} = tulle.segment %[[POS]][%[[ROWS]]]
// CHECK: scf.for %[[K:.*]] = %[[BEGIN]] to %[[END]] step
// CHECK-NEXT: memref.load %[[CRD]][%[[K]]]
// CHECK: } {tulle.loop = #tulle.loop<reduction>}
// CHECK-NOT: scf.for
func.func @count(%pos: memref<?xi32>, %crd: memref<?xi32>, %counts: memref<?xi32>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %rows step %c1 {
    %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
    scf.for %k = %begin to %end step %c1 {
      %c = memref.load %crd[%k] : memref<?xi32>
      %j = arith.index_castui %c : i32 to index
      %n = memref.load %counts[%j] : memref<?xi32>
      %m = arith.addi %n, %one : i32
      memref.store %m, %counts[%j] : memref<?xi32>
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// A sum over three levels, for the rows of one partition: there may be none, and then the first need not exist.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[POS1:.*]]: memref<?xi64>, %[[POS2:.*]]: memref<?xi64>, %[[VALUES:.*]]: memref<?xf64>, %[[LO:.*]]: index, %[[HI:.*]]: index
// CHECK: %[[FIRST:.*]] = arith.minui %[[LO]], %[[HI]]
// CHECK: %[[B1:.*]], %{{.*}} = tulle.segment %[[POS1]][%[[FIRST]]]
// CHECK: %[[E1:.*]], %{{.*}} = tulle.segment %[[POS1]][%[[HI]]]
// CHECK: %[[FIRST2:.*]] = arith.minui %[[B1]], %[[E1]]
// CHECK: %[[B2:.*]], %{{.*}} = tulle.segment %[[POS2]][%[[FIRST2]]]
// CHECK: %[[E2:.*]], %{{.*}} = tulle.segment %[[POS2]][%[[E1]]]
// CHECK: %[[SUM:.*]] = scf.for %[[L:.*]] = %[[B2]] to %[[E2]] step %{{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (f64)
// CHECK-NEXT: %[[V:.*]] = memref.load %[[VALUES]][%[[L]]]
// CHECK-NEXT: %[[T:.*]] = arith.addf %[[S]], %[[V]]
// CHECK-NEXT: scf.yield %[[T]]
// CHECK: return %[[SUM]]
func.func @sum(%pos1: memref<?xi64>, %pos2: memref<?xi64>, %values: memref<?xf64>, %lo: index, %hi: index) -> f64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %all = scf.for %i = %lo to %hi step %c1 iter_args(%s1 = %zero) -> (f64) {
    %b1, %e1 = tulle.segment %pos1[%i] : memref<?xi64>
    %r1 = scf.for %k = %b1 to %e1 step %c1 iter_args(%s2 = %s1) -> (f64) {
      %b2, %e2 = tulle.segment %pos2[%k] : memref<?xi64>
      %r2 = scf.for %l = %b2 to %e2 step %c1 iter_args(%s3 = %s2) -> (f64) {
        %v = memref.load %values[%l] : memref<?xf64>
        %t = arith.addf %s3, %v : f64
        scf.yield %t : f64
      } {tulle.loop = #tulle.loop<reduction>}
      scf.yield %r2 : f64
    } {tulle.loop = #tulle.loop<reduction>}
    scf.yield %r1 : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %all : f64
}

// -----

// The row is stored; and here the positions are written: neither is coalesced.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-4: scf.for
func.func @kept(%pos: memref<?xi64>, %own: memref<?xi64>, %out: memref<?xindex>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %begin, %end = tulle.segment %pos[%i] : memref<?xi64>
    scf.for %k = %begin to %end step %c1 {
      memref.store %i, %out[%k] : memref<?xindex>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %i = %c0 to %rows step %c1 {
    %begin, %end = tulle.segment %own[%i] : memref<?xi64>
    scf.for %k = %begin to %end step %c1 {
      %k64 = arith.index_castui %k : index to i64
      memref.store %k64, %own[%k] : memref<?xi64>
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
