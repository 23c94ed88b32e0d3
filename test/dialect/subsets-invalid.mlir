// RUN: tulle-opt %s --split-input-file --verify-diagnostics

func.func @mixed(%x: tensor<4xf32>, %p: tensor<2x1xindex>, %y: memref<2xf32>) {
  // expected-error @+1 {{expected tensors and a result, or memrefs and none; to_buffer and to_tensor of the bufferization dialect are between them (constraint 1)}}
  tulle.gather %x[%p] into %y : tensor<4xf32>[tensor<2x1xindex>] into memref<2xf32>
  return
}

// -----

func.func @twice(%x: tensor<4x4xf32>, %p: tensor<2x2xindex>, %y: tensor<2xf32>) {
  // expected-error @+1 {{expected distinct dimensions of 'tensor<4x4xf32>', one at least (constraint 2)}}
  %r = tulle.gather %x[%p] coordinates = [1, 1] into %y : tensor<4x4xf32>[tensor<2x2xindex>] into tensor<2xf32>
  return
}

// -----

func.func @beyond(%x: tensor<4x4xf32>, %p: tensor<2x1xindex>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{expected distinct dimensions of 'tensor<4x4xf32>', one at least (constraint 2)}}
  %r = tulle.gather %x[%p] coordinates = [2] into %y : tensor<4x4xf32>[tensor<2x1xindex>] into tensor<2x4xf32>
  return
}

// -----

func.func @none(%x: tensor<4xf32>, %p: tensor<2x0xindex>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{expected distinct dimensions of 'tensor<4xf32>', one at least (constraint 2)}}
  %r = tulle.gather %x[%p] coordinates = [] into %y : tensor<4xf32>[tensor<2x0xindex>] into tensor<2x4xf32>
  return
}

// -----

func.func @few(%x: tensor<4x4xf32>, %p: tensor<2x1xindex>, %y: tensor<2xf32>) {
  // expected-error @+1 {{expected 2 coordinates in the last dimension of the indices, got 'tensor<2x1xindex>' (constraint 2)}}
  %r = tulle.gather %x[%p] into %y : tensor<4x4xf32>[tensor<2x1xindex>] into tensor<2xf32>
  return
}

// -----

func.func @unknown(%x: tensor<4xf32>, %p: tensor<2x?xindex>, %y: tensor<2xf32>) {
  // expected-error @+1 {{expected 1 coordinates in the last dimension of the indices, got 'tensor<2x?xindex>' (constraint 2)}}
  %r = tulle.gather %x[%p] into %y : tensor<4xf32>[tensor<2x?xindex>] into tensor<2xf32>
  return
}

// -----

func.func @element(%x: tensor<4xf32>, %p: tensor<2x1xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{expected indices of type index, i8, i16, i32 or i64, got 'f32' (constraint 2)}}
  %r = tulle.gather %x[%p] into %y : tensor<4xf32>[tensor<2x1xf32>] into tensor<2xf32>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @sparse_indices(%x: tensor<4xf32>, %p: tensor<2x1xi32, #CSR>, %y: tensor<2xf32>) {
  // expected-error @+1 {{expected dense indices in the order of their dimensions}}
  %r = tulle.gather %x[%p] into %y : tensor<4xf32>[tensor<2x1xi32, #CSR>] into tensor<2xf32>
  return
}

// -----

func.func @shape(%x: tensor<2x3x4xf32>, %p: tensor<5x6x1xindex>, %y: tensor<5x6x4x2xf32>) {
  // expected-error @+1 {{expected 'tensor<5x6x2x4xf32>' of slices, got 'tensor<5x6x4x2xf32>' (constraint 3)}}
  %r = tulle.gather %x[%p] coordinates = [1] into %y : tensor<2x3x4xf32>[tensor<5x6x1xindex>] into tensor<5x6x4x2xf32>
  return
}

// -----

func.func @type(%x: tensor<4xf32>, %p: tensor<2x1xindex>, %y: tensor<2xf64>) {
  // expected-error @+1 {{expected elements of type 'f64', got 'tensor<4xf32>' (constraint 3)}}
  %r = tulle.scatter %x into %y[%p] : tensor<4xf32> into tensor<2xf64>[tensor<2x1xindex>]
  return
}

// -----

func.func @clamped_unique(%x: tensor<2xf32>, %p: tensor<2x2xindex>, %y: tensor<4x4xf32>) {
  // expected-error @+1 {{expected integers that are not clamped: these meet at the ends of the dimension; leave out 'unique', or 'outside nearest' (constraint 4)}}
  %r = tulle.scatter unique %x into %y[%p] outside nearest : tensor<2xf32> into tensor<4x4xf32>[tensor<2x2xindex>]
  return
}

// -----

func.func @view_of_tensor(%x: tensor<4x4xf32>, %p: tensor<2x1xindex>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{expected buffers of which to have a view, got 'tensor<4x4xf32>'; copy, or bufferize first (constraint 4)}}
  %r = tulle.gather view %x[%p] coordinates = [0] into %y : tensor<4x4xf32>[tensor<2x1xindex>] into tensor<2x4xf32>
  return
}

// -----

func.func @copied_view(%x: memref<4x4xf32>, %p: memref<2x1xindex>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{expected 'memref<2xmemref<4xf32, strided<[1], offset: ?>>>', got 'memref<2x4xf32>' (constraint 4)}}
  tulle.gather view %x[%p] coordinates = [0] into %y : memref<4x4xf32>[memref<2x1xindex>] into memref<2x4xf32>
  return
}

// -----

func.func @no_size() {
  // expected-error @+1 {{expected a size for each dynamic dimension of 'tensor<?x1xindex>', and a static number of coordinates (constraint 1)}}
  %p = tulle.index_map() {
  ^bb0(%i: index):
    tulle.yield %i : index
  } : tensor<?x1xindex>
  return
}

// -----

func.func @one_coordinate() {
  // expected-error @+1 {{expected 1 block arguments and 2 yielded values, of type index (constraint 2)}}
  %p = tulle.index_map() {
  ^bb0(%i: index):
    tulle.yield %i : index
  } : tensor<8x2xindex>
  return
}
