// The RFC's fusion through a gather, by upstream's own passes: the row of the product at each index is computed where it is read.
// RUN: tulle-opt %s --transform-interpreter --split-input-file --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @matmul_gather_bias
func.func @matmul_gather_bias(%0: tensor<42x32xf32>, %1: tensor<32x64xf32>, %2: tensor<42x64xf32>, %indices: tensor<5x1xindex>, %4: tensor<5x64xf32>, %5: tensor<5x64xf32>, %6: tensor<5x64xf32>) -> tensor<5x64xf32> {
  // CHECK: scf.for %[[I:.*]] = %c0 to %c5 step %c1 iter_args(%[[OUT:.*]] = %arg6)
  // CHECK: %[[INDEX:.*]] = tensor.extract %arg3[%[[I]], %c0]
  // CHECK: cf.assert
  // CHECK: %[[ROW:.*]] = tensor.extract_slice %arg0[%[[INDEX]], 0] [1, 32] [1, 1]
  // CHECK: %[[START:.*]] = tensor.extract_slice %arg2[%[[INDEX]], 0] [1, 64] [1, 1]
  // CHECK: %[[A:.*]] = linalg.matmul ins(%[[ROW]], %arg1 : tensor<1x32xf32>, tensor<32x64xf32>) outs(%[[START]] : tensor<1x64xf32>)
  // CHECK: linalg.sub ins(%[[A]], %{{.*}} : tensor<1x64xf32>, tensor<1x64xf32>)
  // CHECK-NOT: tulle.gather
  %3 = linalg.matmul ins(%0, %1 : tensor<42x32xf32>, tensor<32x64xf32>) outs(%2 : tensor<42x64xf32>) -> tensor<42x64xf32>
  %g = tulle.gather %3[%indices] coordinates = [0] into %4 : tensor<42x64xf32>[tensor<5x1xindex>] into tensor<5x64xf32>
  %7 = linalg.sub ins(%g, %5 : tensor<5x64xf32>, tensor<5x64xf32>) outs(%6 : tensor<5x64xf32>) -> tensor<5x64xf32>
  return %7 : tensor<5x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %sub = transform.structured.match ops{["linalg.sub"]} in %module : (!transform.any_op) -> !transform.any_op
    %fused, %loop = transform.structured.fuse %sub tile_sizes [1, 0] {apply_cleanup} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Tiles of several places are gathers of all rows, and of some columns: those of the product are computed.
// CHECK-LABEL: @columns
func.func @columns(%0: tensor<42x32xf32>, %1: tensor<32x64xf32>, %2: tensor<42x64xf32>, %indices: tensor<5x1xindex>, %4: tensor<5x64xf32>) -> tensor<5x64xf32> {
  // CHECK: scf.for %[[J:.*]] = %c0 to %c64 step %c16
  // CHECK: %[[P:.*]] = linalg.matmul ins(%{{.*}} : tensor<42x32xf32>, tensor<32x16xf32>) outs(%{{.*}} : tensor<42x16xf32>)
  // CHECK: tulle.gather %[[P]][%arg3] coordinates = [0] into %{{.*}} : tensor<42x16xf32>[tensor<5x1xindex>] into tensor<5x16xf32>
  %3 = linalg.matmul ins(%0, %1 : tensor<42x32xf32>, tensor<32x64xf32>) outs(%2 : tensor<42x64xf32>) -> tensor<42x64xf32>
  %g = tulle.gather %3[%indices] coordinates = [0] into %4 : tensor<42x64xf32>[tensor<5x1xindex>] into tensor<5x64xf32>
  return %g : tensor<5x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %gather = transform.structured.match ops{["tulle.gather"]} in %module : (!transform.any_op) -> !transform.any_op
    %product = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %gather tile_sizes [0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused, %new = transform.structured.fuse_into_containing_op %product into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Single elements; slices behind the first dimension, which the result has first.
// CHECK-LABEL: @points
func.func @points(%cube: tensor<4x4x4xf32>, %p: tensor<1x2x3xi32>, %y: tensor<1x2xf32>, %x: tensor<2x3x4xf32>, %q: tensor<5x6x1xindex>, %z: tensor<5x6x2x4xf32>) -> (tensor<1x2xf32>, tensor<5x6x2x4xf32>) {
  // CHECK: scf.for
  // CHECK: tensor.extract_slice %arg0[%{{.*}}, %{{.*}}, %{{.*}}] [1, 1, 1] [1, 1, 1] : tensor<4x4x4xf32> to tensor<f32>
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: %[[S:.*]] = tensor.extract_slice %arg3[0, %{{.*}}, 0] [2, 1, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x4xf32>
  // CHECK: tensor.insert_slice %[[S]] into
  %a = tulle.gather %cube[%p] into %y : tensor<4x4x4xf32>[tensor<1x2x3xi32>] into tensor<1x2xf32>
  %b = tulle.gather %x[%q] coordinates = [1] outside nearest into %z : tensor<2x3x4xf32>[tensor<5x6x1xindex>] into tensor<5x6x2x4xf32>
  return %a, %b : tensor<1x2xf32>, tensor<5x6x2x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %gathers = transform.structured.match ops{["tulle.gather"]} in %module : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %gathers : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %t0, %l0:2 = transform.structured.tile_using_for %a tile_sizes [1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %t1, %l1:2 = transform.structured.tile_using_for %b tile_sizes [1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A scatter's loop over places carries the destination.
// CHECK-LABEL: @scatter
func.func @scatter(%y: tensor<5x64xf32>, %z: tensor<42x64xf32>, %p: tensor<5x1xindex>) -> tensor<42x64xf32> {
  // CHECK: scf.for %[[I:.*]] = %c0 to %c5 step %c2 iter_args(%[[Z0:.*]] = %arg1)
  // CHECK: scf.for %[[J:.*]] = %c0 to %c64 step %c16 iter_args(%[[Z:.*]] = %[[Z0]])
  // CHECK: %[[Y:.*]] = tensor.extract_slice %arg0[%[[I]], %[[J]]] [%{{.*}}, 16]
  // CHECK: %[[P:.*]] = tensor.extract_slice %arg2[%[[I]], 0] [%{{.*}}, 1]
  // CHECK: %[[OLD:.*]] = tensor.extract_slice %[[Z]][0, %[[J]]] [42, 16]
  // CHECK: %[[NEW:.*]] = tulle.scatter %[[Y]] into %[[OLD]][%[[P]]] coordinates = [0]
  // CHECK: tensor.insert_slice %[[NEW]] into %[[Z]][0, %[[J]]] [42, 16]
  %r = tulle.scatter %y into %z[%p] coordinates = [0] : tensor<5x64xf32> into tensor<42x64xf32>[tensor<5x1xindex>]
  return %r : tensor<42x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %scatter = transform.structured.match ops{["tulle.scatter"]} in %module : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %scatter tile_sizes [2, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Tiles of slices have all coordinates, and check that they are distinct.
// CHECK-LABEL: @unique
func.func @unique(%y: tensor<?x64xf32>, %z: tensor<42x64xf32>, %p: tensor<?x1xindex>) -> tensor<42x64xf32> {
  // CHECK: scf.for %[[J:.*]] = %c0 to %c64 step %c16
  // CHECK: %[[P:.*]] = tensor.extract_slice %arg2[0, 0] [%{{.*}}, 1]
  // CHECK: tulle.scatter unique %{{.*}} into %{{.*}}[%[[P]]] coordinates = [0] : tensor<?x16xf32> into tensor<42x16xf32>[tensor<?x1xindex>]
  %r = tulle.scatter unique %y into %z[%p] coordinates = [0] : tensor<?x64xf32> into tensor<42x64xf32>[tensor<?x1xindex>]
  return %r : tensor<42x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %scatter = transform.structured.match ops{["tulle.scatter"]} in %module : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %scatter tile_sizes [0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
