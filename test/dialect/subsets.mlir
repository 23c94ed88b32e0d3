// RUN: tulle-opt %s | tulle-opt | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// The RFC's two gathers: single elements, and the whole slices [:, p, :].
// CHECK-LABEL: @gathers
func.func @gathers(%cube: tensor<4x4x4xf32>, %p: tensor<1x2x3xindex>, %y: tensor<1x2xf32>, %x: tensor<2x3x4xf32>, %q: tensor<5x6x1xi32>, %z: tensor<5x6x2x4xf32>) -> (tensor<1x2xf32>, tensor<5x6x2x4xf32>) {
  // CHECK: tulle.gather %{{.*}}[%{{.*}}] into %{{.*}} : tensor<4x4x4xf32>[tensor<1x2x3xindex>] into tensor<1x2xf32>
  %a = tulle.gather %cube[%p] into %y : tensor<4x4x4xf32>[tensor<1x2x3xindex>] into tensor<1x2xf32>
  // CHECK: tulle.gather %{{.*}}[%{{.*}}] coordinates = [1] outside nearest into %{{.*}} : tensor<2x3x4xf32>[tensor<5x6x1xi32>] into tensor<5x6x2x4xf32>
  %b = tulle.gather %x[%q] coordinates = [1] outside nearest into %z : tensor<2x3x4xf32>[tensor<5x6x1xi32>] into tensor<5x6x2x4xf32>
  return %a, %b : tensor<1x2xf32>, tensor<5x6x2x4xf32>
}

// CHECK-LABEL: @sparse
func.func @sparse(%x: tensor<?x8xf64, #CSR>, %p: tensor<?x1xi64>, %y: tensor<?x8xf64, #CSR>) -> tensor<?x8xf64, #CSR> {
  // CHECK: tulle.gather %{{.*}} coordinates = [0] into %{{.*}} : tensor<?x8xf64, #CSR>[tensor<?x1xi64>] into tensor<?x8xf64, #CSR>
  %r = tulle.gather %x[%p] coordinates = [0] into %y : tensor<?x8xf64, #CSR>[tensor<?x1xi64>] into tensor<?x8xf64, #CSR>
  return %r : tensor<?x8xf64, #CSR>
}

// CHECK-LABEL: @scatters
func.func @scatters(%y: tensor<5x6x2x4xf32>, %x: tensor<2x3x4xf32>, %q: tensor<5x6x1xi32>) -> tensor<2x3x4xf32> {
  // CHECK: tulle.scatter unique %{{.*}} into %{{.*}}[%{{.*}}] coordinates = [1] outside nothing : tensor<5x6x2x4xf32> into tensor<2x3x4xf32>[tensor<5x6x1xi32>]
  %r = tulle.scatter unique %y into %x[%q] coordinates = [1] outside nothing : tensor<5x6x2x4xf32> into tensor<2x3x4xf32>[tensor<5x6x1xi32>]
  return %r : tensor<2x3x4xf32>
}

// Buffers have no result; a view has memrefs as elements, the RFC's memref<? x memref<4xf32>>.
// CHECK-LABEL: @buffers
func.func @buffers(%x: memref<4x4xf32>, %p: memref<?x1xindex>, %y: memref<?x4xf32>, %rows: memref<?xmemref<4xf32, strided<[1], offset: ?>>>, %columns: memref<?xmemref<4xf32, strided<[4], offset: ?>>>) {
  // CHECK: tulle.gather %{{.*}} coordinates = [1] into %{{.*}} : memref<4x4xf32>[memref<?x1xindex>] into memref<?x4xf32>
  tulle.gather %x[%p] coordinates = [1] into %y : memref<4x4xf32>[memref<?x1xindex>] into memref<?x4xf32>
  // CHECK: tulle.gather view %{{.*}} coordinates = [0] into
  tulle.gather view %x[%p] coordinates = [0] into %rows : memref<4x4xf32>[memref<?x1xindex>] into memref<?xmemref<4xf32, strided<[1], offset: ?>>>
  // CHECK: tulle.gather view %{{.*}} coordinates = [1] into
  tulle.gather view %x[%p] coordinates = [1] into %columns : memref<4x4xf32>[memref<?x1xindex>] into memref<?xmemref<4xf32, strided<[4], offset: ?>>>
  // CHECK: tulle.scatter %{{.*}} into %{{.*}}[%{{.*}}] coordinates = [0] : memref<?x4xf32> into memref<4x4xf32>[memref<?x1xindex>]
  tulle.scatter %y into %x[%p] coordinates = [0] : memref<?x4xf32> into memref<4x4xf32>[memref<?x1xindex>]
  return
}

// CHECK-LABEL: @index_map
func.func @index_map(%n: index) -> tensor<?x2xindex> {
  // CHECK: tulle.index_map(%{{.*}}) {
  // CHECK-NEXT: ^bb0(%[[L:.*]]: index):
  // CHECK: tulle.yield %{{.*}}#0, %{{.*}}#1 : index, index
  // CHECK-NEXT: } : tensor<?x2xindex>
  %p = tulle.index_map(%n) {
  ^bb0(%l: index):
    %ij:2 = affine.delinearize_index %l into (42, 64) : index, index
    tulle.yield %ij#0, %ij#1 : index, index
  } : tensor<?x2xindex>
  return %p : tensor<?x2xindex>
}
