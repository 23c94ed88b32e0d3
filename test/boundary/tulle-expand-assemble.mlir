// RUN: tulle-opt %s --tulle-expand-assemble --split-input-file --verify-diagnostics | FileCheck %s

#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>

// The tensor owns copies, as long as its entries need: it frees them, and the caller's buffers may change.
// CHECK-LABEL: @assemble
// CHECK-SAME: (%[[P:.*]]: tensor<2xindex>, %[[C:.*]]: tensor<3x2xindex>, %[[V:.*]]: tensor<3xf64>)
// CHECK: memref.copy %{{.*}}, %[[POS:.*]] : memref<?xindex> to memref<?xindex>
// CHECK: %[[P64:.*]] = builtin.unrealized_conversion_cast %[[POS]] : memref<?xindex> to memref<?xi64>
// CHECK: %[[END:.*]] = memref.load %[[P64]]
// CHECK: %[[N:.*]] = arith.index_castui %[[END]]
// CHECK: %[[M:.*]] = arith.muli %[[N]], %c2
// CHECK: %[[CRD:.*]] = memref.alloc(%[[M]]) : memref<?xindex>
// CHECK: memref.copy %{{.*}}, %[[CRD]]
// CHECK: memref.copy %{{.*}}, %[[VAL:.*]] : memref<?xf64> to memref<?xf64>
// CHECK: %[[T:.*]] = tulle.storage(%[[P64]], %{{.*}}, %[[VAL]]) sizes(%c4{{.*}}, %c5{{.*}})
// CHECK: tensor.cast %[[T]] : tensor<4x5xf64, #{{.*}}> to tensor<4x5xf64, #sparse>
func.func @assemble(%pos: tensor<2xindex>, %crd: tensor<3x2xindex>, %val: tensor<3xf64>) -> tensor<4x5xf64, #COO> {
  %A = sparse_tensor.assemble (%pos, %crd), %val : (tensor<2xindex>, tensor<3x2xindex>), tensor<3xf64> to tensor<4x5xf64, #COO>
  return %A : tensor<4x5xf64, #COO>
}

// So does upstream's run-time library, and who asks is told so.
// CHECK-LABEL: @copies
// CHECK: %[[YES:.*]] = arith.constant true
// CHECK: return %[[YES]]
func.func @copies() -> i1 {
  %r = sparse_tensor.has_runtime_library
  return %r : i1
}

// Of a dynamic size all elements are values; coordinates are as many as the positions say.
// CHECK-LABEL: @dynamic
// CHECK-SAME: %[[VAL:[^:]*]]: tensor<?xf64>
// CHECK: memref.load %{{.*}} : memref<?xi64>
// CHECK: %[[DIM:.*]] = tensor.dim %[[VAL]]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[DIM]]]
func.func @dynamic(%pos: tensor<2xindex>, %crd: tensor<?x2xindex>, %val: tensor<?xf64>) -> tensor<4x5xf64, #COO> {
  %A = sparse_tensor.assemble (%pos, %crd), %val : (tensor<2xindex>, tensor<?x2xindex>), tensor<?xf64> to tensor<4x5xf64, #COO>
  return %A : tensor<4x5xf64, #COO>
}

// A tensor whose buffers only the block reads is freed.
// CHECK-LABEL: @read
// CHECK: %[[T:.*]] = tensor.cast
// CHECK: memref.load
// CHECK: bufferization.dealloc_tensor %[[T]]
// CHECK-NEXT: return
func.func @read(%pos: tensor<2xindex>, %crd: tensor<3x2xindex>, %val: tensor<3xf64>, %i: index) -> f64 {
  %A = sparse_tensor.assemble (%pos, %crd), %val : (tensor<2xindex>, tensor<3x2xindex>), tensor<3xf64> to tensor<4x5xf64, #COO>
  %v = sparse_tensor.values %A : tensor<4x5xf64, #COO> to memref<?xf64>
  %x = memref.load %v[%i] : memref<?xf64>
  return %x : f64
}
