// RUN: tulle-opt %s --tulle-sparsifier | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: tulle-opt %s --tulle-sparsifier='enable-runtime-library=true vl=4 reassociate-fp-reductions enable-index-optimizations' | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: not tulle-opt %s --tulle-sparsifier='enable-arm-sve' 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: no such option enable-arm-sve

// A sparse matrix is made of a dense one, converted where the kernel asks for it, and multiplied.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

func.func @main() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %d = arith.constant dense<[[1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]]> : tensor<3x4xf64>
  %x = arith.constant dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf64>
  %A = sparse_tensor.convert %d : tensor<3x4xf64> to tensor<3x4xf64, #CSR>
  %y = arith.constant dense<0.0> : tensor<3xf64>
  %r = linalg.matvec ins(%A, %x : tensor<3x4xf64, #CSR>, tensor<4xf64>) outs(%y : tensor<3xf64>) -> tensor<3xf64>
  // CHECK: ( 90, 0, 60 )
  %v = vector.transfer_read %r[%c0], %zero : tensor<3xf64>, vector<3xf64>
  vector.print %v : vector<3xf64>
  // CHECK: ( 1, 3, 2 )
  %B = sparse_tensor.convert %A : tensor<3x4xf64, #CSR> to tensor<3x4xf64, #CSC>
  %b = sparse_tensor.values %B : tensor<3x4xf64, #CSC> to memref<?xf64>
  %w = vector.transfer_read %b[%c0], %zero : memref<?xf64>, vector<3xf64>
  vector.print %w : vector<3xf64>
  bufferization.dealloc_tensor %A : tensor<3x4xf64, #CSR>
  bufferization.dealloc_tensor %B : tensor<3x4xf64, #CSC>
  return
}
