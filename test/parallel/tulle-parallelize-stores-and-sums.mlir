// RUN: tulle-opt %s --tulle-parallelize | FileCheck %s

#dense = #tulle.encoding<{ map = (i) -> (i : dense) }>
!at = !tulle.iterator<#dense, 0>

// A loop that stores at its own coordinate, and sums: tasks share the tensor, and each has a partial sum.
// CHECK-LABEL: func.func @stores_and_sums
// CHECK-SAME: (%[[A:[^:]*]]: tensor<?xf64>, %[[T:[^:]*]]: tensor<?xf64>, %[[BEFORE:[^:]*]]: f64)
// CHECK: %[[PARTIAL:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[STORED:.*]] = tulle.parallel %[[TASK:.*]] of %[[TASKS:.*]] iter_args(%[[SHARED:.*]] = %[[T]]) -> (tensor<?xf64>)
// CHECK: %[[CHUNK:.*]] = tulle.partition %{{.*}}, %[[TASK]] of %[[TASKS]]
// CHECK: %[[OWN:.*]]:2 = tulle.iterate %{{[^ ]*}} in %[[CHUNK]] : !tulle.range iter_args(%{{.*}} = %[[SHARED]], %{{.*}} = %{{.*}}) -> (tensor<?xf64>, f64)
// CHECK: memref.store %[[OWN]]#1, %[[PARTIAL]]
// CHECK: tulle.yield %[[OWN]]#0
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %[[BEFORE]]) -> (f64)
// CHECK: arith.addf %[[SO_FAR]]
// CHECK: return %[[STORED]], %[[SUM]]
func.func @stores_and_sums(%a: tensor<?xf64>, %t: tensor<?xf64>, %before: f64) -> (tensor<?xf64>, f64) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %t1, %sum = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t, %s = %before) -> (tensor<?xf64>, f64) loop = <reduction> {
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %next = tulle.store %x, %acc[%p : !at] : f64, tensor<?xf64>
    %more = arith.addf %s, %x fastmath<reassoc> : f64
    tulle.yield %next, %more : tensor<?xf64>, f64
  }
  return %t1, %sum : tensor<?xf64>, f64
}

// One element of the tensor is stored by all iterations.
// CHECK-LABEL: func.func @one_element
// CHECK-NOT: tulle.parallel
func.func @one_element(%a: tensor<?xf64>, %t: tensor<?xf64>, %before: f64) -> (tensor<?xf64>, f64) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %first = tulle.locate %t level(0) at %c0 : tensor<?xf64> -> !at
  %t1, %sum = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t, %s = %before) -> (tensor<?xf64>, f64) loop = <reduction> {
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %next = tulle.store %x, %acc[%first : !at] : f64, tensor<?xf64>
    %more = arith.addf %s, %x fastmath<reassoc> : f64
    tulle.yield %next, %more : tensor<?xf64>, f64
  }
  return %t1, %sum : tensor<?xf64>, f64
}
