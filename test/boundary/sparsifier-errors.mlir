// RUN: tulle-opt %s --tulle-sparsifier | not --crash mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so 2>&1 | FileCheck %s

// Upstream would store the coordinate modulo 256. What was printed before is lost with the buffer of stdout.
#NARROW = #sparse_tensor.encoding<{ map = (i) -> (i : compressed), crdWidth = 8 }>

func.func @main() {
  %d = arith.constant sparse<[[300]], [1.0]> : tensor<400xf64>
  // CHECK: error: a coordinate or position does not fit the width of its field; use a wider posWidth or crdWidth
  %A = sparse_tensor.convert %d : tensor<400xf64> to tensor<400xf64, #NARROW>
  sparse_tensor.print %A : tensor<400xf64, #NARROW>
  return
}
