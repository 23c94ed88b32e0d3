// RUN: tulle-opt %s --tulle-import-sparse-tensor --split-input-file --verify-diagnostics | FileCheck %s

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#id = affine_map<(i) -> (i)>

// Where the operand stores something nobody computes a value, and the result stores none.
// CHECK-LABEL: @complement
// CHECK: ^bb0(%[[X:.*]]: f64, %[[O:.*]]: f64):
// CHECK: %[[S:.*]] = tulle.stored %[[X]] :
// CHECK: %[[NOT:.*]] = arith.xori %[[S]], %true
// CHECK: %[[V:.*]] = arith.select %[[NOT]], %{{.*}}, %{{.*}}
// CHECK: %[[R:.*]] = arith.select %[[NOT]], %[[V]], %[[O]]
// CHECK: linalg.yield %[[R]]
func.func @complement(%a: tensor<8xf64, #SV>) -> tensor<8xf64, #SV> {
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<8xf64, #SV>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #SV>) outs(%e : tensor<8xf64, #SV>) {
  ^bb0(%x: f64, %o: f64):
    %u = sparse_tensor.unary %x : f64 to f64
      present = {}
      absent = { sparse_tensor.yield %one : f64 }
    linalg.yield %u : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

// CHECK-LABEL: @difference
// CHECK: ^bb0(%[[X:.*]]: f64, %[[Y:.*]]: f64, %[[O:.*]]: f64):
// CHECK-DAG: %[[SX:.*]] = tulle.stored %[[X]] :
// CHECK-DAG: %[[SY:.*]] = tulle.stored %[[Y]] :
// CHECK: %[[NOT:.*]] = arith.xori %[[SY]], %true
// CHECK: %[[ALONE:.*]] = arith.andi %[[SX]], %[[NOT]]
// CHECK: arith.select %[[ALONE]], %[[X]]
func.func @difference(%a: tensor<8xf64, #SV>, %b: tensor<8xf64, #SV>) -> tensor<8xf64, #SV> {
  %e = tensor.empty() : tensor<8xf64, #SV>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<8xf64, #SV>, tensor<8xf64, #SV>) outs(%e : tensor<8xf64, #SV>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %u = sparse_tensor.binary %x, %y : f64, f64 to f64
      overlap = {} left = identity right = {}
    linalg.yield %u : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

// Values decide what is kept.
// CHECK-LABEL: @positive
// CHECK: ^bb0(%[[X:.*]]: f64, %[[O:.*]]: f64):
// CHECK: %[[S:.*]] = tulle.stored %[[X]] :
// CHECK: %[[P:.*]] = arith.cmpf ogt, %[[X]]
// CHECK: %[[KEPT:.*]] = arith.andi %[[S]], %[[P]]
// CHECK: arith.select %[[KEPT]], %{{.*}}, %[[O]]
func.func @positive(%a: tensor<8xf64, #SV>) -> tensor<8xf64, #SV> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8xf64, #SV>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #SV>) outs(%e : tensor<8xf64, #SV>) {
  ^bb0(%x: f64, %o: f64):
    %u = sparse_tensor.select %x : f64 {
    ^bb0(%v: f64):
      %p = arith.cmpf ogt, %v, %zero : f64
      sparse_tensor.yield %p : i1
    }
    linalg.yield %u : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

// Stored entries are reduced, from the identity on, in any order; a comparison and a select are a minimum.
// CHECK-LABEL: @smallest
// CHECK-SAME: (%{{.*}}, %[[X:.*]]: tensor<f64>)
// CHECK: %[[START:.*]] = tulle.fill %{{.*}}, %[[X]]
// CHECK: outs(%[[START]]
// CHECK: ^bb0(%[[V:.*]]: f64, %[[O:.*]]: f64):
// CHECK: %[[S:.*]] = tulle.stored %[[V]]
// CHECK-NOT: cmpf
// CHECK: %[[M:.*]] = arith.minimumf %[[V]], %[[O]]
// CHECK: arith.select %[[S]], %[[M]], %[[O]]
func.func @smallest(%a: tensor<8xf64, #SV>, %x: tensor<f64>) -> tensor<f64> {
  %inf = arith.constant 0x7FF0000000000000 : f64
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<8xf64, #SV>) outs(%x : tensor<f64>) {
  ^bb0(%v: f64, %o: f64):
    %u = sparse_tensor.reduce %v, %o, %inf : f64 {
    ^bb0(%p: f64, %q: f64):
      %c = arith.cmpf olt, %p, %q : f64
      %s = arith.select %c, %p, %q : f64
      sparse_tensor.yield %s : f64
    }
    linalg.yield %u : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#id = affine_map<(i) -> (i)>
func.func @no_output(%a: tensor<8xf64, #SV>, %x: tensor<8xf64>) -> tensor<8xf64> {
  %one = arith.constant 1.0 : f64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #SV>) outs(%x : tensor<8xf64>) {
  ^bb0(%v: f64, %o: f64):
    // expected-error @+1 {{expected the output as an operand of 'sparse_tensor.reduce'}}
    %u = sparse_tensor.reduce %v, %v, %one : f64 {
    ^bb0(%p: f64, %q: f64):
      %s = arith.mulf %p, %q : f64
      sparse_tensor.yield %s : f64
    }
    linalg.yield %u : f64
  } -> tensor<8xf64>
  return %r : tensor<8xf64>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#id = affine_map<(i) -> (i)>
func.func @control_flow(%a: tensor<8xf64, #SV>, %c: i1) -> tensor<8xf64, #SV> {
  %e = tensor.empty() : tensor<8xf64, #SV>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #SV>) outs(%e : tensor<8xf64, #SV>) {
  ^bb0(%x: f64, %o: f64):
    %u = sparse_tensor.unary %x : f64 to f64
      present = {
      ^bb0(%v: f64):
        // expected-error @+1 {{cannot import control flow in a region of 'sparse_tensor.unary'}}
        %w = scf.if %c -> f64 {
          scf.yield %v : f64
        } else {
          %n = arith.negf %v : f64
          scf.yield %n : f64
        }
        sparse_tensor.yield %w : f64
      }
      absent = {}
    linalg.yield %u : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}
