// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-cache-operands))' --verify-diagnostics | FileCheck %s

// A column of B, whose elements are n apart, is copied once for all rows.
// CHECK-LABEL: func.func @column(
// CHECK-SAME: %[[A:.*]]: memref<?xf64>, %[[B:[^:]*]]: memref<?xf64>
// CHECK: %[[COPY:.*]] = memref.alloca() : memref<16xf64>
// CHECK: scf.for %[[J:.*]] =
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %c16
// CHECK: %[[E:.*]] = memref.load %[[B]]
// CHECK: memref.store %[[E]], %[[COPY]][%[[T]]]
// CHECK: scf.for
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c16
// CHECK-NOT: memref.load %[[B]]
// CHECK: memref.load %[[COPY]][%[[K]]]
func.func @column(%A: memref<?xf64>, %B: memref<?xf64> {tulle.name = "B"}, %C: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f64
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      %sum = scf.for %k = %c0 to %c16 step %c1 iter_args(%s = %zero) -> (f64) {
        %row = arith.muli %k, %n : index
        %at = arith.addi %row, %j : index
        %b = memref.load %B[%at] : memref<?xf64>
        %a = memref.load %A[%k] : memref<?xf64>
        %p = arith.mulf %a, %b : f64
        %t = arith.addf %s, %p : f64
        scf.yield %t : f64
      } {tulle.loop = #tulle.loop<reduction, index = k>}
      memref.store %sum, %C[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = i>}
  } {tulle.loop = #tulle.loop<parallel, index = j, directives = <cache = {B = #tulle<cache_place stack>}>>}
  return
}

// -----

func.func @unbounded(%B: memref<?xf64> {tulle.name = "B"}, %C: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{nothing of B is copied in the loop over j: the loop inside that reads it has no constant bound, or a large one: bound(k, n) gives one}}
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %b = memref.load %B[%k] : memref<?xf64>
      memref.store %b, %C[%k] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = k>}
  } {tulle.loop = #tulle.loop<parallel, index = j, directives = <cache = {B = #tulle<cache_place stack>}>>}
  return
}

// -----

func.func @stored(%B: memref<?xf64> {tulle.name = "B"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{nothing of B is copied in the loop over j: it is stored to there}}
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %c8 step %c1 {
      %b = memref.load %B[%k] : memref<?xf64>
      memref.store %b, %B[%j] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = k>}
  } {tulle.loop = #tulle.loop<reduction, index = j, directives = <cache = {B = #tulle<cache_place stack>}>>}
  return
}
