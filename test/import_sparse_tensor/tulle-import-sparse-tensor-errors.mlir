// RUN: tulle-opt %s --tulle-import-sparse-tensor --split-input-file --verify-diagnostics

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @values(%a: tensor<?xf64, #SV>) -> memref<?xf64> {
  // expected-error @+1 {{cannot import 'sparse_tensor.values'; of the sparse_tensor dialect, encodings, convert and concatenate are read}}
  %v = sparse_tensor.values %a : tensor<?xf64, #SV> to memref<?xf64>
  return %v : memref<?xf64>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#id = affine_map<(i) -> (i)>
func.func @sum(%a: tensor<8xf64, #SV>, %b: tensor<8xf64, #SV>) -> tensor<8xf64, #SV> {
  %e = tensor.empty() : tensor<8xf64, #SV>
  // expected-error @+1 {{a sparse result needs the pattern of an operand}}
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<8xf64, #SV>, tensor<8xf64, #SV>) outs(%e : tensor<8xf64, #SV>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %s = arith.addf %x, %y : f64
    linalg.yield %s : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

// -----

func.func @copy(%a: tensor<8xf64>) -> tensor<8xf64> {
  // expected-error @+1 {{cannot import a copy of a tensor}}
  %c = bufferization.alloc_tensor() copy(%a) : tensor<8xf64>
  return %c : tensor<8xf64>
}
