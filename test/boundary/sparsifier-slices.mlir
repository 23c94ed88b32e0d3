// RUN: tulle-opt %s --tulle-sparsifier | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s

// Slices are tensors of their own, whose offsets, sizes and strides may be numbers of the program.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#SLICE = #sparse_tensor.encoding<{ map = (i : #sparse_tensor<slice(1, 2, 1)>, j : #sparse_tensor<slice(1, 2, 2)>) -> (i : dense, j : compressed) }>
#ANY = #sparse_tensor.encoding<{ map = (i : #sparse_tensor<slice(?, ?, ?)>, j : #sparse_tensor<slice(?, ?, ?)>) -> (i : dense, j : compressed) }>

func.func @offset(%a: tensor<2x2xf64, #SLICE>) -> index {
  %o = sparse_tensor.slice.offset %a at 1 : tensor<2x2xf64, #SLICE>
  %s = sparse_tensor.slice.stride %a at 1 : tensor<2x2xf64, #SLICE>
  %r = arith.addi %o, %s : index
  return %r : index
}

func.func @cut(%a: tensor<?x?xf64, #CSR>, %o: index, %n: index, %s: index) -> tensor<?x?xf64, #ANY> {
  %r = tensor.extract_slice %a[%o, %o] [%n, %n] [%s, %s] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #ANY>
  return %r : tensor<?x?xf64, #ANY>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d = arith.constant dense<[[1.0, 2.0, 0.0, 3.0], [4.0, 0.0, 5.0, 6.0], [0.0, 7.0, 8.0, 9.0]]> : tensor<3x4xf64>
  %a = sparse_tensor.convert %d : tensor<3x4xf64> to tensor<3x4xf64, #CSR>
  %s = tensor.extract_slice %a[1, 1] [2, 2] [1, 2] : tensor<3x4xf64, #CSR> to tensor<2x2xf64, #SLICE>
  // CHECK: 3
  %n = call @offset(%s) : (tensor<2x2xf64, #SLICE>) -> index
  vector.print %n : index
  // CHECK: 0
  // CHECK-NEXT: 1
  // CHECK-NEXT: 6
  // CHECK: 1
  // CHECK-NEXT: 0
  // CHECK-NEXT: 7
  // CHECK: 1
  // CHECK-NEXT: 1
  // CHECK-NEXT: 9
  sparse_tensor.foreach in %s : tensor<2x2xf64, #SLICE> do {
  ^bb0(%i: index, %j: index, %v: f64):
    vector.print %i : index
    vector.print %j : index
    vector.print %v : f64
  }
  %b = tensor.cast %a : tensor<3x4xf64, #CSR> to tensor<?x?xf64, #CSR>
  %c = call @cut(%b, %c0, %c2, %c2) : (tensor<?x?xf64, #CSR>, index, index, index) -> tensor<?x?xf64, #ANY>
  // CHECK: nse = 2
  // CHECK-NEXT: dim = ( 2, 2 )
  // CHECK-NEXT: lvl = ( 2, 2 )
  // CHECK-NEXT: pos[1] : ( 0, 1, 2 )
  // CHECK-NEXT: crd[1] : ( 0, 1 )
  // CHECK-NEXT: values : ( 1, 8 )
  sparse_tensor.print %c : tensor<?x?xf64, #ANY>
  bufferization.dealloc_tensor %c : tensor<?x?xf64, #ANY>
  bufferization.dealloc_tensor %a : tensor<3x4xf64, #CSR>
  return
}
