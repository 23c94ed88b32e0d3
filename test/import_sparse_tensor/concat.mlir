// RUN: tulle-opt %s --tulle-import-sparse-tensor | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#BLOCKS = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : dense) }>

// A dense result is converted from a sparse one.
// CHECK-LABEL: @concatenated
// CHECK: %[[C:.*]] = tulle.concat
// CHECK: tulle.convert %[[C]] : tensor<5x4xf64, #{{.*}}> to tensor<5x4xf64>
func.func @concatenated(%A: tensor<2x4xf64, #CSR>, %B: tensor<3x4xf64, #CSR>) -> tensor<5x4xf64> {
  %c = sparse_tensor.concatenate %A, %B {dimension = 0 : index} : tensor<2x4xf64, #CSR>, tensor<3x4xf64, #CSR> to tensor<5x4xf64>
  return %c : tensor<5x4xf64>
}

// What is stored beside an entry without being one is left out, as upstream does.
// CHECK-LABEL: @padded
// CHECK: %[[C:.*]] = tulle.concat
// CHECK: linalg.generic {{.*}} ins(%[[C]] :
// CHECK-SAME: attrs = {tulle.drop_fill}
func.func @padded(%A: tensor<2x4xf64, #BLOCKS>, %B: tensor<3x4xf64, #CSR>) -> tensor<5x4xf64, #CSR> {
  %c = sparse_tensor.concatenate %A, %B {dimension = 0 : index} : tensor<2x4xf64, #BLOCKS>, tensor<3x4xf64, #CSR> to tensor<5x4xf64, #CSR>
  return %c : tensor<5x4xf64, #CSR>
}
