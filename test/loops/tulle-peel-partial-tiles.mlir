// RUN: tulle-opt %s --tulle-peel-partial-tiles --split-input-file | FileCheck %s

// A tile of 4 by 4, partial at the end of either dimension.
// CHECK-LABEL: func.func @block
// CHECK-SAME: %{{.*}}: memref<?xf64>, %{{.*}}: memref<?xf64>, %[[REST0:[a-z0-9]*]]: index, %[[REST1:[a-z0-9]*]]: index
// CHECK-DAG: %[[ROWS:.*]] = arith.minui %[[REST0]], %{{.*}} : index
// CHECK-DAG: %[[COLS:.*]] = arith.minui %{{.*}}, %[[REST1]] : index
// CHECK: %[[S0:.*]] = arith.constant 4 : index
// CHECK: %[[FULL0:.*]] = arith.cmpi eq, %[[FIRST:.*]], %[[S0]]
// CHECK: %[[S1:.*]] = arith.constant 4 : index
// CHECK: %[[FULL1:.*]] = arith.cmpi eq, %[[SECOND:.*]], %[[S1]]
// CHECK: %[[WHOLE:.*]] = arith.andi %[[FULL0]], %[[FULL1]]
// CHECK: scf.if %[[WHOLE]] {
// CHECK:   scf.for %{{.*}} to %[[CONST:.*]] step
// CHECK:     scf.for %{{.*}} to %[[CONST2:.*]] step
// CHECK: } else {
// CHECK:   scf.for %{{.*}} to %[[ROWS]] step
// CHECK:     scf.for %{{.*}} to %[[COLS]] step
// CHECK:     } {llvm.loop_annotation
// CHECK:   } {llvm.loop_annotation
// CHECK-NOT: scf.for
func.func @block(%a: memref<?xf64>, %y: memref<?xf64>, %rest0: index, %rest1: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %rows = arith.minui %rest0, %c4 : index
  %cols = arith.minui %c4, %rest1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %init = memref.load %y[%i] : memref<?xf64>
    %base = arith.muli %i, %c4 : index
    %r = scf.for %j = %c0 to %cols step %c1 iter_args(%acc = %init) -> (f64) {
      %p = arith.addi %base, %j : index
      %v = memref.load %a[%p] : memref<?xf64>
      %s = arith.addf %acc, %v : f64
      scf.yield %s : f64
    } {tulle.loop = #tulle.loop<reduction>}
    memref.store %r, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// A result of the nest is a result of the branch.
// CHECK-LABEL: func.func @result
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (f64) {
// CHECK:   %[[W:.*]] = scf.for
// CHECK:   scf.yield %[[W]] : f64
// CHECK: } else {
// CHECK:   %[[P:.*]] = scf.for
// CHECK:   scf.yield %[[P]] : f64
// CHECK: return %[[R]] : f64
func.func @result(%a: memref<?xf64>, %rest: index, %init: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.minui %rest, %c4 : index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %init) -> (f64) {
    %v = memref.load %a[%j] : memref<?xf64>
    %s = arith.addf %acc, %v : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %r : f64
}

// -----

// Tiles too large to unroll, and loops with other bounds, stay.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: scf.if
func.func @stays(%a: memref<?xf64>, %rest: index, %v: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = arith.minui %rest, %c64 : index
  scf.for %j = %c0 to %n step %c1 {
    memref.store %v, %a[%j] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %j = %c0 to %rest step %c1 {
    memref.store %v, %a[%j] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
