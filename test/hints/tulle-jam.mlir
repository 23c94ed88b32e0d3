// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-jam))' --verify-diagnostics | FileCheck %s

// Two rows of a product share the loop over the columns, and what it loads of x; each has a sum of its own. The row that is left is alone.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[A:.*]]: memref<?xf64>, %[[X:.*]]: memref<?xf64>, %[[Y:.*]]: memref<?xf64>, %[[N:.*]]: index
// CHECK: %[[END:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (index)
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[J:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}) -> (f64, f64)
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[J]]]
// CHECK-NOT: memref.load %[[X]]
// CHECK: arith.mulf %{{.*}}, %[[V]]
// CHECK: arith.mulf %{{.*}}, %[[V]]
// CHECK: tulle.loop = #tulle.loop<reduction, index = j>
// CHECK: memref.store %[[SUMS]]#0, %[[Y]]
// CHECK: memref.store %[[SUMS]]#1, %[[Y]]
// CHECK: scf.for %{{.*}} = %[[END]] to %[[N]]
// CHECK: tulle.loop = #tulle.loop<parallel, index = i>
func.func @rows(%A: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.muli %i, %n : index
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
      %at = arith.addi %row, %j : index
      %a = memref.load %A[%at] : memref<?xf64>
      %v = memref.load %x[%j] : memref<?xf64>
      %p = arith.mulf %a, %v : f64
      %t = arith.addf %s, %p : f64
      scf.yield %t : f64
    } {tulle.loop = #tulle.loop<reduction, index = j>}
    memref.store %sum, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <jam = 2>>}
  return
}

// -----

func.func @sum(%x: memref<?xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  // expected-error @below {{the loop over i cannot be jammed: its iterations depend on each other}}
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf64>
    %t = arith.addf %s, %v : f64
    scf.yield %t : f64
  } {tulle.loop = #tulle.loop<reduction, index = i, directives = <jam = 2>>}
  return %sum : f64
}

// -----

func.func @segments(%pos: memref<?xi32>, %x: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  // expected-error @below {{the loop over i cannot be jammed: a loop in it, over j, has other bounds in each of them}}
  scf.for %i = %c0 to %n step %c1 {
    %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
    scf.for %j = %begin to %end step %c1 {
      memref.store %zero, %x[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = j>}
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <jam = 2>>}
  return
}

// -----

func.func @innermost(%x: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  // expected-error @below {{the loop over i cannot be jammed: no loop stands in it, which they could share: unroll takes several at a time}}
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %x[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <jam = 2>>}
  return
}
