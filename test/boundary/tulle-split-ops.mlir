// RUN: tulle-opt %s --tulle-split-ops | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#BLOCKS = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : dense) }>

// The conversion is of one shape; the cast says less of it.
// CHECK-LABEL: @less_static
// CHECK: %[[C:.*]] = sparse_tensor.convert %{{.*}} : tensor<3x4xf64> to tensor<3x4xf64, #{{.*}}>
// CHECK: tensor.cast %[[C]] : tensor<3x4xf64, #{{.*}}> to tensor<?x?xf64, #{{.*}}>
func.func @less_static(%d: tensor<3x4xf64>) -> tensor<?x?xf64, #CSR> {
  %A = sparse_tensor.convert %d : tensor<3x4xf64> to tensor<?x?xf64, #CSR>
  return %A : tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: @elements
// CHECK: %[[A:.*]] = sparse_tensor.convert %{{.*}} : tensor<3x4xf64> to tensor<3x4xf64, #{{.*}}>
// CHECK: %[[B:.*]] = sparse_tensor.convert %[[A]] : {{.*}} to tensor<3x4xf32, #{{.*}}>
// CHECK: bufferization.dealloc_tensor %[[A]]
// CHECK: return %[[B]]
func.func @elements(%d: tensor<3x4xf64>) -> tensor<3x4xf32, #CSR> {
  %A = sparse_tensor.convert %d : tensor<3x4xf64> to tensor<3x4xf32, #CSR>
  return %A : tensor<3x4xf32, #CSR>
}

// CHECK-LABEL: @dense_result
// CHECK: %[[J:.*]] = tensor.concat dim(0) {{.*}} -> tensor<5x4xf64, #{{.*}}>
// CHECK: %[[R:.*]] = sparse_tensor.convert %[[J]] : {{.*}} to tensor<5x4xf64>
// CHECK: bufferization.dealloc_tensor %[[J]]
func.func @dense_result(%A: tensor<2x4xf64, #CSR>, %B: tensor<3x4xf64, #CSR>) -> tensor<5x4xf64> {
  %c = sparse_tensor.concatenate %A, %B {dimension = 0 : index} : tensor<2x4xf64, #CSR>, tensor<3x4xf64, #CSR> to tensor<5x4xf64>
  return %c : tensor<5x4xf64>
}

// Rows of a dense level have zeros that are no entries.
// CHECK-LABEL: @padded
// CHECK: %[[J:.*]] = tensor.concat
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[J]] :
// CHECK-SAME: attrs = {tulle.drop_fill}
// CHECK: bufferization.dealloc_tensor %[[J]]
// CHECK: return %[[R]]
func.func @padded(%A: tensor<2x4xf64, #BLOCKS>, %B: tensor<3x4xf64, #CSR>) -> tensor<5x4xf64, #CSR> {
  %c = sparse_tensor.concatenate %A, %B {dimension = 0 : index} : tensor<2x4xf64, #BLOCKS>, tensor<3x4xf64, #CSR> to tensor<5x4xf64, #CSR>
  return %c : tensor<5x4xf64, #CSR>
}

// Nothing is in between.
// CHECK-LABEL: @whole
// CHECK: sparse_tensor.concatenate
func.func @whole(%A: tensor<2x4xf64, #CSR>, %B: tensor<3x4xf64, #CSR>) -> tensor<5x4xf64, #CSR> {
  %c = sparse_tensor.concatenate %A, %B {dimension = 0 : index} : tensor<2x4xf64, #CSR>, tensor<3x4xf64, #CSR> to tensor<5x4xf64, #CSR>
  return %c : tensor<5x4xf64, #CSR>
}
