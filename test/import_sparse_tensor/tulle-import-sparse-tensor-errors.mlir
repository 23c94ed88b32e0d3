// RUN: tulle-opt %s --tulle-import-sparse-tensor --split-input-file --verify-diagnostics

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @values(%a: tensor<?xf64, #SV>) -> memref<?xf64> {
  // expected-error @+1 {{cannot import 'sparse_tensor.values'; of the sparse_tensor dialect, convert and concatenate are read, and in linalg.generic unary, binary, select and reduce}}
  %v = sparse_tensor.values %a : tensor<?xf64, #SV> to memref<?xf64>
  return %v : memref<?xf64>
}

// -----

func.func @copy(%a: tensor<8xf64>) -> tensor<8xf64> {
  // expected-error @+1 {{cannot import a copy of a tensor}}
  %c = bufferization.alloc_tensor() copy(%a) : tensor<8xf64>
  return %c : tensor<8xf64>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @pad_with_ones(%a: tensor<8xf64, #SV>) -> tensor<9xf64, #SV> {
  %one = arith.constant 1.0 : f64
  // expected-error @+1 {{cannot import a pad with 1.000000e+00 : f64: of a sparse result, values around the source are those that source and result do not store, 0.000000e+00 : f64}}
  %p = tensor.pad %a low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %one : f64
  } : tensor<8xf64, #SV> to tensor<9xf64, #SV>
  return %p : tensor<9xf64, #SV>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @pad_with_anything(%a: tensor<8xf64, #SV>, %x: f64) -> tensor<9xf64, #SV> {
  // expected-error @+1 {{cannot import a pad of a sparse result with values that are no constant}}
  %p = tensor.pad %a low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %x : f64
  } : tensor<8xf64, #SV> to tensor<9xf64, #SV>
  return %p : tensor<9xf64, #SV>
}
