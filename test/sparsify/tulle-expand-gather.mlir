// RUN: tulle-opt %s --tulle-expand-gather --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$SOURCE:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d4, d3)>
// CHECK-DAG: #[[$SELECTED:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, d4)>
// CHECK-DAG: #[[$PART:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: @gather
func.func @gather(%x: tensor<2x3x4xf32>, %p: tensor<5x6x1xindex>, %y: tensor<5x6x2x4xf32>) -> tensor<5x6x2x4xf32> {
  // CHECK: %[[START:.*]] = tulle.fill %{{.*}}, %arg2
  // CHECK: %[[Q:.*]] = tulle.bounded_indices %arg1 below %{{.*}} outside error "indices" at [-1, -1, 0] : tensor<5x6x1xi64> -> tensor<5x6x1xi64>
  // CHECK: %[[S:.*]] = tulle.one_hot total %[[Q]]
  // CHECK: linalg.generic {indexing_maps = [#[[$SOURCE]], #[[$SELECTED]], #[[$PART]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %[[S]] : {{.*}}) outs(%[[START]] :
  %r = tulle.gather %x[%p] coordinates = [1] into %y : tensor<2x3x4xf32>[tensor<5x6x1xindex>] into tensor<5x6x2x4xf32>
  return %r : tensor<5x6x2x4xf32>
}

// What is outside keeps what the init has; integers of 8 bits become 32 to have -1.
// CHECK-LABEL: @nothing
func.func @nothing(%x: tensor<4xf32>, %p: tensor<5x1xi8>, %y: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK: %[[Q:.*]] = tulle.bounded_indices %arg1 below %{{.*}} outside nothing "indices" at [-1, 0] : tensor<5x1xi8> -> tensor<5x1xi32>
  // CHECK: tulle.one_hot %[[Q]]
  // CHECK: linalg.generic {{.*}} outs(%arg2 : tensor<5xf32>)
  %r = tulle.gather %x[%p] outside nothing into %y : tensor<4xf32>[tensor<5x1xi8>] into tensor<5xf32>
  return %r : tensor<5xf32>
}

// Of two coordinates neither is given once, but both together: selections of one are not distinct. Errors have the argument's name.
// CHECK-LABEL: @points
func.func @points(%y: tensor<5xf32>, %z: tensor<4x4xf32>, %p: tensor<5x2xi32> {tulle.name = "cells"}) -> tensor<4x4xf32> {
  // CHECK: %[[D:.*]] = tulle.distinct_indices %arg2 below(%{{.*}}, %{{.*}}) "cells" : tensor<5x2xi32>
  // CHECK: %[[ROWS:.*]] = tulle.bounded_indices %[[D]] below %{{.*}} outside error "cells" at [-1, 0]
  // CHECK: tulle.one_hot total %[[ROWS]]
  // CHECK: %[[COLUMNS:.*]] = tulle.bounded_indices %[[D]] below %{{.*}} outside error "cells" at [-1, 1]
  // CHECK: tulle.one_hot total %[[COLUMNS]]
  // CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "parallel"]
  %r = tulle.scatter unique %y into %z[%p] : tensor<5xf32> into tensor<4x4xf32>[tensor<5x2xi32>]
  return %r : tensor<4x4xf32>
}

// -----

func.func @made(%x: tensor<7xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %p = tulle.index_map() {
  ^bb0(%i: index):
    tulle.yield %i : index
  } : tensor<3x1xindex>
  // expected-error @+1 {{cannot expand indices of type index unless they are an argument of the function; cast them to i64}}
  %r = tulle.gather %x[%p] into %y : tensor<7xf64>[tensor<3x1xindex>] into tensor<3xf64>
  return %r : tensor<3xf64>
}

// -----

func.func @used(%x: tensor<7xf64>, %p: tensor<3x1xindex>, %y: tensor<3xf64>) -> (tensor<3xf64>, tensor<3x1xindex>) {
  %r = tulle.gather %x[%p] into %y : tensor<7xf64>[tensor<3x1xindex>] into tensor<3xf64>
  // expected-error @+1 {{cannot expand what else is done with indices of type index}}
  return %r, %p : tensor<3xf64>, tensor<3x1xindex>
}
