// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s
// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=4}))' | FileCheck %s --check-prefix=VECTORS

// A loop that prefetches elements which later iterations select, and does little with them, waits for memory with vectors or
// without: it stays as it is, unless a length of vectors is given. Each lane prefetches into the cache that the loop says.
// CHECK-LABEL: func.func @light(
// CHECK-NOT: vector<
// CHECK: memref.prefetch %{{.*}}, read, locality<2>
// CHECK: scf.yield
// CHECK: loop_annotation
// VECTORS-LABEL: func.func @light(
// VECTORS-COUNT-4: memref.prefetch %{{.*}}, read, locality<2>
// VECTORS: arith.mulf {{.*}} : vector<4xf64>
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @light(%crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %begin: index, %end: index, %ahead: index) -> f64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %p = %begin to %end step %c1 iter_args(%acc = %zero) -> (f64) {
    %later = arith.addi %p, %ahead : index
    %next = memref.load %crd[%later] : memref<?xi32>
    %at = arith.index_castui %next : i32 to index
    memref.prefetch %x[%at], read, locality<2>, data : memref<?xf64>
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %v = memref.load %x[%j] : memref<?xf64>
    %product = arith.mulf %a, %v : f64
    %more = arith.addf %acc, %product fastmath<reassoc> : f64
    scf.yield %more : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %sum : f64
}
}

// -----

// One that computes much has vectors.
// CHECK-LABEL: func.func @intensive(
// CHECK: memref.prefetch %{{.*}}, read, locality<2>
// CHECK: math.sqrt {{.*}} : vector<
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @intensive(%crd: memref<?xi32>, %x: memref<?xf64>, %begin: index, %end: index, %ahead: index) -> f64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %p = %begin to %end step %c1 iter_args(%acc = %zero) -> (f64) {
    %later = arith.addi %p, %ahead : index
    %next = memref.load %crd[%later] : memref<?xi32>
    %at = arith.index_castui %next : i32 to index
    memref.prefetch %x[%at], read, locality<2>, data : memref<?xf64>
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    %v = memref.load %x[%j] : memref<?xf64>
    %root = math.sqrt %v : f64
    %more = arith.addf %acc, %root fastmath<reassoc> : f64
    scf.yield %more : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %sum : f64
}
}
