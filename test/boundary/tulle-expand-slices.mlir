// RUN: tulle-opt %s --tulle-expand-slices --split-input-file --verify-diagnostics | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#ANY = #sparse_tensor.encoding<{ map = (i : #sparse_tensor<slice(?, ?, ?)>, j : #sparse_tensor<slice(?, ?, ?)>) -> (i : dense, j : compressed) }>

// Entries in the slice are counted and moved; what leaves the function is not freed, and types have no slices.
// CHECK-NOT: slice(
// CHECK-LABEL: @cut
// CHECK-SAME: (%[[A:.*]]: tensor<?x?xf64, #[[CSR:.*]]>, %[[O:.*]]: index, %[[N:.*]]: index) -> tensor<?x?xf64, #[[CSR]]>
// CHECK: %[[LIST:.*]] = sparse_tensor.convert %[[A]]
// CHECK: %[[COUNT:.*]] = scf.for {{.*}} -> (index)
// CHECK: arith.subi %{{.*}}, %[[O]]
// CHECK: arith.cmpi ult, %{{.*}}, %[[N]]
// CHECK: scf.if
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[COUNT]]]
// CHECK: tulle.storage({{.*}}) sizes(%[[N]], %[[N]])
// CHECK: %[[R:.*]] = sparse_tensor.convert
// CHECK: bufferization.dealloc_tensor %[[LIST]]
// CHECK-NOT: bufferization.dealloc_tensor
// CHECK: return %[[R]]
func.func @cut(%a: tensor<?x?xf64, #CSR>, %o: index, %n: index) -> tensor<?x?xf64, #ANY> {
  %r = tensor.extract_slice %a[%o, %o] [%n, %n] [1, 1] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #ANY>
  return %r : tensor<?x?xf64, #ANY>
}

// CHECK-LABEL: @used_here
// CHECK: %[[R:.*]] = sparse_tensor.convert %{{.*}} : {{.*}} to tensor<2x2xf64, #[[CSR]]>
// CHECK: sparse_tensor.number_of_entries
// CHECK-NEXT: bufferization.dealloc_tensor %[[R]]
func.func @used_here(%a: tensor<?x?xf64, #CSR>, %o: index) -> index {
  %s = tensor.extract_slice %a[%o, 0] [2, 2] [1, 1] : tensor<?x?xf64, #CSR> to tensor<2x2xf64, #ANY>
  %r = tensor.cast %s : tensor<2x2xf64, #ANY> to tensor<?x?xf64, #ANY>
  %n = sparse_tensor.number_of_entries %r : tensor<?x?xf64, #ANY>
  return %n : index
}

// What leaves the function is in the slice's memory.
// CHECK-LABEL: @shown
// CHECK: %[[R:.*]] = sparse_tensor.convert %{{.*}} : {{.*}} to tensor<2x2xf64, #[[CSR]]>
// CHECK: %[[V:.*]] = sparse_tensor.values %[[R]]
// CHECK-NOT: bufferization.dealloc_tensor %[[R]]
// CHECK: return %[[V]]
func.func @shown(%a: tensor<?x?xf64, #CSR>) -> memref<?xf64> {
  %s = tensor.extract_slice %a[0, 0] [2, 2] [1, 1] : tensor<?x?xf64, #CSR> to tensor<2x2xf64, #CSR>
  %v = sparse_tensor.values %s : tensor<2x2xf64, #CSR> to memref<?xf64>
  return %v : memref<?xf64>
}

// What a function returns may be its operand, with a shape that is less static; another format is another tensor.
// CHECK-LABEL: @returned
// CHECK: %[[R:.*]] = sparse_tensor.convert %{{.*}} : {{.*}} to tensor<2x2xf64, #[[CSR]]>
// CHECK: %[[S:.*]] = sparse_tensor.convert %{{.*}} : {{.*}} to tensor<2x2xf64, #[[CSR]]>
// CHECK-NOT: bufferization.dealloc_tensor %[[R]]
// CHECK: bufferization.dealloc_tensor %[[S]]
// CHECK: return
func.func @returned(%a: tensor<?x?xf64, #CSR>) -> (tensor<?x?xf64, #CSR>, tensor<2x2xf64>) {
  %r = tensor.extract_slice %a[0, 0] [2, 2] [1, 1] : tensor<?x?xf64, #CSR> to tensor<2x2xf64, #CSR>
  %s = tensor.extract_slice %a[0, 2] [2, 2] [1, 1] : tensor<?x?xf64, #CSR> to tensor<2x2xf64, #CSR>
  %c = call @maybe_itself(%r) : (tensor<2x2xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  %d = call @dense(%s) : (tensor<2x2xf64, #CSR>) -> tensor<2x2xf64>
  return %c, %d : tensor<?x?xf64, #CSR>, tensor<2x2xf64>
}
func.func private @maybe_itself(tensor<2x2xf64, #CSR>) -> tensor<?x?xf64, #CSR>
func.func private @dense(tensor<2x2xf64, #CSR>) -> tensor<2x2xf64>

// A `?` is what the op says that makes the slice.
// CHECK-LABEL: @where
// CHECK-SAME: %[[O:[a-z0-9_]+]]: index, %[[S:[a-z0-9_]+]]: index)
// CHECK: return %[[O]], %[[S]]
func.func @where(%a: tensor<?x?xf64, #CSR>, %o: index, %s: index) -> (index, index) {
  %part = tensor.extract_slice %a[%o, 0] [2, 2] [1, %s] : tensor<?x?xf64, #CSR> to tensor<2x2xf64, #ANY>
  %r = tensor.cast %part : tensor<2x2xf64, #ANY> to tensor<?x?xf64, #ANY>
  %offset = sparse_tensor.slice.offset %r at 0 : tensor<?x?xf64, #ANY>
  %stride = sparse_tensor.slice.stride %r at 1 : tensor<?x?xf64, #ANY>
  return %offset, %stride : index, index
}

// -----

#ANY = #sparse_tensor.encoding<{ map = (i : #sparse_tensor<slice(?, ?, ?)>) -> (i : compressed) }>
func.func @offset(%a: tensor<8xf64, #ANY>) -> index {
  // expected-error @+1 {{a slice is a tensor of its own here, which does not know its '?'; use the operand of tensor.extract_slice}}
  %o = sparse_tensor.slice.offset %a at 0 : tensor<8xf64, #ANY>
  return %o : index
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @row(%a: tensor<8x9xf64, #CSR>) -> tensor<9xf64> {
  // expected-error @+1 {{expected a slice of a sparse tensor with as many dimensions as the tensor}}
  %o = tensor.extract_slice %a[2, 0] [1, 9] [1, 1] : tensor<8x9xf64, #CSR> to tensor<9xf64>
  return %o : tensor<9xf64>
}
