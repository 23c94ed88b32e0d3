// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s

#dense = #tulle.encoding<{ map = (i) -> (i : dense) }>
!at = !tulle.iterator<#dense, 0>

// The second loop sums what the first one stores: one loop, of which each task stores its own coordinates and has a partial sum.
// CHECK-LABEL: func.func @sum_of_stored
// CHECK: tulle.iterate %{{[^ ]*}} in %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SUM:[^ ]*]] = %{{.*}}) -> (tensor<?xf64>, f64) loop = <reduction>
// CHECK: %[[SQUARE:.*]] = arith.mulf
// CHECK: tulle.store %[[SQUARE]]
// CHECK: arith.addf %[[SUM]], %[[SQUARE]]
// CHECK-NOT: tulle.iterate
func.func @sum_of_stored(%a: tensor<?xf64>, %t: tensor<?xf64>) -> (tensor<?xf64>, f64) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %t1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t) -> (tensor<?xf64>) {
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %square = arith.mulf %x, %x fastmath<reassoc> : f64
    %q = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %next = tulle.store %square, %acc[%q : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %sum = tulle.iterate %i in %r : !tulle.range iter_args(%s = %zero) -> (f64) loop = <reduction> {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %t1[%p : !at] : tensor<?xf64> -> f64
    %next = arith.addf %s, %x fastmath<reassoc> : f64
    tulle.yield %next : f64
  }
  return %t1, %sum : tensor<?xf64>, f64
}

// Partial sums have another order.
// CHECK-LABEL: func.func @sum_in_order
// CHECK-COUNT-2: tulle.iterate
func.func @sum_in_order(%a: tensor<?xf64>, %t: tensor<?xf64>) -> (tensor<?xf64>, f64) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %t1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t) -> (tensor<?xf64>) {
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %square = arith.mulf %x, %x : f64
    %q = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %next = tulle.store %square, %acc[%q : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %sum = tulle.iterate %i in %r : !tulle.range iter_args(%s = %zero) -> (f64) loop = <reduction> {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %t1[%p : !at] : tensor<?xf64> -> f64
    %next = arith.addf %s, %x : f64
    tulle.yield %next : f64
  }
  return %t1, %sum : tensor<?xf64>, f64
}

// The second loop adds to one element: fused with it, the first could not run in tasks.
// CHECK-LABEL: func.func @one_element
// CHECK-COUNT-2: tulle.iterate
func.func @one_element(%a: tensor<?xf64>, %t: tensor<?xf64>, %y: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %first = tulle.locate %y level(0) at %c0 : tensor<?xf64> -> !at
  %t1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t) -> (tensor<?xf64>) {
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %next = tulle.store %x, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %y1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64>) loop = <reduction> {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %t1[%p : !at] : tensor<?xf64> -> f64
    %before = tulle.load %acc[%first : !at] : tensor<?xf64> -> f64
    %sum = arith.addf %before, %x fastmath<reassoc> : f64
    %next = tulle.store %sum, %acc[%first : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %t1, %y1 : tensor<?xf64>, tensor<?xf64>
}
