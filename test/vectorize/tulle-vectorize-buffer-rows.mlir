// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=4}))' | FileCheck %s

// A row of a buffer of three dimensions, which two loads share: its outer subscripts are the same in all iterations.
// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x3x?xf64>, %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index
// CHECK: %[[D1:.*]] = memref.dim %[[X]], %c1
// CHECK: %[[UP:.*]] = arith.muli %[[I]], %[[D1]]
// CHECK: %[[NUMBER:.*]] = arith.addi %[[UP]], %[[J]]
// CHECK: %[[LENGTH:.*]] = memref.dim %[[X]], %c2
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[LENGTH]]
// CHECK: %[[ROW:.*]] = memref.reinterpret_cast %[[X]] to offset: [%[[FIRST]]], sizes: [%[[LENGTH]]], strides: [1] : memref<?x3x?xf64> to memref<?xf64, strided<[1], offset: ?>>
// CHECK-NOT: memref.reinterpret_cast
// CHECK: vector.load %[[ROW]]
// CHECK: vector.gather %[[ROW]]
// CHECK: vector.reduction
func.func @row(%x: memref<?x3x?xf64>, %i: index, %j: index, %crd: memref<?xi64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) {
    %c = memref.load %crd[%k] : memref<?xi64>
    %at = arith.index_cast %c : i64 to index
    %v = memref.load %x[%i, %j, %k] : memref<?x3x?xf64>
    %w = memref.load %x[%i, %j, %at] : memref<?x3x?xf64>
    %m = arith.mulf %v, %w fastmath<reassoc> : f64
    %s = arith.addf %acc, %m fastmath<reassoc> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction, index = k>}
  return %r : f64
}

// -----

// A row that is stored to, and one that is read of another buffer.
// CHECK-LABEL: func.func @update(
// CHECK: vector.store %{{.*}} : memref<?xf64, strided<[1], offset: ?>>, vector<4xf64>
func.func @update(%x: memref<?x?xf64>, %y: memref<?x?xf64>, %i: index, %j: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %x[%i, %k] : memref<?x?xf64>
    %o = memref.load %y[%j, %k] : memref<?x?xf64>
    %w = arith.addf %v, %o : f64
    memref.store %w, %y[%j, %k] : memref<?x?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = k>}
  return
}

// -----

// Two rows of one buffer, one of them stored: they may be the same one.
// CHECK-LABEL: func.func @may_be_one(
// CHECK-NOT: vector.
// CHECK: memref.store %{{.*}} : memref<?x?xf64>
func.func @may_be_one(%y: memref<?x?xf64>, %i: index, %j: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %y[%i, %k] : memref<?x?xf64>
    memref.store %v, %y[%j, %k] : memref<?x?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = k>}
  return
}

// -----

// A column: the row differs from iteration to iteration.
// CHECK-LABEL: func.func @column(
// CHECK-NOT: vector.
// CHECK: memref.load %{{.*}} : memref<?x?xf64>
func.func @column(%x: memref<?x?xf64>, %j: index, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) {
    %v = memref.load %x[%k, %j] : memref<?x?xf64>
    %s = arith.addf %acc, %v fastmath<reassoc> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction, index = k>}
  return %r : f64
}
