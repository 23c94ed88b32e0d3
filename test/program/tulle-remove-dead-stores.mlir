// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-remove-dead-stores))' | FileCheck %s

#dense = #tulle.encoding<{ map = (i) -> (i : dense) }>
!at = !tulle.iterator<#dense, 0>

// Nobody reads %t: neither its stores nor it remain.
// CHECK-LABEL: func.func @unread
// CHECK-SAME: (%[[A:.*]]: tensor<?xf64>, %[[Y:[^:]*]]: tensor<?xf64>) -> tensor<?xf64>
// CHECK: %[[R:.*]] = tulle.iterate %{{[^ ]*}} in %{{.*}} iter_args(%[[ACC:.*]] = %[[Y]]) -> (tensor<?xf64>)
// CHECK: %[[NEXT:.*]] = tulle.store %{{.*}}, %[[ACC]]
// CHECK-NOT: tulle.store
// CHECK: tulle.yield %[[NEXT]] : tensor<?xf64>
func.func @unread(%a: tensor<?xf64>, %t: tensor<?xf64> {tulle.statement = 0 : i64}, %y: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %t1, %y1 = tulle.iterate %i in %r : !tulle.range iter_args(%acct = %t, %accy = %y) -> (tensor<?xf64>, tensor<?xf64>) {
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %t2 = tulle.store %x, %acct[%p : !at] : f64, tensor<?xf64>
    %y2 = tulle.store %x, %accy[%p : !at] : f64, tensor<?xf64>
    tulle.yield %t2, %y2 : tensor<?xf64>, tensor<?xf64>
  }
  return %y1 : tensor<?xf64>
}

// An iteration reads what the one before it stored.
// CHECK-LABEL: func.func @read_in_the_next_iteration
// CHECK-SAME: tulle.statement
// CHECK: tulle.store %{{.*}}, %{{.*}}[
// CHECK: tulle.store %{{.*}}, %{{.*}}[
func.func @read_in_the_next_iteration(%a: tensor<?xf64>, %t: tensor<?xf64> {tulle.statement = 0 : i64}, %y: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %first = tulle.locate %a level(0) at %c0 : tensor<?xf64> -> !at
  %t1, %y1 = tulle.iterate %i in %r : !tulle.range iter_args(%acct = %t, %accy = %y) -> (tensor<?xf64>, tensor<?xf64>) loop = <reduction> {
    %old = tulle.load %acct[%first : !at] : tensor<?xf64> -> f64
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %t2 = tulle.store %x, %acct[%first : !at] : f64, tensor<?xf64>
    %y2 = tulle.store %old, %accy[%p : !at] : f64, tensor<?xf64>
    tulle.yield %t2, %y2 : tensor<?xf64>, tensor<?xf64>
  }
  return %y1 : tensor<?xf64>
}
