// RUN: tulle-opt %s --transform-interpreter --split-input-file --verify-diagnostics

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @sparse(%x: tensor<8x4xf32, #CSR>, %p: tensor<3x1xi32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+3 {{to tile operation}}
  // expected-error @+2 {{failed to generate tiling loops}}
  // expected-error @+1 {{cannot take slices of 'tensor<8x4xf32, #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>>'; --tulle-expand-gather makes loops over its levels of this}}
  %r = tulle.gather %x[%p] coordinates = [0] into %y : tensor<8x4xf32, #CSR>[tensor<3x1xi32>] into tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %gather = transform.structured.match ops{["tulle.gather"]} in %module : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %gather tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @buffers(%y: memref<3x4xf32>, %z: memref<8x4xf32>, %p: memref<3x1xi32>) {
  // expected-error @+3 {{to tile operation}}
  // expected-error @+2 {{failed to generate tiling loops}}
  // expected-error @+1 {{cannot tile an op on buffers; tile before --one-shot-bufferize}}
  tulle.scatter %y into %z[%p] coordinates = [0] : memref<3x4xf32> into memref<8x4xf32>[memref<3x1xi32>]
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %scatter = transform.structured.match ops{["tulle.scatter"]} in %module : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %scatter tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The coordinates of one tile may be those of another.
func.func @unique(%y: tensor<3x4xf32>, %z: tensor<8x4xf32>, %p: tensor<3x1xi32>) -> tensor<8x4xf32> {
  // expected-error @+3 {{to tile operation}}
  // expected-error @+2 {{failed to generate tiling loops}}
  // expected-error @+1 {{cannot check 'unique' in tiles of dimension 0, one of the indices: a coordinate may be given again in another tile; tile the dimensions of the slices alone, or leave out 'unique'}}
  %r = tulle.scatter unique %y into %z[%p] coordinates = [0] : tensor<3x4xf32> into tensor<8x4xf32>[tensor<3x1xi32>]
  return %r : tensor<8x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %scatter = transform.structured.match ops{["tulle.scatter"]} in %module : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %scatter tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
