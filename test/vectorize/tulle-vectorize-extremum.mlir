// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s

// A maximum is one compare and one select per halving of the lanes; whether there is a nan is asked once. Where -0.0 and 0.0 differ
// (--strict), it is the reduction of the dialect.
module attributes {tulle.cpu = #tulle.cpu<znver4>} {

// CHECK-LABEL: func.func @whole_matrix
// CHECK: %[[ALL:.*]]:2 = scf.for {{.*}} -> (f64, vector<{{.*}}xf64>)
// CHECK-NOT: vector.reduction <maximumf>
// CHECK: %[[NAN:.*]] = vector.reduction <or>
// CHECK: %[[ANY:.*]] = arith.ori %[[NAN]]
// CHECK: %[[MAX:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ALL]]#0 : f64
// CHECK: %[[R:.*]] = arith.select %[[ANY]], %{{.*}}, %[[MAX]] : f64
// CHECK: return %[[R]]
func.func @whole_matrix(%pos: memref<?xi32>, %a: memref<?xf64>, %m: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0xFFF0000000000000 : f64
  %all = scf.for %i = %c0 to %m step %c1 iter_args(%s = %low) -> f64 {
    %lo32 = memref.load %pos[%i] : memref<?xi32>
    %lo = arith.index_castui %lo32 : i32 to index
    %i1 = arith.addi %i, %c1 : index
    %hi32 = memref.load %pos[%i1] : memref<?xi32>
    %hi = arith.index_castui %hi32 : i32 to index
    %row = scf.for %k = %lo to %hi step %c1 iter_args(%t = %s) -> f64 {
      %x = memref.load %a[%k] : memref<?xf64>
      %next = arith.maximumf %t, %x fastmath<reassoc,nsz> : f64
      scf.yield %next : f64
    } {tulle.loop = #tulle.loop<reduction>}
    scf.yield %row : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %all : f64
}

// CHECK-LABEL: func.func @strict
// CHECK: vector.reduction <maximumf>
func.func @strict(%a: memref<?xf64>, %m: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0xFFF0000000000000 : f64
  %all = scf.for %k = %c0 to %m step %c1 iter_args(%t = %low) -> f64 {
    %x = memref.load %a[%k] : memref<?xf64>
    %next = arith.maximumf %t, %x fastmath<reassoc> : f64
    scf.yield %next : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %all : f64
}
}
