// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s

// With vectors of a cache line, reductions along rows of dense operands use these first, four at a time; their halves are
// added before the shorter vectors, and the scalar epilogue. Segments of stored entries are mostly too short for that: masked vectors
// end them, and only from 128 entries on four accumulators come first.
module attributes {tulle.cpu = #tulle.cpu<znver4>} {

// CHECK-LABEL: func.func @row
// CHECK: %[[FOUR:.*]]:5 = scf.for {{.*}} -> (index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>)
// CHECK-COUNT-3: arith.addf %{{.*}} : vector<8xf64>
// CHECK: %[[ONE:.*]]:2 = scf.for %{{.*}} = %[[FOUR]]#0 to {{.*}} -> (index, vector<8xf64>)
// CHECK: %[[LOW:.*]] = vector.extract_strided_slice %[[ONE]]#1 {offsets = [0], sizes = [4], strides = [1]}
// CHECK: %[[HIGH:.*]] = vector.extract_strided_slice %[[ONE]]#1 {offsets = [4], sizes = [4], strides = [1]}
// CHECK: %[[HALF:.*]] = arith.addf %[[LOW]], %[[HIGH]]
// CHECK: scf.for %{{.*}} = %[[ONE]]#0 to {{.*}} iter_args(%{{.*}} = %[[ONE]]#0, %{{.*}} = %[[HALF]]) -> (index, vector<4xf64>)
// CHECK: vector.reduction <add>
func.func @row(%x: memref<?xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> f64 {
    %v = memref.load %x[%k] : memref<?xf64>
    %new = arith.addf %sum, %v fastmath<reassoc> : f64
    scf.yield %new : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %s : f64
}

// CHECK-LABEL: func.func @segment
// CHECK: %[[LENGTH:.*]] = arith.subi %[[HI:.*]], %[[LO:.*]]
// CHECK: %[[LONG:.*]] = arith.cmpi sge, %[[LENGTH]], %c128
// CHECK: %[[LAST:.*]] = arith.subi %[[HI]], %c31
// CHECK: %[[LIMIT:.*]] = arith.select %[[LONG]], %[[LAST]], %[[LO]]
// CHECK: %[[FOUR:.*]]:5 = scf.for {{.*}} to %[[LIMIT]] step %c32{{.*}} -> (index, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>)
// CHECK-COUNT-4: vector.load
// CHECK-COUNT-3: arith.addf %{{.*}} : vector<8xf64>
// CHECK: scf.for %[[P:.*]] = %[[FOUR]]#0 to %[[HI]] step %c8{{.*}} -> (vector<8xf64>)
// CHECK: %[[ON:.*]] = vector.create_mask
// CHECK: vector.maskedload %{{.*}}[%[[P]]], %[[ON]]
// CHECK-NOT: scf.for
// CHECK: vector.reduction <add>
func.func @segment(%pos: memref<?xi32>, %x: memref<?xf64>, %i: index) -> f64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %lo32 = memref.load %pos[%i] : memref<?xi32>
  %lo = arith.index_castui %lo32 : i32 to index
  %i1 = arith.addi %i, %c1 : index
  %hi32 = memref.load %pos[%i1] : memref<?xi32>
  %hi = arith.index_castui %hi32 : i32 to index
  %s = scf.for %k = %lo to %hi step %c1 iter_args(%sum = %zero) -> f64 {
    %v = memref.load %x[%k] : memref<?xf64>
    %new = arith.addf %sum, %v fastmath<reassoc> : f64
    scf.yield %new : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %s : f64
}
}
