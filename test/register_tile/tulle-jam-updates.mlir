// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-jam-updates))' | FileCheck %s

// A sampled product, a row at a time. Four columns of A are added to each element of X at once: it is loaded and stored once, and so are the
// coordinate and the value of S. What is left of the columns is added one by one.
// CHECK-LABEL: func.func @sampled(
// CHECK-SAME: %[[POS:[^:]*]]: memref<?xi32>, %[[CRD:[^:]*]]: memref<?xi32>, %[[S:[^:]*]]: memref<?xf64>, %[[A:[^:]*]]: memref<?xf64>, %[[B:[^:]*]]: memref<?xf64>, %[[X:[^:]*]]: memref<?xf64>
// CHECK: %[[DONE:.*]] = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4{{.*}} iter_args
// CHECK-COUNT-4: memref.load %[[A]]
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK: %[[C:.*]] = memref.load %[[CRD]][%[[P]]]
// CHECK: memref.load %[[S]][%[[P]]]
// CHECK: memref.load %[[B]]
// CHECK: %[[OLD:.*]] = memref.load %[[X]]
// CHECK: %[[X0:.*]] = arith.addf %[[OLD]]
// CHECK-NOT: memref.load %[[S]]
// CHECK: memref.load %[[B]]
// CHECK: %[[X1:.*]] = arith.addf %[[X0]]
// CHECK: memref.load %[[B]]
// CHECK: %[[X2:.*]] = arith.addf %[[X1]]
// CHECK: memref.load %[[B]]
// CHECK: %[[X3:.*]] = arith.addf %[[X2]]
// CHECK-NOT: memref.load
// CHECK: memref.store %[[X3]], %[[X]]
// CHECK-NEXT: } {tulle.loop = #tulle.loop<parallel, index = j>}
// CHECK: scf.for %{{.*}} = %[[DONE]] to %{{.*}} step %c1
// CHECK: tulle.loop = #tulle.loop<reduction, index = k>
func.func @sampled(%pos: memref<?xi32>, %crd: memref<?xi32>, %S: memref<?xf64>, %A: memref<?xf64>, %B: memref<?xf64>, %X: memref<?xf64>, %i: index, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %m step %c1 {
    %a = memref.load %A[%k] : memref<?xf64>
    %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
    %row = arith.muli %k, %n : index
    scf.for %p = %begin to %end step %c1 {
      %c = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %c : i32 to index
      %s = memref.load %S[%p] : memref<?xf64>
      %at = arith.addi %row, %j : index
      %b = memref.load %B[%at] : memref<?xf64>
      %old = memref.load %X[%j] : memref<?xf64>
      %sa = arith.mulf %s, %a : f64
      %sab = arith.mulf %sa, %b : f64
      %new = arith.addf %old, %sab : f64
      memref.store %new, %X[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = j>}
  } {tulle.loop = #tulle.loop<reduction, index = k>}
  return
}

// Each column has a segment of its own, and so the loops inside have nothing in common.
// CHECK-LABEL: func.func @columns(
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: return
func.func @columns(%pos: memref<?xi32>, %crd: memref<?xi32>, %S: memref<?xf64>, %A: memref<?xf64>, %X: memref<?xf64>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %m step %c1 {
    %a = memref.load %A[%k] : memref<?xf64>
    %begin, %end = tulle.segment %pos[%k] : memref<?xi32>
    scf.for %p = %begin to %end step %c1 {
      %c = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %c : i32 to index
      %s = memref.load %S[%p] : memref<?xf64>
      %old = memref.load %X[%j] : memref<?xf64>
      %sa = arith.mulf %s, %a : f64
      %new = arith.addf %old, %sa : f64
      memref.store %new, %X[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = j>}
  } {tulle.loop = #tulle.loop<reduction, index = k>}
  return
}

// What is added is read from the result: each column needs what the one before has stored in another element.
// CHECK-LABEL: func.func @reads_result(
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: return
func.func @reads_result(%pos: memref<?xi32>, %crd: memref<?xi32>, %X: memref<?xf64>, %i: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %m step %c1 {
    %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
    %a = memref.load %X[%k] : memref<?xf64>
    scf.for %p = %begin to %end step %c1 {
      %c = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %c : i32 to index
      %old = memref.load %X[%j] : memref<?xf64>
      %new = arith.addf %old, %a : f64
      memref.store %new, %X[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = j>}
  } {tulle.loop = #tulle.loop<reduction, index = k>}
  return
}

// A schedule says what a loop is: it stays.
// CHECK-LABEL: func.func @scheduled(
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: return
func.func @scheduled(%pos: memref<?xi32>, %A: memref<?xf64>, %X: memref<?xf64>, %i: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %m step %c1 {
    %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
    %a = memref.load %A[%k] : memref<?xf64>
    scf.for %p = %begin to %end step %c1 {
      %old = memref.load %X[%p] : memref<?xf64>
      %new = arith.addf %old, %a : f64
      memref.store %new, %X[%p] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = j, directives = <vectorize = 1>>}
  } {tulle.loop = #tulle.loop<reduction, index = k>}
  return
}
