// RUN: tulle-opt %s --tulle-outline-kernels --split-input-file | FileCheck %s
// RUN: tulle-opt %s --tulle-outline-kernels=cpu=znver5 --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: not tulle-opt %s --tulle-outline-kernels=cpu=znver55 --split-input-file 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// CPU: module @kernels attributes {tulle.cpu = #tulle.cpu<znver5>}
// UNKNOWN: error: expected the name of a processor, as #tulle.cpu has it, got 'znver55'

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// What is written in place is the last operand; constants move into the kernel.
// CHECK-LABEL: func.func @matvec(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf64, #{{.*}}>, %[[X:.*]]: tensor<?xf64>, %[[Y:.*]]: tensor<?xf64>)
// CHECK: %[[R:.*]] = call @kernel0(%[[A]], %[[X]], %[[Y]])
// CHECK: return %[[R]]
func.func @matvec(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.matvec ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%y : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// The sizes of a new result that are not static are operands behind the tensors.
// CHECK-LABEL: func.func @convert(
// CHECK-SAME: %[[D:.*]]: tensor<?x4xf64>)
// CHECK: %[[N:.*]] = tensor.dim %[[D]], %c0
// CHECK: call @kernel1(%[[D]], %[[N]])
func.func @convert(%d: tensor<?x4xf64>) -> tensor<?x4xf64, #CSR> {
  %c = sparse_tensor.convert %d : tensor<?x4xf64> to tensor<?x4xf64, #CSR>
  return %c : tensor<?x4xf64, #CSR>
}

// CHECK: module @kernels
// CHECK: func.func @kernel0(%[[A:.*]]: tensor<?x?xf64, #{{.*}}> {tulle.name = "t0"}, %[[X:.*]]: tensor<?xf64> {tulle.name = "t1"}, %[[Y:.*]]: tensor<?xf64> {tulle.name = "t2"}) -> {{.*}} attributes {tulle.noalias}
// CHECK: linalg.matvec ins(%[[A]], %[[X]] : {{.*}}) outs(%[[Y]]
// CHECK: func.func @kernel1(%[[D:.*]]: tensor<?x4xf64> {tulle.name = "t0"})
// CHECK: sparse_tensor.convert %[[D]]

// -----

#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#add = { indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"] }

// An operand may be the buffer that is written in place: both are views of one tensor, and the kernel does not promise another.
// CHECK-LABEL: func.func @view(
// CHECK: module @kernels
// CHECK: func.func @kernel0(
// CHECK-NOT: tulle.noalias
// CHECK: return
func.func @view(%a: tensor<8xf64, #V>, %x: tensor<8xf64>) -> tensor<?xf64> {
  %view = tensor.cast %x : tensor<8xf64> to tensor<?xf64>
  %r = linalg.generic #add ins(%a, %x : tensor<8xf64, #V>, tensor<8xf64>) outs(%view : tensor<?xf64>) {
  ^bb0(%b: f64, %c: f64, %out: f64):
    %p = arith.mulf %b, %c : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

// Without sparse tensors nothing is outlined.
// CHECK-LABEL: @dense
// CHECK: linalg.matvec
// CHECK-NOT: module @kernels
func.func @dense(%A: tensor<?x?xf64>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.matvec ins(%A, %x : tensor<?x?xf64>, tensor<?xf64>) outs(%y : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

// Reshapes of a reshape that nothing else reads are one kernel: no tensor is made between them.
// CHECK-LABEL: func.func @reshapes(
// CHECK-SAME: %[[A:.*]]: tensor<8x6xf64, #{{.*}}>)
// CHECK-NEXT: %[[R:.*]] = call @[[ALL:[a-z0-9]*]](%[[A]])
// CHECK-NEXT: return %[[R]]
func.func @reshapes(%A: tensor<8x6xf64, #CSR>) -> tensor<48xf64, #V> {
  %0 = tensor.collapse_shape %A [[0, 1]] : tensor<8x6xf64, #CSR> into tensor<48xf64, #V>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 12] : tensor<48xf64, #V> into tensor<4x12xf64, #CSR>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x12xf64, #CSR> into tensor<48xf64, #V>
  return %2 : tensor<48xf64, #V>
}

// Others are kernels of their own: what is read twice, and what is written to before it is read.
// CHECK-LABEL: func.func @read_twice(
// CHECK: %[[FLAT:.*]] = call @[[COLLAPSE:[a-z0-9]*]](
// CHECK: %[[WIDE:.*]] = call @[[EXPAND:[a-z0-9]*]](%[[FLAT]])
// CHECK: return %[[FLAT]], %[[WIDE]]
func.func @read_twice(%A: tensor<8x6xf64, #CSR>) -> (tensor<48xf64, #V>, tensor<4x12xf64, #CSR>) {
  %0 = tensor.collapse_shape %A [[0, 1]] : tensor<8x6xf64, #CSR> into tensor<48xf64, #V>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 12] : tensor<48xf64, #V> into tensor<4x12xf64, #CSR>
  return %0, %1 : tensor<48xf64, #V>, tensor<4x12xf64, #CSR>
}

// CHECK-LABEL: func.func @written(
// CHECK: %[[FLAT:.*]] = call
// CHECK: memref.store
// CHECK: call @{{.*}}(%[[FLAT]])
// CHECK-LABEL: func.func @written_in_place(
// CHECK: %[[FLAT:.*]] = call
// CHECK: %[[NEXT:.*]] = call @{{.*}}(%{{.*}}, %{{.*}})
// CHECK: call @{{.*}}(%[[FLAT]])
func.func @written(%A: tensor<8x6xf64, #CSR>, %one: f64) -> tensor<4x12xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %0 = tensor.collapse_shape %A [[0, 1]] : tensor<8x6xf64, #CSR> into tensor<48xf64, #V>
  %values = sparse_tensor.values %A : tensor<8x6xf64, #CSR> to memref<?xf64>
  memref.store %one, %values[%c0] : memref<?xf64>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 12] : tensor<48xf64, #V> into tensor<4x12xf64, #CSR>
  return %1 : tensor<4x12xf64, #CSR>
}
func.func @written_in_place(%A: tensor<8x6xf64, #CSR>, %B: tensor<8x6xf64, #CSR>) -> (tensor<8x6xf64, #CSR>, tensor<4x12xf64, #CSR>) {
  %0 = tensor.collapse_shape %A [[0, 1]] : tensor<8x6xf64, #CSR> into tensor<48xf64, #V>
  %next = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } ins(%B : tensor<8x6xf64, #CSR>) outs(%A : tensor<8x6xf64, #CSR>) {
  ^bb0(%b: f64, %a: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<8x6xf64, #CSR>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 12] : tensor<48xf64, #V> into tensor<4x12xf64, #CSR>
  return %next, %1 : tensor<8x6xf64, #CSR>, tensor<4x12xf64, #CSR>
}

// CHECK: module @kernels
// CHECK: func.func @[[ALL]](%[[A:.*]]: tensor<8x6xf64, #{{.*}}> {tulle.name = "t0"})
// CHECK-NEXT: tensor.collapse_shape %[[A]]
// CHECK-NEXT: tensor.expand_shape
// CHECK-NEXT: tensor.collapse_shape
// CHECK-NEXT: return
// CHECK: func.func @[[COLLAPSE]](
// CHECK-NEXT: tensor.collapse_shape
// CHECK-NEXT: return
// CHECK: func.func @[[EXPAND]](
// CHECK-NEXT: tensor.expand_shape
// CHECK-NEXT: return
