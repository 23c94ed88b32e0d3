// RUN: tulle-opt %s --tulle-import-sparse-tensor --tulle-expand-gather --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$CSR:.+]] = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed)
// CHECK-DAG: #[[$ROWS:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$SELECTED:.+]] = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
// CHECK-DAG: #[[$RESULT:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Rows of a matrix in any format, which is that of the result, a new tensor; the integers are 64 bits wide.
// CHECK-LABEL: @rows
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf64, #[[$CSR]]>, %[[P:.*]]: tensor<?x1xi64>) -> tensor<?x8xf64, #[[$CSR]]>
func.func @rows(%X: tensor<?x8xf64, #CSR>, %p: tensor<?x1xindex>) -> tensor<?x8xf64, #CSR> {
  // CHECK: %[[Y:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xf64, #[[$CSR]]>
  // CHECK: %[[START:.*]] = tulle.fill %{{.*}}, %[[Y]]
  // CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
  // CHECK: %[[Q:.*]] = tulle.bounded_indices %[[P]] below %[[N]] outside error "indices" at [-1, 0] : tensor<?x1xi64> -> tensor<?x1xi64>
  // CHECK: %[[S:.*]] = tulle.one_hot total %[[Q]] of %[[N]]
  // CHECK: linalg.generic {indexing_maps = [#[[$ROWS]], #[[$SELECTED]], #[[$RESULT]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[S]] : {{.*}}) outs(%[[START]] :
  // CHECK: ^bb0(%[[IN:.*]]: f64, %[[AT:.*]]: i64, %[[OLD:.*]]: f64):
  // CHECK: %[[STORED:.*]] = tulle.stored %[[AT]] : i64
  // CHECK: arith.select %[[STORED]], %[[IN]], %[[OLD]] : f64
  %r = tensor.gather %X[%p] gather_dims([0]) : (tensor<?x8xf64, #CSR>, tensor<?x1xindex>) -> tensor<?x8xf64, #CSR>
  return %r : tensor<?x8xf64, #CSR>
}

// -----

func.func @kept(%X: tensor<7x8xf64>, %p: tensor<3x1xi32>) -> tensor<3x1x8xf64> {
  // expected-error @+1 {{cannot import a gather that keeps gathered dimensions, with size 1; leave them out}}
  %r = tensor.gather %X[%p] gather_dims([0]) : (tensor<7x8xf64>, tensor<3x1xi32>) -> tensor<3x1x8xf64>
  return %r : tensor<3x1x8xf64>
}

// -----

func.func @made(%X: tensor<7x8xf64>, %n: index) -> tensor<3x8xf64> {
  %p = tensor.splat %n : tensor<3x1xindex>
  // expected-error @+1 {{cannot expand indices of type index unless they are an argument of the function; cast them to i64}}
  %r = tensor.gather %X[%p] gather_dims([0]) : (tensor<7x8xf64>, tensor<3x1xindex>) -> tensor<3x8xf64>
  return %r : tensor<3x8xf64>
}

// -----

// A single element.
// CHECK-LABEL: @element
func.func @element(%x: tensor<4xf32>, %p: tensor<1xi32>) -> tensor<f32> {
  // CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins({{.*}}) outs(%{{.*}} : tensor<f32>)
  %r = tensor.gather %x[%p] gather_dims([0]) : (tensor<4xf32>, tensor<1xi32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @narrow(%X: tensor<7x8xf64>, %p: tensor<3x1xi7>) -> tensor<3x8xf64> {
  // expected-error @+1 {{cannot import indices of type 'i7'; cast them to i8, i16, i32 or i64}}
  %r = tensor.gather %X[%p] gather_dims([0]) : (tensor<7x8xf64>, tensor<3x1xi7>) -> tensor<3x8xf64>
  return %r : tensor<3x8xf64>
}

// -----

func.func @branched(%X: tensor<7x8xf64>, %p: tensor<3x1xindex>) -> tensor<3x8xf64> {
  cf.br ^body(%p : tensor<3x1xindex>)
^body(%q: tensor<3x1xindex>):
  // expected-error @+1 {{cannot expand indices of type index unless they are an argument of the function; cast them to i64}}
  %r = tensor.gather %X[%q] gather_dims([0]) : (tensor<7x8xf64>, tensor<3x1xindex>) -> tensor<3x8xf64>
  return %r : tensor<3x8xf64>
}

// -----

// CHECK-LABEL: @scatter
// CHECK-SAME: (%[[Y:.*]]: tensor<3x8xf64>, %[[Z:.*]]: tensor<7x8xf64>, %[[P:.*]]: tensor<3x1xi32>)
func.func @scatter(%y: tensor<3x8xf64>, %z: tensor<7x8xf64>, %p: tensor<3x1xi32>) -> tensor<7x8xf64> {
  // CHECK: %[[Q:.*]] = tulle.bounded_indices %[[P]] below %{{.*}} outside error "indices" at [-1, 0]
  // CHECK: %[[D:.*]] = tulle.distinct_indices %[[Q]] below(%{{.*}}) "indices" at [-1, 0]
  // CHECK: %[[S:.*]] = tulle.one_hot total distinct %[[D]]
  // CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[Y]], %[[S]] : {{.*}}) outs(%[[Z]] : tensor<7x8xf64>)
  %r = tensor.scatter %y into %z[%p] scatter_dims([0]) unique : (tensor<3x8xf64>, tensor<7x8xf64>, tensor<3x1xi32>) -> tensor<7x8xf64>
  return %r : tensor<7x8xf64>
}

// -----

func.func @kept_scatter(%y: tensor<3x1x8xf64>, %z: tensor<7x8xf64>, %p: tensor<3x1xi32>) -> tensor<7x8xf64> {
  // expected-error @+1 {{cannot import a scatter that keeps scattered dimensions, with size 1; leave them out}}
  %r = tensor.scatter %y into %z[%p] scatter_dims([0]) unique : (tensor<3x1x8xf64>, tensor<7x8xf64>, tensor<3x1xi32>) -> tensor<7x8xf64>
  return %r : tensor<7x8xf64>
}
