// Found by fuzz/sparsifier_fuzz: legal modules whose meaning is not defined, which ended in crashes.
// RUN: tulle-opt %s --tulle-sparsifier --split-input-file --verify-diagnostics

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @dimension(%A: tensor<?x?xf64, #CSR>) -> index {
  %c8 = arith.constant 8 : index
  // expected-error @+1 {{expected a dimension of 'tensor<?x?xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>', got 8}}
  %m = tensor.dim %A, %c8 : tensor<?x?xf64, #CSR>
  return %m : index
}

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#map = affine_map<(i, j) -> (i, j)>
func.func @sum(%A: tensor<4x5xf64, #CSR>, %B: tensor<4x5xf64, #CSR>) -> tensor<4x5xf64, #CSR> {
  %e = tensor.empty() : tensor<4x5xf64, #CSR>
  // expected-error @+1 {{expected the iterator of index 0, which the result has, to be parallel; it is a reduction}}
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["reduction", "parallel"]}
      ins(%A, %B : tensor<4x5xf64, #CSR>, tensor<4x5xf64, #CSR>) outs(%e : tensor<4x5xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<4x5xf64, #CSR>
  return %r : tensor<4x5xf64, #CSR>
}
