// RUN: tulle-opt %s --tulle-expand-foreach --split-input-file --verify-diagnostics | FileCheck %s

#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// Entries come in the order of the levels; the sum is carried.
// CHECK: #[[LIST:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : compressed(nonunique), d0 : singleton(soa))
// CHECK-LABEL: @sum
// CHECK-SAME: (%[[A:.*]]: tensor<?x5xf64, #{{.*}}>, %[[S:.*]]: f64)
// CHECK: %[[L:.*]] = sparse_tensor.convert %[[A]] : {{.*}} to tensor<?x5xf64, #[[LIST]]>
// CHECK: %[[J:.*]] = sparse_tensor.coordinates %[[L]] {level = 0 : index}
// CHECK: %[[I:.*]] = sparse_tensor.coordinates %[[L]] {level = 1 : index}
// CHECK: %[[V:.*]] = sparse_tensor.values %[[L]]
// CHECK: %[[N:.*]] = sparse_tensor.number_of_entries %[[L]]
// CHECK: %[[R:.*]] = scf.for %[[K:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[T:.*]] = %[[S]])
// CHECK: memref.load %[[I]][%[[K]]]
// CHECK: memref.load %[[J]][%[[K]]]
// CHECK: %[[X:.*]] = memref.load %[[V]][%[[K]]]
// CHECK: %[[U:.*]] = arith.addf %[[T]], %[[X]]
// CHECK: scf.yield %[[U]]
// CHECK: bufferization.dealloc_tensor %[[L]]
// CHECK: return %[[R]]
func.func @sum(%A: tensor<?x5xf64, #CSC>, %s: f64) -> f64 {
  %r = sparse_tensor.foreach in %A init(%s) : tensor<?x5xf64, #CSC>, f64 -> f64 do {
  ^bb0(%i: index, %j: index, %v: f64, %t: f64):
    %u = arith.addf %t, %v : f64
    sparse_tensor.yield %u : f64
  }
  return %r : f64
}

// CHECK-LABEL: @dense
// CHECK-SAME: (%[[D:.*]]: tensor<2x3xf64>
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK: %[[V:.*]] = tensor.extract %[[D]][%[[I]], %[[J]]]
// CHECK: memref.store %[[V]]
func.func @dense(%D: tensor<2x3xf64>, %m: memref<2x3xf64>) {
  sparse_tensor.foreach in %D : tensor<2x3xf64> do {
  ^bb0(%i: index, %j: index, %v: f64):
    memref.store %v, %m[%i, %j] : memref<2x3xf64>
  }
  return
}

// -----

#BSR = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>
func.func @blocks(%A: tensor<4x4xf64, #BSR>) {
  // expected-error @+1 {{expected a tensor whose levels are its dimensions, in any order}}
  sparse_tensor.foreach in %A : tensor<4x4xf64, #BSR> do {
  ^bb0(%i: index, %j: index, %v: f64):
    vector.print %v : f64
  }
  return
}
