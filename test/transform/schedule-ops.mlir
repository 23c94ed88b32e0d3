// RUN: tulle-opt %s --split-input-file --transform-interpreter --verify-diagnostics | FileCheck %s

// What ops say of a statement is what its tulle.schedule says.
// CHECK: tulle.schedule = #tulle.schedule<reorder = ["j", "i"], strategy = {j = #tulle<strategy gallop>}, loops = {i = #tulle.directives<vectorize = 8, unroll = 2>, j = #tulle.directives<parallelize = {{ *}}none>}, compute_at = [], workspace = {{ *}}hashed>
func.func @f(%x: tensor<4x4xf64> {tulle.name = "x"}, %y: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf64>) outs(%y : tensor<4x4xf64>) attrs = {tulle.indices = ["i", "j"]} {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %s = transform.structured.match ops{["linalg.generic"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.tulle.reorder %s ["j", "i"] : !transform.any_op
    transform.tulle.strategy %s over "j" gallop : !transform.any_op
    transform.tulle.vectorize %s over "i" by 8 : !transform.any_op
    transform.tulle.unroll %s over "i" by 2 : !transform.any_op
    transform.tulle.parallelize %s over "j" none : !transform.any_op
    transform.tulle.compute_root %s : !transform.any_op
    transform.tulle.workspace %s hashed : !transform.any_op
    transform.yield
  }
}

// -----

func.func @twice(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%y : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %s = transform.structured.match ops{["linalg.generic"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.tulle.unroll %s over "i" by 2 : !transform.any_op
    // expected-error @below {{the statement has this primitive already; keep one of them}}
    transform.tulle.unroll %s over "i" by 4 : !transform.any_op
    transform.yield
  }
}

// -----

func.func @lanes(%x: tensor<4xf64> {tulle.name = "x"}, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%y : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %s = transform.structured.match ops{["linalg.generic"]} in %module : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected a power of two, got 3}}
    transform.tulle.vectorize %s over "i" by 3 : !transform.any_op
    transform.yield
  }
}

// -----

func.func @operand(%x: tensor<4xf64> {tulle.name = "x"}, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%y : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %s = transform.structured.match ops{["linalg.generic"]} in %module : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{no operand "q" of the statement is an argument}}
    transform.tulle.convert %s operand "q" to (#tulle.encoding<{ map = (i) -> (i : compressed) }>) : !transform.any_op
    transform.yield
  }
}
