// RUN: tulle-opt %s --tulle-expand-constants | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Entries stay as they are listed, in that order, zeros too.
// CHECK-LABEL: @listed
// CHECK-DAG: arith.constant dense<[0, 2]> : tensor<2xi64>
// CHECK-DAG: arith.constant dense<[3, 0]> : tensor<2xi64>
// CHECK-DAG: arith.constant dense<[1, 2]> : tensor<2xi64>
// CHECK-DAG: arith.constant dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf64>
// CHECK: %[[L:.*]] = tulle.storage({{.*}}) sizes({{.*}}) : {{.*}} -> tensor<4x5xf64, #[[LIST:.*]]>
// CHECK: sparse_tensor.convert %[[L]] : tensor<4x5xf64, #[[LIST]]> to tensor<4x5xf64, #{{.*}}>
func.func @listed() -> tensor<4x5xf64, #CSR> {
  %c = arith.constant sparse<[[3, 1], [0, 2]], [1.0, 0.0]> : tensor<4x5xf64>
  %A = sparse_tensor.convert %c : tensor<4x5xf64> to tensor<4x5xf64, #CSR>
  return %A : tensor<4x5xf64, #CSR>
}

// One value may stand for all.
// CHECK-LABEL: @splat
// CHECK: arith.constant dense<7> : tensor<3xi32>
func.func @splat() -> tensor<9xi32, #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>> {
  %c = arith.constant sparse<[[1], [4], [6]], 7> : tensor<9xi32>
  %A = sparse_tensor.convert %c : tensor<9xi32> to tensor<9xi32, #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>>
  return %A : tensor<9xi32, #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>>
}

// A dense constant is converted as it is.
// CHECK-LABEL: @dense
// CHECK: sparse_tensor.convert %{{.*}} : tensor<2x2xf64> to
func.func @dense() -> tensor<2x2xf64, #CSR> {
  %c = arith.constant dense<[[0.0, 1.0], [2.0, 0.0]]> : tensor<2x2xf64>
  %A = sparse_tensor.convert %c : tensor<2x2xf64> to tensor<2x2xf64, #CSR>
  return %A : tensor<2x2xf64, #CSR>
}
