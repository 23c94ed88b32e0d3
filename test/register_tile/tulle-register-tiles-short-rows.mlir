// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles))' --split-input-file | FileCheck %s

// Rows of three elements: one masked vector, which stays in a register.
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
// CHECK-LABEL: func.func @rows(
// CHECK: %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<4xi1>
// CHECK: %[[ROW:.*]] = vector.maskedload %{{.*}}, %[[MASK]]
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ROW]])
// CHECK:   vector.maskedload %{{.*}}, %[[MASK]]
// CHECK: vector.maskedstore %{{.*}}, %[[MASK]], %[[SUM]]
func.func @rows(%val: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  scf.for %p = %lo to %hi step %c1 {
    %a = memref.load %val[%p] : memref<?xf64>
    %row = arith.muli %p, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %at = arith.addi %row, %k : index
      %b = memref.load %x[%at] : memref<?xf64>
      %c = memref.load %y[%k] : memref<?xf64>
      %m = arith.mulf %a, %b : f64
      %s = arith.addf %c, %m : f64
      memref.store %s, %y[%k] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
}

// -----

// Of a column of a block the elements lie apart: they are left to LLVM.
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
// CHECK-LABEL: func.func @apart(
// CHECK-NOT: vector.
// CHECK: return
func.func @apart(%val: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  scf.for %p = %lo to %hi step %c1 {
    %b = memref.load %x[%p] : memref<?xf64>
    scf.for %k = %c0 to %n step %c1 {
      %row = arith.muli %k, %n : index
      %at = arith.addi %row, %p : index
      %a = memref.load %val[%at] : memref<?xf64>
      %c = memref.load %y[%k] : memref<?xf64>
      %m = arith.mulf %a, %b : f64
      %s = arith.addf %c, %m : f64
      memref.store %s, %y[%k] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
}

// -----

// So are the ends of longer rows where masks take time.
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
// CHECK-LABEL: func.func @slow_masks(
// CHECK: scf.for {{.*}}(vector<4xf64>)
// CHECK: vector.maskedstore
func.func @slow_masks(%val: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  scf.for %p = %lo to %hi step %c1 {
    %a = memref.load %val[%p] : memref<?xf64>
    %row = arith.muli %p, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %at = arith.addi %row, %k : index
      %b = memref.load %x[%at] : memref<?xf64>
      %c = memref.load %y[%k] : memref<?xf64>
      %m = arith.mulf %a, %b : f64
      %s = arith.addf %c, %m : f64
      memref.store %s, %y[%k] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
}
