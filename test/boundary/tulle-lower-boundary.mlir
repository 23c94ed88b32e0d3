// RUN: tulle-opt %s --tulle-lower-boundary | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// A kernel takes the buffers of its tensors, dense ones in one dimension, and their sizes; it replaces its declaration.
// CHECK-LABEL: func.func @matvec(
// CHECK-SAME: %[[POS:.*]]: memref<?xi32>, %[[CRD:.*]]: memref<?xi32>, %[[VAL:.*]]: memref<?xf64>, %[[M:.*]]: index, %[[N:.*]]: index, %[[X:.*]]: tensor<?xf64>, %[[Y:.*]]: tensor<?xf64>) -> tensor<?xf64>
// CHECK: call @kernel0(%[[POS]], %[[CRD]], %[[VAL]], %[[M]], %[[N]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: bufferization.to_tensor
func.func @matvec(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %r = call @kernel0(%A, %x, %y) : (tensor<?x?xf64, #CSR>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func private @kernel0(tensor<?x?xf64, #CSR>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>

// CHECK-LABEL: func.func @fields(
// CHECK-SAME: %[[POS:.*]]: memref<?xi32>, %[[CRD:.*]]: memref<?xi32>, %[[VAL:.*]]: memref<?xf64>, %[[M:.*]]: index, %[[N:.*]]: index) -> (memref<?xi32>, memref<?xi32>, memref<?xf64>, index)
// CHECK: memref.dealloc %[[POS]]
// CHECK: memref.dealloc %[[CRD]]
// CHECK: memref.dealloc %[[VAL]]
// CHECK: return %[[POS]], %[[CRD]], %[[VAL]], %[[M]]
func.func @fields(%A: tensor<?x?xf64, #CSR>) -> (memref<?xi32>, memref<?xi32>, memref<?xf64>, index) {
  %c0 = arith.constant 0 : index
  %p = sparse_tensor.positions %A {level = 1 : index} : tensor<?x?xf64, #CSR> to memref<?xi32>
  %c = sparse_tensor.coordinates %A {level = 1 : index} : tensor<?x?xf64, #CSR> to memref<?xi32>
  %v = sparse_tensor.values %A : tensor<?x?xf64, #CSR> to memref<?xf64>
  %m = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  bufferization.dealloc_tensor %A : tensor<?x?xf64, #CSR>
  return %p, %c, %v, %m : memref<?xi32>, memref<?xi32>, memref<?xf64>, index
}

// CHECK-LABEL: func.func @size(
// CHECK-SAME: memref<?xf64>, %[[M:[a-z0-9]+]]: index, %[[N:.*]]: index, %[[D:.*]]: index) -> index
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[D]], %c1
// CHECK: %[[S:.*]] = arith.select %[[SECOND]], %[[N]], %[[M]]
// CHECK: return %[[S]]
func.func @size(%A: tensor<?x?xf64, #CSR>, %d: index) -> index {
  %s = tensor.dim %A, %d : tensor<?x?xf64, #CSR>
  return %s : index
}

// Through control flow a sparse tensor is as many values.
// CHECK-LABEL: func.func @chosen(
// CHECK: scf.if %{{.*}} -> (memref<?xi32>, memref<?xi32>, memref<?xf64>, index, index)
func.func @chosen(%c: i1, %A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %r = scf.if %c -> tensor<?x?xf64, #CSR> {
    scf.yield %A : tensor<?x?xf64, #CSR>
  } else {
    scf.yield %B : tensor<?x?xf64, #CSR>
  }
  return %r : tensor<?x?xf64, #CSR>
}

// CHECK: func.func private @kernel0(%{{.*}}: memref<?xi32>
// CHECK-NOT: module @kernels
module @kernels {
  func.func @kernel0(%pos: memref<?xi32>, %crd: memref<?xi32>, %val: memref<?xf64>, %m: index, %n: index, %x: memref<?xf64>, %xs: index, %y: memref<?xf64>, %ys: index) {
    return
  }
}
