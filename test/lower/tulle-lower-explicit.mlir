// RUN: tulle-opt %s --tulle-lower --canonicalize --split-input-file | FileCheck %s

#ONES = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32, explicitVal = 2.5 }>
#D1 = #tulle.encoding<{ map = (i) -> (i : dense) }>

// What the format says is loaded from nowhere; the buffer of values counts the entries only.
// CHECK-LABEL: @scatter(
// CHECK-SAME: %[[POS:[^:]*]]: memref<?xi32>, %[[CRD:[^:]*]]: memref<?xi32>, %[[VALUES:[^:]*]]: memref<?xf64>, %{{[^:]*}}: index, %[[OUT:[^:]*]]: memref<?xf64>
// CHECK: %[[VALUE:.*]] = arith.constant 2.5
// CHECK: scf.for
// CHECK-NOT: memref.load %[[VALUES]]
// CHECK: memref.store %[[VALUE]], %[[OUT]]
func.func @scatter(%A: tensor<?xf64, #ONES>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %s = tulle.space %A level(0) : tensor<?xf64, #ONES> -> !tulle.space<#ONES, 0>
  %r = tulle.iterate %i, %it in %s : !tulle.space<#ONES, 0> iter_args(%o = %out) -> (tensor<?xf64>) {
    %v = tulle.load %A[%it : !tulle.iterator<#ONES, 0>] : tensor<?xf64, #ONES> -> f64
    %p = tulle.locate %o level(0) at %i : tensor<?xf64> -> !tulle.iterator<#D1, 0>
    %n = tulle.store %v, %o[%p : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
    tulle.yield %n : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----

#TWICE = #tulle.encoding<{ map = (i) -> (i : compressed(nonunique)), posWidth = 32, crdWidth = 32, explicitVal = true }>

// CHECK-LABEL: @count(
// CHECK-SAME: %{{[^:]*}}: memref<?xi32>, %{{[^:]*}}: memref<?xi32>, %[[VALUES:[^:]*]]: memref<?xi8>, %{{[^:]*}}: index
// CHECK: %[[COUNT:.*]] = memref.dim %[[VALUES]], %c0
// CHECK: return %[[COUNT]]
func.func @count(%A: tensor<?xi1, #TWICE>) -> index {
  %count = tulle.stored_count %A : tensor<?xi1, #TWICE>
  return %count : index
}
