// RUN: tulle-opt %s --tulle-sparsifier | not --crash mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so 2>&1 | FileCheck %s

// Three entries do not fit two elements: nothing is written behind them.
#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>

func.func @main() {
  %d = arith.constant sparse<[[1], [2], [5]], [1.0, 2.0, 3.0]> : tensor<8xf64>
  %A = sparse_tensor.convert %d : tensor<8xf64> to tensor<8xf64, #V>
  %p = tensor.empty() : tensor<2xi32>
  %c = tensor.empty() : tensor<3xi32>
  %v = tensor.empty() : tensor<2xf64>
  // CHECK: error: a buffer that sparse_tensor.disassemble copies to is smaller than what the tensor stores
  %rp, %rc, %rv, %lp, %lc, %lv = sparse_tensor.disassemble %A : tensor<8xf64, #V>
      out_lvls(%p, %c : tensor<2xi32>, tensor<3xi32>) out_vals(%v : tensor<2xf64>)
      -> (tensor<2xi32>, tensor<3xi32>), tensor<2xf64>, (index, index), index
  vector.print %lv : index
  return
}
