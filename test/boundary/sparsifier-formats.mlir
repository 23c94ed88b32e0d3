// RUN: tulle-opt %s --tulle-sparsifier | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s

// Formats that the sparse_tensor dialect has not: conversions and casts between encodings make tensors of them.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#DIA = #tulle.encoding<{ map = (i, j) -> (j - i : squeezed, i : banded) }>
#ELL = #tulle.encoding<{ map = (i, j) -> (#i : dense, i : dense, j : singleton(padded)) }>
#matvec = { indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"] }

func.func private @times_dia(%a: tensor<?x?xf64, #DIA>, %x: tensor<4xf64>) {
  %y = arith.constant dense<0.0> : tensor<4xf64>
  %s = tensor.cast %a : tensor<?x?xf64, #DIA> to tensor<4x4xf64, #DIA>
  %r = linalg.generic #matvec ins(%s, %x : tensor<4x4xf64, #DIA>, tensor<4xf64>) outs(%y : tensor<4xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %n = arith.addf %o, %m : f64
    linalg.yield %n : f64
  } -> tensor<4xf64>
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %v = vector.transfer_read %r[%c0], %z : tensor<4xf64>, vector<4xf64>
  vector.print %v : vector<4xf64>
  return
}

func.func @main() {
  %d = arith.constant dense<[[1.0, 2.0, 0.0, 0.0], [0.0, 3.0, 4.0, 0.0], [0.0, 0.0, 5.0, 6.0], [7.0, 0.0, 0.0, 8.0]]> : tensor<4x4xf64>
  %x = arith.constant dense<[1.0, 10.0, 100.0, 1000.0]> : tensor<4xf64>
  %c = sparse_tensor.convert %d : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  %any = tensor.cast %c : tensor<4x4xf64, #CSR> to tensor<?x?xf64, #CSR>

  // A cast of the encoding, then one of the shape.
  // CHECK: ( 21, 430, 6500, 8007 )
  %a = tensor.cast %any : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #DIA>
  call @times_dia(%a, %x) : (tensor<?x?xf64, #DIA>, tensor<4xf64>) -> ()

  // From one of these formats to another, and back.
  %e = sparse_tensor.convert %a : tensor<?x?xf64, #DIA> to tensor<?x?xf64, #ELL>
  %back = tensor.cast %e : tensor<?x?xf64, #ELL> to tensor<?x?xf64, #CSR>
  // CHECK: pos[1] : ( 0, 2, 4, 6, 8 )
  // CHECK-NEXT: crd[1] : ( 0, 1, 1, 2, 2, 3, 0, 3 )
  // CHECK-NEXT: values : ( 1, 2, 3, 4, 5, 6, 7, 8 )
  sparse_tensor.print %back : tensor<?x?xf64, #CSR>

  bufferization.dealloc_tensor %c : tensor<4x4xf64, #CSR>
  bufferization.dealloc_tensor %a : tensor<?x?xf64, #DIA>
  bufferization.dealloc_tensor %e : tensor<?x?xf64, #ELL>
  bufferization.dealloc_tensor %back : tensor<?x?xf64, #CSR>
  return
}
