// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-unroll))' | FileCheck %s

// Groups of four iterations, in the order of the loop, and those that are left.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:.*]]: memref<?xf64>, %[[N:.*]]: index
// CHECK: %[[LIMIT:.*]] = arith.subi %[[N]], %{{.*}} : index
// CHECK: %[[GROUPS:.*]]:2 = scf.for %[[P:.*]] = %{{.*}} to %[[LIMIT]] step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[S:.*]] = %{{.*}}) -> (index, f64)
// CHECK: %[[A:.*]] = arith.addf %[[S]]
// CHECK: %[[B:.*]] = arith.addf %[[A]]
// CHECK: %[[C:.*]] = arith.addf %[[B]]
// CHECK: %[[D:.*]] = arith.addf %[[C]]
// CHECK: scf.yield %{{.*}}, %[[D]]
// CHECK: scf.for %{{.*}} = %[[GROUPS]]#0 to %[[N]] step %{{.*}} iter_args(%{{.*}} = %[[GROUPS]]#1)
// CHECK: tulle.loop = #tulle.loop<reduction, index = i>
func.func @sum(%x: memref<?xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
    %v = memref.load %x[%k] : memref<?xf64>
    %t = arith.addf %s, %v : f64
    scf.yield %t : f64
  } {tulle.loop = #tulle.loop<reduction, index = i, directives = <unroll = 4>>}
  return %sum : f64
}

// CHECK-LABEL: func.func @other
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @other(%x: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %x[%k] : memref<?xf64>
    memref.store %v, %x[%k] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = i>}
  return
}
