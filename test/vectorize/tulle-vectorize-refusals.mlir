// RUN: tulle-opt %s --split-input-file --remarks-filter-missed='tulle-vectorize' --remark-format=emitRemark --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=4}))' 2>&1 | FileCheck %s

// Every reason for which a loop stays scalar, with its operation. (A step other than 1, and a load of what another lane
// stores, are in tulle-vectorize-examples.mlir.)

// A sum that must not be reassociated.
// CHECK: 'arith.addf' is no reduction that may be reassociated
func.func @ordered(%x: memref<?xf64>, %n: index, %init: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf64>
    %s = arith.addf %acc, %v : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// -----

// CHECK: 'func.call' has side effects, regions or several results
func.func private @other(index)
func.func @calls(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @other(%i) : (index) -> ()
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// A division that a branch guards against zero.
// CHECK: 'arith.divsi' is not speculatable, and conditional
func.func @divides(%x: memref<?xi64>, %y: memref<?xi64>, %n: index, %n64: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi64>
    %some = arith.cmpi ne, %v, %zero : i64
    scf.if %some {
      %q = arith.divsi %n64, %v : i64
      memref.store %q, %y[%i] : memref<?xi64>
    }
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// CHECK: 'complex.create' is not elementwise
func.func @pairs(%x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %z = complex.create %v, %v : complex<f64>
    %a = complex.abs %z : complex<f64>
    memref.store %a, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// CHECK: 'scf.if' has an else region
func.func @sides(%x: memref<?xf64>, %y: memref<?xf64>, %n: index, %c: i1, %v: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %c {
      memref.store %v, %x[%i] : memref<?xf64>
    } else {
      memref.store %v, %y[%i] : memref<?xf64>
    }
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// CHECK: 'scf.if' yields a value that is no reduction
func.func @choice(%x: memref<?xf64>, %y: memref<?xf64>, %n: index, %c: i1, %v: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %chosen = scf.if %c -> (f64) {
      %w = memref.load %x[%i] : memref<?xf64>
      scf.yield %w : f64
    } else {
      scf.yield %v : f64
    }
    memref.store %chosen, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// CHECK: 'memref.load' loads from a memref that is not one-dimensional
func.func @planes(%x: memref<?x4xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i, %c0] : memref<?x4xf64>
    memref.store %v, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// CHECK: 'memref.load' loads elements that have no vector gather
func.func @bytes(%crd: memref<?xi32>, %x: memref<?xi8>, %y: memref<?xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %j32 = memref.load %crd[%i] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %v = memref.load %x[%j] : memref<?xi8>
    memref.store %v, %y[%i] : memref<?xi8>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// CHECK: 'memref.store' stores elements that have no vector store
func.func @flags(%y: memref<?xi1>, %n: index, %v: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %y[%i] : memref<?xi1>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// CHECK: 'memref.store' may store one element from several lanes
func.func @scatter(%crd: memref<?xi32>, %y: memref<?xf64>, %n: index, %v: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %j32 = memref.load %crd[%i] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    memref.store %v, %y[%j] : memref<?xf64>
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
