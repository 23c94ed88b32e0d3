// RUN: tulle-opt %s --tulle-sparsifier | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s

// Reshapes of reshapes, done as one: of matrices by rows and by columns, of a list of entries, with dimensions that stay.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#CSF = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed) }>

func.func @main() {
  %d = arith.constant dense<[[0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 5.0], [0.0, 6.0, 7.0, 0.0], [8.0, 0.0, 0.0, 9.0]]> : tensor<6x4xf64>
  %A = sparse_tensor.convert %d : tensor<6x4xf64> to tensor<6x4xf64, #CSR>

  // CHECK: nse = 9
  // CHECK: dim = ( 3, 8 )
  // CHECK: pos[1] : ( 0, 3, 5, 9 )
  // CHECK: crd[1] : ( 1, 3, 6, 4, 7, 1, 2, 4, 7 )
  // CHECK: values : ( 1, 2, 3, 4, 5, 6, 7, 8, 9 )
  %v0 = tensor.collapse_shape %A [[0, 1]] : tensor<6x4xf64, #CSR> into tensor<24xf64, #V>
  %wide = tensor.expand_shape %v0 [[0, 1]] output_shape [3, 8] : tensor<24xf64, #V> into tensor<3x8xf64, #CSR>
  sparse_tensor.print %wide : tensor<3x8xf64, #CSR>
  bufferization.dealloc_tensor %wide : tensor<3x8xf64, #CSR>

  // CHECK: dim = ( 8, 3 )
  // CHECK: pos[1] : ( 0, 5, 6, 9 )
  // CHECK: crd[1] : ( 1, 2, 4, 5, 6, 0, 5, 6, 7 )
  // CHECK: values : ( 2, 3, 4, 5, 7, 1, 6, 8, 9 )
  %v1 = tensor.collapse_shape %A [[0, 1]] : tensor<6x4xf64, #CSR> into tensor<24xf64, #V>
  %columns = tensor.expand_shape %v1 [[0, 1]] output_shape [8, 3] : tensor<24xf64, #V> into tensor<8x3xf64, #CSC>
  sparse_tensor.print %columns : tensor<8x3xf64, #CSC>
  bufferization.dealloc_tensor %columns : tensor<8x3xf64, #CSC>

  // CHECK: dim = ( 2, 12 )
  // CHECK: values : ( 1, 2, 3, 4, 5, 6, 7, 8, 9 )
  %v2 = tensor.collapse_shape %A [[0, 1]] : tensor<6x4xf64, #CSR> into tensor<24xf64, #V>
  %list = tensor.expand_shape %v2 [[0, 1]] output_shape [2, 12] : tensor<24xf64, #V> into tensor<2x12xf64, #COO>
  sparse_tensor.print %list : tensor<2x12xf64, #COO>
  bufferization.dealloc_tensor %list : tensor<2x12xf64, #COO>

  // The rows stay, columns become two dimensions, and these one again, with the rows: 24 elements.
  // CHECK: nse = 9
  // CHECK: dim = ( 24 )
  // CHECK: crd[0] : ( 1, 3, 6, 12, 15, 17, 18, 20, 23 )
  // CHECK: values : ( 1, 2, 3, 4, 5, 6, 7, 8, 9 )
  %blocks = tensor.expand_shape %A [[0], [1, 2]] output_shape [6, 2, 2] : tensor<6x4xf64, #CSR> into tensor<6x2x2xf64, #CSF>
  %all = tensor.collapse_shape %blocks [[0, 1, 2]] : tensor<6x2x2xf64, #CSF> into tensor<24xf64, #V>
  sparse_tensor.print %all : tensor<24xf64, #V>
  bufferization.dealloc_tensor %all : tensor<24xf64, #V>
  bufferization.dealloc_tensor %A : tensor<6x4xf64, #CSR>
  return
}
