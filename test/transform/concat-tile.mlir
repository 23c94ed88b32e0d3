// A dense concatenation has its tiles from upstream: cut at the seam, what computes a part is tiled, and stores into its part of the one result, without copies.
// RUN: tulle-opt %s --transform-interpreter --eliminate-empty-tensors --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize --cse --canonicalize | FileCheck %s

// CHECK-LABEL: @side_by_side
func.func @side_by_side(%a: tensor<8x5xf32>, %b: tensor<8x7xf32>, %x: tensor<8x5xf32>, %y: tensor<8x7xf32>) -> tensor<8x12xf32> {
  // CHECK: %[[C:.*]] = memref.alloc() {{.*}} : memref<8x12xf32>
  // CHECK-NOT: memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK: %[[LEFT:.*]] = memref.subview %[[C]][0, 0] [8, 5] [1, 1]
  // CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c3
  // CHECK: %[[TILE:.*]] = memref.subview %[[LEFT]][%[[I]], 0] [%{{.*}}, 5] [1, 1]
  // CHECK: linalg.add {{.*}} outs(%[[TILE]] :
  // CHECK: %[[RIGHT:.*]] = memref.subview %[[C]][0, 5] [8, 7] [1, 1]
  // CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c3
  // CHECK: %[[TILE:.*]] = memref.subview %[[RIGHT]][%[[I]], 0] [%{{.*}}, 7] [1, 1]
  // CHECK: linalg.mul {{.*}} outs(%[[TILE]] :
  // CHECK-NOT: memref.copy
  // CHECK: return %[[C]]
  %left = tensor.empty() : tensor<8x5xf32>
  %right = tensor.empty() : tensor<8x7xf32>
  %p = linalg.add ins(%a, %x : tensor<8x5xf32>, tensor<8x5xf32>) outs(%left : tensor<8x5xf32>) -> tensor<8x5xf32>
  %q = linalg.mul ins(%b, %y : tensor<8x7xf32>, tensor<8x7xf32>) outs(%right : tensor<8x7xf32>) -> tensor<8x7xf32>
  %c = tensor.concat dim(1) %p, %q : (tensor<8x5xf32>, tensor<8x7xf32>) -> tensor<8x12xf32>
  return %c : tensor<8x12xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %function = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.tensor.decompose_concat
    } : !transform.any_op
    %parts = transform.structured.match ops{["linalg.add", "linalg.mul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %parts tile_sizes [3] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
