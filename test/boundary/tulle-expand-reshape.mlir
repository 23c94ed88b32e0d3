// RUN: tulle-opt %s --tulle-expand-reshape --split-input-file --verify-diagnostics | FileCheck %s

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// CHECK-LABEL: @collapsed
// CHECK-SAME: (%[[A:.*]]: tensor<3x?xf64, #{{.*}}>)
// CHECK: %[[N:.*]] = tensor.dim %[[A]], %c1
// CHECK: %[[L:.*]] = sparse_tensor.convert %[[A]]
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: scf.for %[[K:.*]] =
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[N]]
// CHECK: arith.addi %[[ROW]]
// CHECK: memref.store %{{.*}}, %[[C]][%[[K]]]
// CHECK: %[[S:.*]] = tulle.storage
// CHECK: sparse_tensor.convert %[[S]]
// CHECK: memref.dealloc %[[C]]
// CHECK: bufferization.dealloc_tensor %[[L]]
func.func @collapsed(%A: tensor<3x?xf64, #CSR>) -> tensor<?xf64, #SV> {
  %r = tensor.collapse_shape %A [[0, 1]] : tensor<3x?xf64, #CSR> into tensor<?xf64, #SV>
  return %r : tensor<?xf64, #SV>
}

// Static digits are another map of the same buffers.
// CHECK-LABEL: @view
// CHECK: tensor.collapse_shape
func.func @view(%A: tensor<?x4xf64, #CSR>) -> tensor<?xf64, #SV> {
  %r = tensor.collapse_shape %A [[0, 1]] : tensor<?x4xf64, #CSR> into tensor<?xf64, #SV>
  return %r : tensor<?xf64, #SV>
}

// CHECK-LABEL: @reshaped
// CHECK: scf.for
// CHECK: arith.remui
// CHECK: arith.divui
// CHECK-NOT: tensor.reshape
func.func @reshaped(%A: tensor<?x4xf64, #CSR>, %shape: tensor<2xindex>) -> tensor<?x?xf64, #CSR> {
  %r = tensor.reshape %A(%shape) : (tensor<?x4xf64, #CSR>, tensor<2xindex>) -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @one(%a: tensor<1xf64, #SV>) -> tensor<f64> {
  // expected-error @+1 {{expected a reshape of one dimension or more to as many}}
  %r = tensor.collapse_shape %a [] : tensor<1xf64, #SV> into tensor<f64>
  return %r : tensor<f64>
}
