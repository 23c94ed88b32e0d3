// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-prefetch))' --verify-diagnostics | FileCheck %s

// What a coordinate selects, 8 entries ahead: as far as there are coordinates.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[CRD:.*]]: memref<?xi32>, %[[X:[^:]*]]: memref<?xf64> {tulle.name = "x"}, %{{.*}}: memref<?xf64>, %{{.*}}: index, %[[END:.*]]: index
// CHECK: %[[SIZE:.*]] = memref.dim %[[CRD]]
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[END]]
// CHECK: %[[AHEAD:.*]] = arith.minsi %{{.*}}, %[[LEFT]]
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %[[END]]
// CHECK: %[[LATER:.*]] = arith.addi %[[P]], %[[AHEAD]]
// CHECK: %[[C:.*]] = memref.load %[[CRD]][%[[LATER]]]
// CHECK: %[[J:.*]] = arith.index_castui %[[C]]
// CHECK: memref.prefetch %[[X]][%[[J]]], read, locality<3>, data
// CHECK: directives = <prefetch = {x = 0 : i64}>
func.func @gather(%crd: memref<?xi32>, %x: memref<?xf64> {tulle.name = "x"}, %val: memref<?xf64>, %begin: index, %end: index) -> f64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
    %c = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %c : i32 to index
    %v = memref.load %x[%j] : memref<?xf64>
    %t = arith.addf %s, %v : f64
    scf.yield %t : f64
  } {tulle.loop = #tulle.loop<reduction, index = j, directives = <prefetch = {x = 8 : i64}>>}
  return %sum : f64
}

// -----

// All lines of a row of B that a coordinate selects.
// CHECK-LABEL: func.func @row(
// CHECK: scf.for
// CHECK: memref.load
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK: memref.prefetch
// CHECK: scf.for
func.func @row(%crd: memref<?xindex>, %B: memref<?xf64> {tulle.name = "B"}, %y: memref<?xf64>, %end: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %end step %c1 {
    %c = memref.load %crd[%p] : memref<?xindex>
    %row = arith.muli %c, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %at = arith.addi %row, %k : index
      %v = memref.load %B[%at] : memref<?xf64>
      %o = memref.load %y[%k] : memref<?xf64>
      %t = arith.addf %o, %v : f64
      memref.store %t, %y[%k] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = k>}
  } {tulle.loop = #tulle.loop<reduction, index = j, directives = <prefetch = {B = 4 : i64}>>}
  return
}

// -----

// The entries of a selected segment, and where it begins, twice as far ahead. An entry may not exist.
// CHECK-LABEL: func.func @segment(
// CHECK-SAME: %[[CRD:.*]]: memref<?xindex>, %[[POS:[^:]*]]: memref<?xi32>
// CHECK: arith.constant 8 : index
// CHECK: scf.for %[[P:.*]] =
// CHECK: memref.prefetch %[[POS]]
// CHECK: tulle.segment %[[POS]]
// CHECK: memref.prefetch %{{.*}}, read
func.func @segment(%crd: memref<?xindex>, %pos: memref<?xi32> {tulle.name = "B"}, %val: memref<?xf64> {tulle.name = "B"}, %y: memref<?xf64>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %end step %c1 {
    %c = memref.load %crd[%p] : memref<?xindex>
    %first, %last = tulle.segment %pos[%c] : memref<?xi32>
    scf.for %q = %first to %last step %c1 {
      %v = memref.load %val[%q] : memref<?xf64>
      memref.store %v, %y[%q] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel, index = k>}
  } {tulle.loop = #tulle.loop<reduction, index = j, directives = <prefetch = {B = 4 : i64}>>}
  return
}

// -----

// CHECK-LABEL: func.func @none(
// CHECK-NOT: memref.prefetch
func.func @none(%x: memref<?xf64> {tulle.name = "x"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    memref.store %v, %x[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <prefetch = {x = 0 : i64}>>}
  return
}

// -----

// A processor whose first-level cache waits for few lines has them in the second one.
// CHECK-LABEL: func.func @second_level(
// CHECK: memref.prefetch %{{.*}}, read, locality<2>, data
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @second_level(%crd: memref<?xi32>, %x: memref<?xf64> {tulle.name = "x"}, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %n step %c1 {
    %c = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %c : i32 to index
    %v = memref.load %x[%j] : memref<?xf64>
    memref.store %v, %y[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <prefetch = {x = 8 : i64}>>}
  return
}
}

// -----

func.func @unknown(%x: memref<?xf64> {tulle.name = "x"}, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{nothing that the loop over i reads of x is at an address that is known some iterations before}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%n] : memref<?xf64>
    memref.store %v, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <prefetch = {x = 4 : i64}>>}
  return
}
