// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-cache-registers{vl=4}))' --verify-diagnostics | FileCheck %s

// A row of C, which the entries of a row of A update: six elements are one vector and a masked one, which the loop carries.
// CHECK-LABEL: func.func @updated(
// CHECK-SAME: %[[B:[^:]*]]: memref<?xf64>, %[[C:[^:]*]]: memref<?xf64> {tulle.name = "C"}
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[ROW:.*]] = arith.muli %[[I]]
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %[[OLD:.*]] = vector.load %[[C]]
// CHECK: %[[MORE:.*]] = vector.maskedload %[[C]][%{{.*}}], %[[MASK]]
// CHECK: %[[NEW:.*]]:2 = scf.for %[[P:.*]] = {{.*}} iter_args(%{{.*}} = %[[OLD]], %{{.*}} = %[[MORE]])
// CHECK-NOT: %[[C]]
// CHECK: vector.load %[[B]]
// CHECK: vector.maskedload %[[B]]
// CHECK: scf.yield
// CHECK: } {tulle.loop = #tulle.loop<reduction, index = j>}
// CHECK: vector.store %[[NEW]]#0, %[[C]]
// CHECK: vector.maskedstore %[[C]][%{{.*}}], %[[MASK]], %[[NEW]]#1
// CHECK: } {tulle.loop = #tulle.loop<parallel, index = i>}
func.func @updated(%B: memref<?xf64>, %C: memref<?xf64> {tulle.name = "C"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.muli %i, %c6 : index
    scf.for %p = %c0 to %m step %c1 {
      %other = arith.muli %p, %c6 : index
      scf.for %k = %c0 to %c6 step %c1 {
        %at = arith.addi %row, %k : index
        %from = arith.addi %other, %k : index
        %c = memref.load %C[%at] : memref<?xf64>
        %b = memref.load %B[%from] : memref<?xf64>
        %s = arith.addf %c, %b : f64
        memref.store %s, %C[%at] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel, index = k>}
    } {tulle.loop = #tulle.loop<reduction, index = j>}
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <cache = {C = #tulle<cache_place registers>}>>}
  return
}

// -----

// Where no iteration runs, the first element of a segment need not exist.
func.func @segment(%pos: memref<?xi32>, %B: memref<?xf64> {tulle.name = "B"}, %C: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{registers hold nothing of B in the loop over i: its address is read from memory, and without an iteration there may be no such element}}
  scf.for %i = %c0 to %n step %c1 {
    %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
    scf.for %p = %begin to %end step %c1 {
      %b = memref.load %B[%begin] : memref<?xf64>
      memref.store %b, %C[%p] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = j>}
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <cache = {B = #tulle<cache_place registers>}>>}
  return
}

// -----

// Two elements that may be one: what the one is stored to, the other may be.
func.func @overlap(%C: memref<?xf64> {tulle.name = "C"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{registers hold nothing of C in the loop over i: it is updated at addresses that may be the same}}
  scf.for %i = %c0 to %n step %c1 {
    scf.for %p = %c0 to %m step %c1 {
      %x = memref.load %C[%i] : memref<?xf64>
      memref.store %x, %C[%n] : memref<?xf64>
    } {tulle.loop = #tulle.loop<reduction, index = j>}
  } {tulle.loop = #tulle.loop<reduction, index = i, directives = <cache = {C = #tulle<cache_place registers>}>>}
  return
}
