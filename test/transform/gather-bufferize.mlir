// RUN: tulle-opt %s --one-shot-bufferize="bufferize-function-boundaries" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: tulle-opt %s --eliminate-empty-tensors --split-input-file | FileCheck %s --check-prefix=EMPTY

// The init is written in place: its elements are not read, so that there is no copy. The destination is an argument.
// CHECK-LABEL: @in_place
func.func @in_place(%x: tensor<8x4xf32>, %p: tensor<3x1xi32>, %z: tensor<9x4xf32> {bufferization.writable = true}) -> tensor<9x4xf32> {
  // CHECK: %[[Y:.*]] = memref.alloc() {{.*}} : memref<3x4xf32>
  // CHECK-NEXT: tulle.gather %arg0[%arg1] coordinates = [0] into %[[Y]] :
  // CHECK-NEXT: tulle.scatter unique %[[Y]] into %arg2[%arg1] coordinates = [0] :
  // CHECK-NEXT: return %arg2
  %e = tensor.empty() : tensor<3x4xf32>
  %y = tulle.gather %x[%p] coordinates = [0] into %e : tensor<8x4xf32>[tensor<3x1xi32>] into tensor<3x4xf32>
  %r = tulle.scatter unique %y into %z[%p] coordinates = [0] : tensor<3x4xf32> into tensor<9x4xf32>[tensor<3x1xi32>]
  return %r : tensor<9x4xf32>
}

// -----

// The old destination is read afterwards: a copy is written.
// CHECK-LABEL: @copied
func.func @copied(%y: tensor<3x4xf32>, %p: tensor<3x1xindex>, %z: tensor<9x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xf32>) {
  // CHECK: %[[C:.*]] = memref.alloc()
  // CHECK: memref.copy %arg2, %[[C]]
  // CHECK: tulle.scatter %arg0 into %[[C]][%arg1]
  %r = tulle.scatter %y into %z[%p] coordinates = [0] : tensor<3x4xf32> into tensor<9x4xf32>[tensor<3x1xindex>]
  return %r, %z : tensor<9x4xf32>, tensor<9x4xf32>
}

// -----

// What is not selected keeps the init's elements, which are read therefore.
// CHECK-LABEL: @kept
func.func @kept(%x: tensor<8xf32>, %p: tensor<3x1xindex>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  // CHECK: memref.copy %arg2, %[[C:.*]] :
  // CHECK: tulle.gather %arg0[%arg1] outside nothing into %[[C]]
  %r = tulle.gather %x[%p] outside nothing into %y : tensor<8xf32>[tensor<3x1xindex>] into tensor<3xf32>
  return %r, %y : tensor<3xf32>, tensor<3xf32>
}

// -----

// Rows are changed in place, between a gather and a scatter at the same coordinates.
// CHECK-LABEL: @update
func.func @update(%x: tensor<8x4xf32> {bufferization.writable = true}, %p: tensor<3x1xindex>) -> tensor<8x4xf32> {
  // CHECK: tulle.gather %arg0
  // CHECK-NOT: memref.copy
  // CHECK: tulle.scatter %{{.*}} into %arg0
  %e = tensor.empty() : tensor<3x4xf32>
  %y = tulle.gather %x[%p] coordinates = [0] into %e : tensor<8x4xf32>[tensor<3x1xindex>] into tensor<3x4xf32>
  %n = linalg.exp ins(%y : tensor<3x4xf32>) outs(%y : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = tulle.scatter %n into %x[%p] coordinates = [0] : tensor<3x4xf32> into tensor<8x4xf32>[tensor<3x1xindex>]
  return %r : tensor<8x4xf32>
}

// -----

// A copy is no part of the destination that could be written instead of the empty tensor.
// EMPTY-LABEL: @empty
// EMPTY: tensor.empty
// EMPTY-NOT: tulle.gather
// EMPTY: tulle.scatter
// CHECK-LABEL: @empty
func.func @empty(%a: tensor<3x4xf32>, %z: tensor<9x4xf32>, %p: tensor<3x1xindex>) -> tensor<9x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.exp ins(%a : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = tulle.scatter %y into %z[%p] coordinates = [0] : tensor<3x4xf32> into tensor<9x4xf32>[tensor<3x1xindex>]
  return %r : tensor<9x4xf32>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @sparse(%x: tensor<8x4xf32, #CSR>, %p: tensor<3x1xi32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+2 {{failed to bufferize op}}
  // expected-error @+1 {{cannot bufferize 'tensor<8x4xf32, #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>>' as one buffer; --tulle-expand-gather makes loops over its levels of this}}
  %r = tulle.gather %x[%p] coordinates = [0] into %y : tensor<8x4xf32, #CSR>[tensor<3x1xi32>] into tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// The source is read after the scatter: a gather is no part of what the scatter overwrites.
// CHECK-LABEL: @read_after
func.func @read_after(%y: tensor<3x4xf32>, %z: tensor<9x4xf32> {bufferization.writable = true}, %p: tensor<3x1xindex>) -> (tensor<9x4xf32>, tensor<3x4xf32>) {
  // CHECK: memref.copy %arg1, %[[C:.*]] :
  // CHECK: tulle.scatter %arg0 into %[[C]][%arg2]
  // CHECK: tulle.gather %arg1[%arg2]
  %r = tulle.scatter %y into %z[%p] coordinates = [0] : tensor<3x4xf32> into tensor<9x4xf32>[tensor<3x1xindex>]
  %e = tensor.empty() : tensor<3x4xf32>
  %g = tulle.gather %z[%p] coordinates = [0] into %e : tensor<9x4xf32>[tensor<3x1xindex>] into tensor<3x4xf32>
  return %r, %g : tensor<9x4xf32>, tensor<3x4xf32>
}
