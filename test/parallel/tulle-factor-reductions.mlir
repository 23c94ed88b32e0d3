// RUN: tulle-opt %s --tulle-factor-reductions --split-input-file | FileCheck %s

// The example of the pass's documentation: each iteration starts from the identity of the sum.
// CHECK-LABEL: func.func @values
// CHECK-SAME: %[[N:.*]]: index, %[[SCALE:.*]]: f64
func.func @values(%n: index, %scale: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %start = arith.constant 2.0 : f64
  %tiles = tulle.range %c0 to %n
  // CHECK: %[[MEMORY:.*]] = memref.alloc(%[[COUNT:.*]]) : memref<?xf64>
  // CHECK: %[[W:.*]] = tulle.storage(%[[MEMORY]]) sizes(%[[COUNT]])
  // CHECK: %[[PARTS:.*]] = tulle.iterate %[[T:.*]] in %{{.*}} : !tulle.range iter_args(%[[TO:.*]] = %[[W]]) -> (tensor<?xf64>) loop = <parallel, index = j0> {
  // CHECK: %[[IDENTITY:.*]] = arith.constant -0.000000e+00 : f64
  // CHECK: %[[OWN:.*]] = arith.addf %[[IDENTITY]], %{{.*}} fastmath<reassoc>
  // CHECK: %[[AT:.*]] = tulle.locate %[[TO]] level(0) at
  // CHECK: %[[STORED:.*]] = tulle.store %[[OWN]], %[[TO]][%[[AT]]
  // CHECK: tulle.yield %[[STORED]]
  // CHECK: %[[SUM:.*]] = tulle.iterate %[[U:.*]] in %{{.*}} : !tulle.range iter_args(%[[ACC:.*]] = %{{.*}}) -> (f64) loop = <reduction, index = j0> {
  // CHECK: %[[FROM:.*]] = tulle.locate %[[PARTS]] level(0) at %[[U]]
  // CHECK: %[[PART:.*]] = tulle.load %[[PARTS]][%[[FROM]]
  // CHECK: arith.addf %[[ACC]], %[[PART]] fastmath<reassoc>
  // CHECK: memref.dealloc %[[MEMORY]]
  // CHECK: return %[[SUM]]
  %s = tulle.iterate %t in %tiles : !tulle.range iter_args(%acc = %start) -> (f64) loop = <reduction, index = j0, directives = <rfactor = "w">> {
    %f = arith.index_cast %t : index to i64
    %g = arith.sitofp %f : i64 to f64
    %h = arith.mulf %g, %scale : f64
    %next = arith.addf %acc, %h fastmath<reassoc> : f64
    tulle.yield %next : f64
  }
  return %s : f64
}

// -----

// What else is said of the loop is said of the one with independent iterations.
// CHECK-LABEL: func.func @directives
// CHECK: loop = <parallel, index = j0, directives = <unroll = 2>>
// CHECK: arith.maxsi
// CHECK: loop = <reduction, index = j0> {
func.func @directives(%n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %least = arith.constant -5 : i64
  %tiles = tulle.range %c0 to %n
  %s = tulle.iterate %t in %tiles : !tulle.range iter_args(%acc = %least) -> (i64) loop = <reduction, index = j0, directives = <unroll = 2, rfactor = "w">> {
    %f = arith.index_cast %t : index to i64
    %next = arith.maxsi %acc, %f : i64
    tulle.yield %next : i64
  }
  return %s : i64
}
