// RUN: tulle-opt %s --tulle-sparsifier | not --crash mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so 2>&1 | FileCheck %s

// Groups of two among four, one of which has three entries.
#N24 = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4]) }>
// CHECK: error: a group of a structured or fixed level has more entries than it holds, or its last group fewer coordinates; use compressed instead
func.func @main() {
  %d = arith.constant dense<[[1.0, 2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 4.0, 6.0, 0.0, 5.0]]> : tensor<2x8xf64>
  %a = sparse_tensor.convert %d : tensor<2x8xf64> to tensor<2x8xf64, #N24>
  sparse_tensor.print %a : tensor<2x8xf64, #N24>
  return
}
