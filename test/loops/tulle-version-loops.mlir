// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-version-loops,tulle-register-tiles))' | FileCheck %s

// SpMM: whether a row of C is one tile (a vector of 256 bits of f64, a cache line, two) or less than a vector is tested once, and the loop over
// rows has versions for that. There the row is whole vectors, or a masked one; no loop tests for tiles.
// CHECK-LABEL: func.func @spmm
// CHECK-SAME: %[[C:[a-z0-9]*]]: memref<?xf64>, %[[ROWS:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[N]], %[[FOUR]]
// CHECK: scf.if %[[ONE]] {
// CHECK:   scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK-NOT: create_mask
// CHECK:     vector.load %[[C]]
// CHECK:     scf.for {{.*}} -> (vector<4xf64>)
// CHECK-NOT: maskedload
// CHECK:     vector.store %{{.*}}, %[[C]]
// CHECK-NOT: scf.for
// CHECK: } else {
// CHECK: %[[EIGHT:.*]] = arith.cmpi eq, %[[N]], %c8
// CHECK: scf.if %[[EIGHT]] {
// CHECK:   scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK:     vector.load %[[C]]{{.*}} vector<8xf64>
// CHECK:     scf.for {{.*}} -> (vector<8xf64>)
// CHECK: } else {
// CHECK: %[[SIXTEEN:.*]] = arith.cmpi eq, %[[N]], %c16
// CHECK: scf.if %[[SIXTEEN]] {
// CHECK:   scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK-COUNT-2: vector.load %[[C]]{{.*}} vector<8xf64>
// CHECK:     scf.for {{.*}} -> (vector<8xf64>, vector<8xf64>)
// CHECK-COUNT-2: vector.store %{{.*}}, %[[C]]
// CHECK-NOT: scf.for
// CHECK: } else {
// CHECK: %[[SHORT:.*]] = arith.cmpi slt, %[[N]], %[[FOUR]]
// CHECK: scf.if %[[SHORT]] {
// CHECK:   %[[MOST:.*]] = arith.minsi %[[N]], %[[FOUR]]
// CHECK:   scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK-NOT: scf.for
// CHECK:     vector.create_mask %{{.*}} : vector<4xi1>
// CHECK-NOT: scf.for
// CHECK:     vector.maskedload %[[C]]
// CHECK:     scf.for {{.*}} -> (vector<4xf64>)
// CHECK-NOT: scf.for
// CHECK:     vector.maskedstore %[[C]]
// CHECK: } else {
// CHECK:     vector.load %[[C]]{{.*}} vector<8xf64>
func.func @spmm(%pos: memref<?xi32>, %crd: memref<?xi32>, %val: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %base = arith.muli %i, %n : index
    %lo, %hi = tulle.segment %pos[%i] : memref<?xi32>
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
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// The trip count is known, or no loop is around: nothing to test once for all rows.
// CHECK-LABEL: func.func @known
// CHECK-NOT: arith.cmpi sle
// CHECK: return
func.func @known(%crd: memref<?xi32>, %b: memref<?xf64>, %c: memref<?xf64>, %rows: index, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %rows step %c1 {
    %base = arith.muli %i, %c3 : index
    scf.for %p = %lo to %hi step %c1 {
      %j32 = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %row = arith.muli %j, %c3 : index
      scf.for %k = %c0 to %c3 step %c1 {
        %bi = arith.addi %row, %k : index
        %bv = memref.load %b[%bi] : memref<?xf64>
        %ci = arith.addi %base, %k : index
        %cv = memref.load %c[%ci] : memref<?xf64>
        %s = arith.addf %cv, %bv : f64
        memref.store %s, %c[%ci] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %row = arith.muli %j, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %bi = arith.addi %row, %k : index
      %bv = memref.load %b[%bi] : memref<?xf64>
      %cv = memref.load %c[%k] : memref<?xf64>
      %s = arith.addf %cv, %bv : f64
      memref.store %s, %c[%k] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
