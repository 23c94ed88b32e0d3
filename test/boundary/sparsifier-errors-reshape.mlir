// RUN: tulle-opt %s --tulle-sparsifier | not --crash mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so 2>&1 | FileCheck %s
// RUN: tulle-opt %s --tulle-sparsifier | not --crash mlir-runner -e overflow -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so 2>&1 | FileCheck %s

// Six elements are no five, and 2^64 of them are none that 64 bits count: entries would have coordinates beyond the sizes.
// CHECK: error: a sparse tensor is reshaped to sizes with another number of elements, or more than 64 bits count
#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>

func.func @reshaped(%a: tensor<?x?xf64, #COO>, %shape: tensor<1xindex>) {
  %r = tensor.reshape %a(%shape) : (tensor<?x?xf64, #COO>, tensor<1xindex>) -> tensor<?xf64, #SV>
  sparse_tensor.print %r : tensor<?xf64, #SV>
  return
}

func.func @main() {
  %d = arith.constant sparse<[[1, 2]], [1.0]> : tensor<2x3xf64>
  %a = sparse_tensor.convert %d : tensor<2x3xf64> to tensor<2x3xf64, #COO>
  %b = tensor.cast %a : tensor<2x3xf64, #COO> to tensor<?x?xf64, #COO>
  %shape = arith.constant dense<5> : tensor<1xindex>
  call @reshaped(%b, %shape) : (tensor<?x?xf64, #COO>, tensor<1xindex>) -> ()
  return
}

func.func @overflow() {
  %n = arith.constant 4294967296 : index
  %e = tensor.empty(%n, %n) : tensor<?x?xf64, #COO>
  %shape = arith.constant dense<0> : tensor<1xindex>
  call @reshaped(%e, %shape) : (tensor<?x?xf64, #COO>, tensor<1xindex>) -> ()
  return
}
