// RUN: tulle-opt %s --tulle-import-sparse-tensor --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$CSR:.+]] = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32
// CHECK-DAG: #[[$VECTOR:.+]] = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32
// CHECK-DAG: #[[$ROWS:.+]] = #tulle.encoding<{ map = (i) -> (i floordiv 10 : dense, i mod 10 : compressed), posWidth = 32
// CHECK-DAG: #[[$SUM:.+]] = #tulle.encoding<{ map = (i, j) -> (i * 10 + j : compressed), posWidth = 32
// CHECK-DAG: #[[$SUMS:.+]] = #tulle.encoding<{ map = (i, j, k) -> (i : dense, j * 2 + k : compressed), posWidth = 32
// CHECK-DAG: #[[$MAP:.+]] = affine_map<(d0) -> (d0 floordiv 10, d0 mod 10)>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#Vector = #sparse_tensor.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>
#CSF = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed), posWidth = 32, crdWidth = 32 }>

// What linalg reads is a view, whatever levels the type asks for; what is returned, a copy with these.
// CHECK-LABEL: @collapse
// CHECK-SAME: (%[[A:.*]]: tensor<?x10xf64, #[[$CSR]]>, %[[X:.*]]: tensor<?xf64>
func.func @collapse(%A: tensor<?x10xf64, #CSR>, %x: tensor<?xf64>, %s: tensor<f64>) -> (tensor<f64>, tensor<?xf64, #Vector>) {
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[A]], %c0
  // CHECK: %[[SIZE:.*]] = arith.muli %[[ROWS]], %c10
  // CHECK: %[[VIEW:.*]] = tulle.reshape %[[A]] by #[[$MAP]] to(%[[SIZE]]) : tensor<?x10xf64, #[[$CSR]]> -> tensor<?xf64, #[[$ROWS]]>
  // CHECK: %[[COPY:.*]] = tulle.convert %[[VIEW]] : tensor<?xf64, #[[$ROWS]]> to tensor<?xf64, #[[$VECTOR]]>
  %v = tensor.collapse_shape %A [[0, 1]] : tensor<?x10xf64, #CSR> into tensor<?xf64, #Vector>
  // CHECK: linalg.generic {{.*}} ins(%[[VIEW]], %[[X]] :
  %r = linalg.dot ins(%v, %x : tensor<?xf64, #Vector>, tensor<?xf64>) outs(%s : tensor<f64>) -> tensor<f64>
  // CHECK: return %{{.*}}, %[[COPY]]
  return %r, %v : tensor<f64>, tensor<?xf64, #Vector>
}

// A compressed level is no two levels: a conversion makes them.
// CHECK-LABEL: @expand
// CHECK-SAME: (%[[V:[a-z0-9]*]]: tensor<100xf64, #[[$VECTOR]]>
func.func @expand(%v: tensor<100xf64, #Vector>, %x: tensor<10xf64>, %y: tensor<10xf64>) -> tensor<10xf64> {
  // CHECK: %[[SPLIT:.*]] = tulle.convert %[[V]] : tensor<100xf64, #[[$VECTOR]]> to tensor<100xf64, #[[$ROWS]]>
  // CHECK: %[[VIEW:.*]] = tulle.reshape %[[SPLIT]] by expand #[[$MAP]] to(%c10{{.*}}, %c10{{.*}}) : tensor<100xf64, #[[$ROWS]]> -> tensor<10x10xf64, #[[$CSR]]>
  %A = tensor.expand_shape %v [[0, 1]] output_shape [10, 10] : tensor<100xf64, #Vector> into tensor<10x10xf64, #CSR>
  // CHECK: linalg.generic {{.*}} ins(%[[VIEW]],
  %r = linalg.matvec ins(%A, %x : tensor<10x10xf64, #CSR>, tensor<10xf64>) outs(%y : tensor<10xf64>) -> tensor<10xf64>
  return %r : tensor<10xf64>
}

// Where it is copied and no more, the view is the level as it is, which holds both dimensions; so does what is below it.
// CHECK-LABEL: @expand_copied
// CHECK-SAME: (%[[V:[a-z0-9]*]]: tensor<100xf64, #[[$VECTOR]]>, %[[A:[a-z0-9]*]]: tensor<100x4xf64, #[[$CSR]]>
func.func @expand_copied(%v: tensor<100xf64, #Vector>, %a: tensor<100x4xf64, #CSR>) -> (tensor<10x10xf64, #CSR>, tensor<100x2x2xf64, #CSF>) {
  // CHECK: %[[VIEW:.*]] = tulle.reshape %[[V]] by expand #[[$MAP]] to(%c10{{.*}}, %c10{{.*}}) : tensor<100xf64, #[[$VECTOR]]> -> tensor<10x10xf64, #[[$SUM]]>
  // CHECK: tulle.convert %[[VIEW]] : tensor<10x10xf64, #[[$SUM]]> to tensor<10x10xf64, #[[$CSR]]>
  %e = tensor.expand_shape %v [[0, 1]] output_shape [10, 10] : tensor<100xf64, #Vector> into tensor<10x10xf64, #CSR>
  // CHECK: %[[BLOCKS:.*]] = tulle.reshape %[[A]] by expand #{{.*}} to(%c100{{.*}}, %c2{{.*}}, %c2{{.*}}) : tensor<100x4xf64, #[[$CSR]]> -> tensor<100x2x2xf64, #[[$SUMS]]>
  // CHECK: tulle.convert %[[BLOCKS]] : tensor<100x2x2xf64, #[[$SUMS]]>
  %f = tensor.expand_shape %a [[0], [1, 2]] output_shape [100, 2, 2] : tensor<100x4xf64, #CSR> into tensor<100x2x2xf64, #CSF>
  return %e, %f : tensor<10x10xf64, #CSR>, tensor<100x2x2xf64, #CSF>
}

// A reshape of a reshape reads the view, not a copy of it: there is one copy, of a view whose levels are digits of the sum.
// CHECK-LABEL: @reshaped_twice
// CHECK-SAME: (%[[A:[a-z0-9]*]]: tensor<12x10xf64, #[[$CSR]]>
func.func @reshaped_twice(%A: tensor<12x10xf64, #CSR>) -> tensor<6x20xf64, #CSR> {
  // CHECK: %[[FLAT:.*]] = tulle.reshape %[[A]] by #{{.*}} -> tensor<120xf64, #[[BY_10:.*]]>
  // CHECK-NOT: tulle.convert
  // CHECK: %[[VIEW:.*]] = tulle.reshape %[[FLAT]] by expand #{{.*}} : tensor<120xf64, #[[BY_10]]> -> tensor<6x20xf64, #[[OF_SUM:.*]]>
  // CHECK-NEXT: %[[COPY:.*]] = tulle.convert %[[VIEW]] : tensor<6x20xf64, #[[OF_SUM]]> to tensor<6x20xf64, #[[$CSR]]>
  // CHECK-NEXT: return %[[COPY]]
  %v = tensor.collapse_shape %A [[0, 1]] : tensor<12x10xf64, #CSR> into tensor<120xf64, #Vector>
  %B = tensor.expand_shape %v [[0, 1]] output_shape [6, 20] : tensor<120xf64, #Vector> into tensor<6x20xf64, #CSR>
  return %B : tensor<6x20xf64, #CSR>
}

// Dense levels are split and merged, and other dimensions stay.
// CHECK-LABEL: @dense
// CHECK-SAME: (%[[T:[a-z0-9]*]]: tensor<24x5xf64, #[[$CSR]]>, %[[D:[a-z0-9]*]]: tensor<4x6xf64>
func.func @dense(%T: tensor<24x5xf64, #CSR>, %D: tensor<4x6xf64>, %y: tensor<24xf64>, %z: tensor<4x6x5xf64>) -> (tensor<24xf64>, tensor<4x6x5xf64>) {
  // CHECK: tulle.reshape %[[D]] by #{{.*}} to(%c24{{.*}}) : tensor<4x6xf64> -> tensor<24xf64>
  %d = tensor.collapse_shape %D [[0, 1]] : tensor<4x6xf64> into tensor<24xf64>
  %r = linalg.add ins(%d, %d : tensor<24xf64>, tensor<24xf64>) outs(%y : tensor<24xf64>) -> tensor<24xf64>
  // CHECK-NOT: tulle.convert
  // CHECK: tulle.reshape %[[T]] by expand #{{.*}} to(%c4{{.*}}, %c6{{.*}}, %c5{{.*}}) : tensor<24x5xf64, #[[$CSR]]> -> tensor<4x6x5xf64, #
  %e = tensor.expand_shape %T [[0, 1], [2]] output_shape [4, 6, 5] : tensor<24x5xf64, #CSR> into tensor<4x6x5xf64>
  %s = linalg.add ins(%e, %e : tensor<4x6x5xf64>, tensor<4x6x5xf64>) outs(%z : tensor<4x6x5xf64>) -> tensor<4x6x5xf64>
  return %r, %s : tensor<24xf64>, tensor<4x6x5xf64>
}

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @unknown(%A: tensor<10x?xf64, #CSR>) -> tensor<?xf64> {
  // expected-error @+1 {{cannot import a group of dimensions unless all but the first have a static size above 1; dimension 1 of 'tensor<10x?xf64}}
  %v = tensor.collapse_shape %A [[0, 1]] : tensor<10x?xf64, #CSR> into tensor<?xf64>
  return %v : tensor<?xf64>
}
