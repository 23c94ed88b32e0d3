// RUN: tulle-opt %s --tulle-export-sparse-tensor --split-input-file --verify-diagnostics

#DIA = #tulle.encoding<{ map = (i, j) -> (j - i : squeezed, i : banded) }>
// expected-error @+1 {{expected a format that the sparse_tensor dialect has: it has no level format 'squeezed'}}
func.func private @dia(tensor<4x4xf64, #DIA>)

// -----

#ELL = #tulle.encoding<{ map = (i, j) -> (#i : dense, i : dense, j : singleton(padded)) }>
// expected-error @+1 {{it has no level format 'singleton(padded)'}}
func.func @ell(%A: tensor<4x4xf64, #ELL>) {
  return
}

// -----

#Ragged = #tulle.encoding<{ map = (i, j) -> (i : dense, j : ragged) }>
func.func @ragged(%A: tensor<4x4xf64>) -> tensor<4x4xf64> {
  // expected-error @+1 {{it has no level format 'ragged'}}
  %B = tulle.convert %A : tensor<4x4xf64> to tensor<4x4xf64, #Ragged>
  %C = tulle.convert %B : tensor<4x4xf64, #Ragged> to tensor<4x4xf64>
  return %C : tensor<4x4xf64>
}

// -----

#Twice = #tulle.encoding<{ map = (i) -> (i floordiv 4 : dense, i mod 4 floordiv 2 : dense, i mod 2 : compressed) }>
// expected-error @+1 {{it cannot invert the map (i) ->}}
func.func private @blocks_of_blocks(tensor<8xf64, #Twice>)

// -----

#Fill = #tulle.encoding<{ map = (i) -> (i : compressed), fill = 2.0 }>
// expected-error @+1 {{what its tensors do not store is 0}}
func.func private @fill(tensor<8xf64, #Fill>)

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @diagonal(%A: tensor<4x4xf64, #CSR>) -> tensor<8x8xf64, #CSR> {
  // expected-error @+1 {{one behind the other in one dimension: the sparse_tensor dialect has no other 'tulle.concat'}}
  %c = tulle.concat %A, %A along [0, 1] : (tensor<4x4xf64, #CSR>, tensor<4x4xf64, #CSR>) -> tensor<8x8xf64, #CSR>
  return %c : tensor<8x8xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @query(%A: tensor<?x?xf64, #CSR>, %init: tensor<?xi64>) -> tensor<?xi64> {
  // expected-error @+1 {{expected ops that the sparse_tensor dialect has a counterpart of, got 'tulle.query'}}
  %n = tulle.query count %A into %init select affine_map<(i, j) -> (i)> : tensor<?x?xf64, #CSR>, tensor<?xi64>
  return %n : tensor<?xi64>
}

// -----

#VEC = #tulle.encoding<{ map = (i) -> (i : compressed) }>
#id = affine_map<(i) -> (i)>
func.func @pattern(%a: tensor<8xf64, #VEC>, %r: tensor<8xf64, #VEC>) -> tensor<8xf64, #VEC> {
  // expected-error @+1 {{expected a result that is written in place of its pattern}}
  %l = tulle.like %r, %a : tensor<8xf64, #VEC>, tensor<8xf64, #VEC>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #VEC>) outs(%l : tensor<8xf64, #VEC>) {
  ^bb0(%x: f64, %o: f64):
    linalg.yield %x : f64
  } -> tensor<8xf64, #VEC>
  return %s : tensor<8xf64, #VEC>
}

// -----

#VEC = #tulle.encoding<{ map = (i) -> (i : compressed) }>
#id = affine_map<(i) -> (i)>
func.func @three(%a: tensor<8xf64, #VEC>, %b: tensor<8xf64, #VEC>, %c: tensor<8xf64, #VEC>, %r: tensor<8xf64>) -> tensor<8xf64> {
  %s = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b, %c : tensor<8xf64, #VEC>, tensor<8xf64, #VEC>, tensor<8xf64, #VEC>) outs(%r : tensor<8xf64>) {
  ^bb0(%x: f64, %y: f64, %z: f64, %o: f64):
    %zero = arith.constant 0.0 : f64
    %sx = tulle.stored %x : f64
    %sy = tulle.stored %y : f64
    %sz = tulle.stored %z : f64
    %xy = arith.andi %sx, %sy : i1
    %all = arith.andi %xy, %sz : i1
    // expected-error @+1 {{the sparse_tensor dialect has no op of three}}
    %v = arith.select %all, %x, %zero : f64
    linalg.yield %v : f64
  } -> tensor<8xf64>
  return %s : tensor<8xf64>
}
