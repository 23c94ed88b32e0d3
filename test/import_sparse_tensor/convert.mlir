// RUN: tulle-opt %s --tulle-import-sparse-tensor --split-input-file --verify-diagnostics | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Elements are converted where they are few: of the sparse tensor.
// CHECK-LABEL: @widened
// CHECK: %[[C:.*]] = tulle.convert %{{.*}} : tensor<?x4xf32> to tensor<?x4xf32, #{{.*}}>
// CHECK: linalg.generic {{.*}} ins(%[[C]] :
// CHECK: arith.extf %{{.*}} : f32 to f64
func.func @widened(%d: tensor<?x4xf32>) -> tensor<?x4xf64, #CSR> {
  %A = sparse_tensor.convert %d : tensor<?x4xf32> to tensor<?x4xf64, #CSR>
  return %A : tensor<?x4xf64, #CSR>
}

// CHECK-LABEL: @to_dense
// CHECK: linalg.generic
// CHECK: arith.fptosi %{{.*}} : f32 to i8
// CHECK: tulle.convert %{{.*}} : tensor<3x4xi8, #{{.*}}> to tensor<3x4xi8>
func.func @to_dense(%A: tensor<3x4xf32, #CSR>) -> tensor<3x4xi8> {
  %d = sparse_tensor.convert %A : tensor<3x4xf32, #CSR> to tensor<3x4xi8>
  return %d : tensor<3x4xi8>
}

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @parts(%A: tensor<3x4xcomplex<f32>, #CSR>) -> tensor<3x4xf32, #CSR> {
  // expected-error @+1 {{cannot import a conversion of elements from 'complex<f32>' to 'f32'}}
  %d = sparse_tensor.convert %A : tensor<3x4xcomplex<f32>, #CSR> to tensor<3x4xf32, #CSR>
  return %d : tensor<3x4xf32, #CSR>
}
