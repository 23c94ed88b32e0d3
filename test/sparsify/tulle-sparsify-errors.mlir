// RUN: tulle-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tulle-sparsify))'

#V = #tulle.encoding<{ map = (i) -> (i : compressed) }>

func.func @dense_result(%A: tensor<?xf64, #V>, %b: tensor<?xf64>, %y: tensor<?xf64, #V>) -> tensor<?xf64, #V> {
  %zero = arith.constant 0.0 : f64
  %like = tulle.like %y, %A : tensor<?xf64, #V>, tensor<?xf64, #V>
  %init = tulle.fill %zero, %like : f64, tensor<?xf64, #V>
  // expected-error @+1 {{a sparse result would be dense}}
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%A, %b : tensor<?xf64, #V>, tensor<?xf64>) outs(%init : tensor<?xf64, #V>) {
  ^bb0(%a: f64, %c: f64, %acc: f64):
    %s = arith.addf %a, %c : f64
    linalg.yield %s : f64
  } -> tensor<?xf64, #V>
  return %r : tensor<?xf64, #V>
}

// -----

#V = #tulle.encoding<{ map = (i) -> (i : compressed) }>

func.func @no_pattern(%A: tensor<?xf64, #V>, %y: tensor<?xf64, #V>) -> tensor<?xf64, #V> {
  // expected-error @+1 {{a sparse result needs tulle.like}}
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%A : tensor<?xf64, #V>) outs(%y : tensor<?xf64, #V>) {
  ^bb0(%a: f64, %acc: f64):
    linalg.yield %a : f64
  } -> tensor<?xf64, #V>
  return %r : tensor<?xf64, #V>
}

// -----

#V = #tulle.encoding<{ map = (i) -> (i : compressed), explicitVal = 1.0 }>

func.func @values_of_its_own(%A: tensor<?xf64, #V>, %y: tensor<?xf64, #V>) -> tensor<?xf64, #V> {
  %zero = arith.constant 0.0 : f64
  %like = tulle.like %y, %A : tensor<?xf64, #V>, tensor<?xf64, #V>
  %init = tulle.fill %zero, %like : f64, tensor<?xf64, #V>
  // expected-error @+1 {{operand 1: what is computed has values of its own, and explicitVal leaves no place for them; leave it out, and convert the result}}
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%A : tensor<?xf64, #V>) outs(%init : tensor<?xf64, #V>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %a, %a : f64
    linalg.yield %s : f64
  } -> tensor<?xf64, #V>
  return %r : tensor<?xf64, #V>
}
