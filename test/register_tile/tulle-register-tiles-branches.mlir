// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles{factors=true}))' | FileCheck %s

// A row of C, updated by the entries of a row of A that are no padding: the tile stays in registers, and an entry that is padding leaves
// it as it is. What later entries select is prefetched, padding or not.
// CHECK-LABEL: func.func @padded_row
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>
// CHECK: scf.for %{{.*}} iter_args(%{{.*}}) -> (index)
// CHECK-COUNT-4: vector.load %[[C]][%{{.*}}] : memref<?xf64>, vector<8xf64>
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} iter_args(%[[T0:.*]] = %{{.*}}, %[[T1:.*]] = %{{.*}}, %[[T2:.*]] = %{{.*}}, %[[T3:.*]] = %{{.*}})
// CHECK: %[[J32:.*]] = memref.load %[[CRD]][%[[P]]]
// CHECK: %[[STORED:.*]] = arith.cmpi ne, %[[J32]]
// CHECK: memref.prefetch %[[B]]
// CHECK: %[[NEW:.*]]:4 = scf.if %[[STORED]]
// CHECK: memref.load %[[VAL]][%[[P]]]
// CHECK-COUNT-4: vector.load %[[B]][%{{.*}}] : memref<?xf64>, vector<8xf64>
// CHECK: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[T0]], %[[T1]], %[[T2]], %[[T3]]
// CHECK: scf.yield %[[NEW]]#0, %[[NEW]]#1, %[[NEW]]#2, %[[NEW]]#3
// CHECK-COUNT-4: vector.store %{{.*}}, %[[C]]
// CHECK: vector.maskedload %[[C]]
// CHECK: scf.if
// CHECK: vector.maskedload %[[B]]
// CHECK: vector.maskedstore %[[C]]
// CHECK-NOT: memref.store
// CHECK: return
func.func @padded_row(%crd: memref<?xi32>, %val: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %base: index, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant -1 : i32
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %stored = arith.cmpi ne, %j32, %none : i32
    %j = arith.index_castui %j32 : i32 to index
    scf.if %stored {
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
    }
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Where no entry is stored, the row need not exist: nothing of it may be loaded.
// CHECK-LABEL: func.func @row_of_a_new_tensor
// CHECK-NOT: vector.
// CHECK: return
func.func @row_of_a_new_tensor(%crd: memref<?xi32>, %val: memref<?xf64>, %pos: memref<?xi64>, %size: index, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant -1 : i32
  %c = memref.alloc(%size) : memref<?xf64>
  %base64 = memref.load %pos[%c0] : memref<?xi64>
  %base = arith.index_cast %base64 : i64 to index
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %stored = arith.cmpi ne, %j32, %none : i32
    scf.if %stored {
      %a = memref.load %val[%p] : memref<?xf64>
      scf.for %k = %c0 to %n step %c1 {
        %ci = arith.addi %base, %k : index
        %cv = memref.load %c[%ci] : memref<?xf64>
        %s = arith.addf %cv, %a : f64
        memref.store %s, %c[%ci] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    }
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// A factor of the row is not taken out of the sum: it may be infinite, and there may be no entry.
// CHECK-LABEL: func.func @factor
// CHECK-NOT: dense<0.000000e+00> : vector<8xf64>
// CHECK: return
func.func @factor(%pos: memref<?xi32>, %crd: memref<?xi32>, %b: memref<?xf64>, %d: memref<?xf64>, %c: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant -1 : i32
  scf.for %p = %c0 to %n step %c1 {
    %drow = arith.muli %p, %n : index
    %begin, %end = tulle.segment %pos[%p] : memref<?xi32>
    scf.for %q = %begin to %end step %c1 {
      %j32 = memref.load %crd[%q] : memref<?xi32>
      %stored = arith.cmpi ne, %j32, %none : i32
      %j = arith.index_castui %j32 : i32 to index
      scf.if %stored {
        %brow = arith.muli %j, %n : index
        scf.for %k = %c0 to %n step %c1 {
          %bi = arith.addi %brow, %k : index
          %bv = memref.load %b[%bi] : memref<?xf64>
          %di = arith.addi %drow, %k : index
          %dv = memref.load %d[%di] : memref<?xf64>
          %cv = memref.load %c[%k] : memref<?xf64>
          %m = arith.mulf %dv, %bv fastmath<reassoc> : f64
          %s = arith.addf %cv, %m fastmath<reassoc> : f64
          memref.store %s, %c[%k] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      }
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
