// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles))' | FileCheck %s

// A row of C, updated by every entry of a row of A: tiles of eight and of two vectors, then what is left.
// CHECK-LABEL: func.func @spmm_row
// CHECK-SAME: %[[C:[a-z0-9]*]]: memref<?xf64>, %[[BASE:[a-z0-9]*]]: index, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[T:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}}) -> (index)
// CHECK-COUNT-8: vector.load %[[C]][%{{.*}}] : memref<?xf64>, vector<4xf64>
// CHECK: %[[R:.*]]:8 = scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK-COUNT-8: arith.addf %{{.*}} : vector<4xf64>
// CHECK-NOT: %[[C]]
// CHECK: scf.yield
// CHECK-COUNT-8: vector.store %{{.*}}, %[[C]]
// CHECK: scf.for %{{.*}} = %[[T]] to
// CHECK-COUNT-2: vector.load %[[C]]
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: scf.for %{{.*}} to %[[N]]
// CHECK: memref.store %{{.*}}, %[[C]]
func.func @spmm_row(%crd: memref<?xi32>, %val: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %base: index, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %row = arith.muli %j, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %bi = arith.addi %row, %k : index
      %bv = memref.load %b[%bi] : memref<?xf64>
      %ci = arith.addi %base, %k : index
      %cv = memref.load %c[%ci] : memref<?xf64>
      %m = arith.mulf %a, %bv : f64
      %s = arith.addf %cv, %m : f64
      memref.store %s, %c[%ci] : memref<?xf64>
    } {tulle.kind = "parallel"}
  } {tulle.kind = "reduction"}
  return
}

// Every step writes another row: nothing to keep.
// CHECK-LABEL: func.func @scatter_rows
// CHECK-NOT: vector.
// CHECK: return
func.func @scatter_rows(%crd: memref<?xi32>, %b: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %row = arith.muli %j, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %bv = memref.load %b[%k] : memref<?xf64>
      %ci = arith.addi %row, %k : index
      %cv = memref.load %c[%ci] : memref<?xf64>
      %s = arith.addf %cv, %bv : f64
      memref.store %s, %c[%ci] : memref<?xf64>
    } {tulle.kind = "parallel"}
  } {tulle.kind = "reduction"}
  return
}

// The entry's factor is read from C itself: it may be an element of the tile.
// CHECK-LABEL: func.func @reads_its_result
// CHECK-NOT: vector.
// CHECK: return
func.func @reads_its_result(%c: memref<?xf64>, %base: index, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %a = memref.load %c[%p] : memref<?xf64>
    scf.for %k = %c0 to %n step %c1 {
      %ci = arith.addi %base, %k : index
      %cv = memref.load %c[%ci] : memref<?xf64>
      %s = arith.addf %cv, %a : f64
      memref.store %s, %c[%ci] : memref<?xf64>
    } {tulle.kind = "parallel"}
  } {tulle.kind = "reduction"}
  return
}
