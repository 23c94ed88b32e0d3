// RUN: tulle-opt %s | tulle-opt | FileCheck %s
// RUN: tulle-opt %s --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: tulle-opt %s --canonicalize --tulle-vectorize=vl=8 | FileCheck %s --check-prefix=VECTOR

// CHECK-LABEL: @all
// CHECK: } {tulle.loop = #tulle.loop<parallel, index = "j/4", cache_resident>}
// CHECK: } {tulle.loop = #tulle.loop<parallel, index = i_block, blocks>}
// CHECK: } {tulle.loop = #tulle.loop<reduction, index = k, rare>}
func.func @all(%n: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
  } {tulle.loop = #tulle.loop<parallel, cache_resident, index = "j/4">}
  scf.for %i = %c1 to %n step %c1 {
  } {tulle.loop = #tulle.loop<parallel, blocks, index = i_block>}
  scf.for %i = %c1 to %n step %c1 {
  } {tulle.loop = #tulle.loop<reduction, rare, index = k>}
  return
}

// Upstream's canonicalizations keep the attribute of a loop of which they drop a carried value.
// CANON-LABEL: @rebuilt
// CANON: } {tulle.loop = #tulle.loop<parallel, index = q>}
// VECTOR-LABEL: @rebuilt
// VECTOR: vector.scatter
func.func @rebuilt(%crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index, %c: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %same = scf.for %q = %c0 to %n step %c1 iter_args(%carried = %c) -> (f64) {
    %j32 = memref.load %crd[%q] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %v = memref.load %x[%q] : memref<?xf64>
    %w = memref.load %x[%j] : memref<?xf64>
    %s = arith.addf %v, %w : f64
    memref.store %s, %y[%j] : memref<?xf64>
    scf.yield %carried : f64
  } {tulle.loop = #tulle.loop<parallel, index = q>}
  return %same : f64
}

// Code of a loop that hardly ever runs stays short.
// VECTOR-LABEL: @rare
// VECTOR-NOT: vector.
// VECTOR: return
func.func @rare(%crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %q = %c0 to %n step %c1 {
    %j32 = memref.load %crd[%q] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %v = memref.load %x[%q] : memref<?xf64>
    memref.store %v, %y[%j] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = q, rare>}
  return
}

// Without the attribute a loop is a reduction: what it stores at coordinates that it reads may be one element twice.
// VECTOR-LABEL: @unknown
// VECTOR-NOT: vector.scatter
// VECTOR: return
func.func @unknown(%crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %q = %c0 to %n step %c1 {
    %j32 = memref.load %crd[%q] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %v = memref.load %x[%q] : memref<?xf64>
    %w = memref.load %x[%j] : memref<?xf64>
    %s = arith.addf %v, %w : f64
    memref.store %s, %y[%j] : memref<?xf64>
  }
  return
}
