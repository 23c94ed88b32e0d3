// RUN: tulle-opt %s --canonicalize | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
#BLOCKS = #tulle.encoding<{ map = (l) -> (l floordiv 64 : dense, l mod 64 : compressed) }>

// A gather of a linspace is a slice: rows 1, 3, 5.
// CHECK-LABEL: @constants
func.func @constants(%x: tensor<8x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %arg0[1, 0] [3, 4] [2, 1] : tensor<8x4xf32> to tensor<3x4xf32>
  // CHECK-NEXT: return %[[S]]
  %p = arith.constant dense<[[1], [3], [5]]> : tensor<3x1xindex>
  %r = tulle.gather %x[%p] coordinates = [0] into %y : tensor<8x4xf32>[tensor<3x1xindex>] into tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// One coordinate is fixed, the other a range: a part of a column.
// CHECK-LABEL: @column
func.func @column(%x: tensor<8x4xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %arg0[6, 3] [2, 1] [1, 1] : tensor<8x4xf32> to tensor<2xf32>
  // CHECK-NEXT: return %[[S]]
  %p = arith.constant dense<[[3, 6], [3, 7]]> : tensor<2x2xi32>
  %r = tulle.gather %x[%p] coordinates = [1, 0] into %y : tensor<8x4xf32>[tensor<2x2xi32>] into tensor<2xf32>
  return %r : tensor<2xf32>
}

// All coordinates, of a tensor in any format.
// CHECK-LABEL: @all
func.func @all(%x: tensor<3x4xf32, #CSR>, %y: tensor<3x4xf32, #CSR>) -> tensor<3x4xf32, #CSR> {
  // CHECK-NEXT: return %arg0
  %p = arith.constant dense<[[0], [1], [2]]> : tensor<3x1xindex>
  %r = tulle.gather %x[%p] coordinates = [0] into %y : tensor<3x4xf32, #CSR>[tensor<3x1xindex>] into tensor<3x4xf32, #CSR>
  return %r : tensor<3x4xf32, #CSR>
}

// Sizes that are not known: n - 2 rows from the third on are in the matrix.
// CHECK-LABEL: @linspace
func.func @linspace(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  // CHECK: %[[M:.*]] = arith.subi
  %m = arith.subi %n, %c2 : index
  %p = tulle.index_map(%m) {
  ^bb0(%i: index):
    %k = arith.addi %i, %c2 : index
    tulle.yield %k : index
  } : tensor<?x1xindex>
  // CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %arg0[2, 0] [%[[M]], 4] [1, 1]
  // CHECK-NEXT: return %[[S]]
  %r = tulle.gather %x[%p] coordinates = [0] into %y : tensor<?x4xf32>[tensor<?x1xindex>] into tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Not known to be inside: the check stays.
// CHECK-LABEL: @unknown
func.func @unknown(%x: tensor<?x4xf32>, %m: index, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %p = tulle.index_map(%m) {
  ^bb0(%i: index):
    tulle.yield %i : index
  } : tensor<?x1xindex>
  // CHECK: tulle.gather
  %r = tulle.gather %x[%p] coordinates = [0] into %y : tensor<?x4xf32>[tensor<?x1xindex>] into tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Nor are integers that are no range, a range backwards, one that ends outside, and one whose slices are transposed.
// CHECK-LABEL: @no_slices
// CHECK-COUNT-4: tulle.gather
func.func @no_slices(%x: tensor<8x4xf32>, %y: tensor<3x4xf32>, %z: tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x8xf32>) {
  %p = arith.constant dense<[[1], [3], [4]]> : tensor<3x1xindex>
  %a = tulle.gather %x[%p] coordinates = [0] into %y : tensor<8x4xf32>[tensor<3x1xindex>] into tensor<3x4xf32>
  %q = arith.constant dense<[[5], [3], [1]]> : tensor<3x1xindex>
  %b = tulle.gather %x[%q] coordinates = [0] into %y : tensor<8x4xf32>[tensor<3x1xindex>] into tensor<3x4xf32>
  %s = arith.constant dense<[[2], [5], [8]]> : tensor<3x1xindex>
  %c = tulle.gather %x[%s] coordinates = [0] into %y : tensor<8x4xf32>[tensor<3x1xindex>] into tensor<3x4xf32>
  %t = arith.constant dense<[[0], [1], [2]]> : tensor<3x1xindex>
  %d = tulle.gather %x[%t] coordinates = [1] into %z : tensor<8x4xf32>[tensor<3x1xindex>] into tensor<3x8xf32>
  return %a, %b, %c, %d : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x8xf32>
}

// A gather by delinearized coordinates is a collapse, one by linearized ones an expansion.
// CHECK-LABEL: @collapse
func.func @collapse(%x: tensor<42x64x3xf32>, %y: tensor<2688x3xf32>) -> tensor<2688x3xf32> {
  // CHECK-NEXT: %[[S:.*]] = tensor.collapse_shape %arg0 {{\[}}[0, 1], [2]] : tensor<42x64x3xf32> into tensor<2688x3xf32>
  // CHECK-NEXT: return %[[S]]
  %p = tulle.index_map() {
  ^bb0(%l: index):
    %ij:2 = affine.delinearize_index %l into (42, 64) : index, index
    tulle.yield %ij#0, %ij#1 : index, index
  } : tensor<2688x2xindex>
  %r = tulle.gather %x[%p] coordinates = [0, 1] into %y : tensor<42x64x3xf32>[tensor<2688x2xindex>] into tensor<2688x3xf32>
  return %r : tensor<2688x3xf32>
}
// CHECK-LABEL: @expand
func.func @expand(%x: tensor<2688xf32>, %y: tensor<42x64xf32>) -> tensor<42x64xf32> {
  // CHECK-NEXT: %[[S:.*]] = tensor.expand_shape %arg0 {{\[}}[0, 1]] output_shape [42, 64] : tensor<2688xf32> into tensor<42x64xf32>
  // CHECK-NEXT: return %[[S]]
  %p = tulle.index_map() {
  ^bb0(%i: index, %j: index):
    %l = affine.linearize_index [%i, %j] by (42, 64) : index
    tulle.yield %l : index
  } : tensor<42x64x1xindex>
  %r = tulle.gather %x[%p] into %y : tensor<2688xf32>[tensor<42x64x1xindex>] into tensor<42x64xf32>
  return %r : tensor<42x64xf32>
}
// Another basis is another order of the elements.
// CHECK-LABEL: @other_basis
// CHECK: tulle.gather
func.func @other_basis(%x: tensor<42x64xf32>, %y: tensor<2688xf32>) -> tensor<2688xf32> {
  %p = tulle.index_map() {
  ^bb0(%l: index):
    %ij:2 = affine.delinearize_index %l into (64, 42) : index, index
    tulle.yield %ij#0, %ij#1 : index, index
  } : tensor<2688x2xindex>
  %r = tulle.gather %x[%p] into %y : tensor<42x64xf32>[tensor<2688x2xindex>] into tensor<2688xf32>
  return %r : tensor<2688xf32>
}

// Delinearize of linearize is nothing, as upstream has it.
// CHECK-LABEL: @delinearize
func.func @delinearize(%i: index, %j: index) -> (index, index) {
  // CHECK-NEXT: return %arg0, %arg1
  %l = affine.linearize_index disjoint [%i, %j] by (42, 64) : index
  %ij:2 = affine.delinearize_index %l into (42, 64) : index, index
  return %ij#0, %ij#1 : index, index
}

// A concatenation of adjacent slices is that of the whole; of some of them, it has a larger slice; of one sparse part, it is this, or a conversion.
// CHECK-LABEL: @whole
func.func @whole(%x: tensor<6x8xf32>) -> tensor<6x8xf32, #CSR> {
  // CHECK-NEXT: %[[S:.*]] = tulle.concat %arg0 along [1]
  // CHECK-NEXT: return %[[S]]
  %a = tensor.extract_slice %x[0, 0] [6, 3] [1, 1] : tensor<6x8xf32> to tensor<6x3xf32>
  %b = tensor.extract_slice %x[0, 3] [6, 1] [1, 1] : tensor<6x8xf32> to tensor<6x1xf32>
  %c = tensor.extract_slice %x[0, 4] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
  %r = tulle.concat %a, %b, %c along [1] : (tensor<6x3xf32>, tensor<6x1xf32>, tensor<6x4xf32>) -> tensor<6x8xf32, #CSR>
  return %r : tensor<6x8xf32, #CSR>
}
// CHECK-LABEL: @some
func.func @some(%x: tensor<6x8xf32>) -> tensor<6x8xf32, #CSR> {
  // CHECK: tensor.extract_slice %arg0[0, 4] [6, 4] [1, 1]
  // CHECK-NEXT: tensor.extract_slice %arg0[0, 0] [6, 4] [1, 1]
  // CHECK-NEXT: tulle.concat
  %a = tensor.extract_slice %x[0, 0] [6, 3] [1, 1] : tensor<6x8xf32> to tensor<6x3xf32>
  %b = tensor.extract_slice %x[0, 3] [6, 1] [1, 1] : tensor<6x8xf32> to tensor<6x1xf32>
  %c = tensor.extract_slice %x[0, 4] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
  %r = tulle.concat %c, %a, %b along [1] : (tensor<6x4xf32>, tensor<6x3xf32>, tensor<6x1xf32>) -> tensor<6x8xf32, #CSR>
  return %r : tensor<6x8xf32, #CSR>
}
// CHECK-LABEL: @one
func.func @one(%x: tensor<6x8xf32, #DCSR>) -> (tensor<6x8xf32, #DCSR>, tensor<6x8xf32, #CSC>) {
  // CHECK-NEXT: %[[S:.*]] = tulle.convert %arg0
  // CHECK-NEXT: return %arg0, %[[S]]
  %a = tulle.concat %x along [0] : (tensor<6x8xf32, #DCSR>) -> tensor<6x8xf32, #DCSR>
  %b = tulle.concat %x along [0] : (tensor<6x8xf32, #DCSR>) -> tensor<6x8xf32, #CSC>
  return %a, %b : tensor<6x8xf32, #DCSR>, tensor<6x8xf32, #CSC>
}

// Slices of a tensor with more dimensions are left alone.
// CHECK-LABEL: @slabs
func.func @slabs(%x: tensor<2x6x8xf32>) -> tensor<6x8xf32, #CSR> {
  // CHECK: tulle.concat %{{.*}}, %{{.*}} along [1]
  %a = tensor.extract_slice %x[0, 0, 0] [1, 6, 3] [1, 1, 1] : tensor<2x6x8xf32> to tensor<6x3xf32>
  %b = tensor.extract_slice %x[0, 0, 3] [1, 6, 5] [1, 1, 1] : tensor<2x6x8xf32> to tensor<6x5xf32>
  %r = tulle.concat %a, %b along [1] : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x8xf32, #CSR>
  return %r : tensor<6x8xf32, #CSR>
}

// A reshape of its inverse is nothing.
// CHECK-LABEL: @reshapes
func.func @reshapes(%x: tensor<?x64xf64, #CSR>, %n: index, %m: index) -> tensor<?x64xf64, #CSR> {
  // CHECK-NEXT: return %arg0
  %c64 = arith.constant 64 : index
  %v = tulle.reshape %x by affine_map<(l) -> (l floordiv 64, l mod 64)> to(%n) : tensor<?x64xf64, #CSR> -> tensor<?xf64, #BLOCKS>
  %r = tulle.reshape %v by expand affine_map<(l) -> (l floordiv 64, l mod 64)> to(%m, %c64) : tensor<?xf64, #BLOCKS> -> tensor<?x64xf64, #CSR>
  return %r : tensor<?x64xf64, #CSR>
}
