// RUN: tulle-opt %s --tulle-expand-files --split-input-file --verify-diagnostics | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// The library checks sizes that are static, and says the others. What it read lives until it is converted.
// CHECK-LABEL: @read
// CHECK-SAME: (%[[FILE:.*]]: !llvm.ptr)
// CHECK: %[[R:.*]] = call @createCheckedSparseTensorReader(%[[FILE]], %{{.*}}, %{{.*}})
// CHECK: %[[DIMS:.*]] = call @getSparseTensorReaderDimSizes(%[[R]])
// CHECK: %[[M:.*]] = memref.load %[[DIMS]]
// CHECK: %[[N:.*]] = memref.load %[[DIMS]]
// CHECK: %[[T:.*]] = call @newSparseTensor(%[[DIMS]], %[[DIMS]], {{.*}}, %[[R]])
// CHECK: call @delSparseTensorReader(%[[R]])
// CHECK: %[[P:.*]] = call @sparsePositions64(%[[T]], %{{.*}})
// CHECK: %[[I:.*]] = call @sparseCoordinates64(%[[T]], %{{.*}})
// CHECK: %[[J:.*]] = call @sparseCoordinates64(%[[T]], %{{.*}})
// CHECK: %[[V:.*]] = call @sparseValuesF32(%[[T]])
// CHECK: %[[L:.*]] = tulle.storage(%[[P]], %[[I]], %[[J]], %[[V]]) sizes(%[[M]], %[[N]])
// CHECK: %[[C:.*]] = sparse_tensor.convert %[[L]]
// CHECK: call @delSparseTensor(%[[T]])
// CHECK: return %[[C]]
func.func @read(%file: !llvm.ptr) -> tensor<?x5xf32, #CSR> {
  %A = sparse_tensor.new %file : !llvm.ptr to tensor<?x5xf32, #CSR>
  return %A : tensor<?x5xf32, #CSR>
}

// CHECK-LABEL: @write
// CHECK-SAME: (%[[A:.*]]: tensor<?x5xcomplex<f64>, #{{.*}}>, %[[FILE:.*]]: !llvm.ptr)
// CHECK: %[[L:.*]] = sparse_tensor.convert %[[A]]
// CHECK: %[[W:.*]] = call @createSparseTensorWriter(%[[FILE]])
// CHECK: %[[N:.*]] = sparse_tensor.number_of_entries %[[L]]
// CHECK: call @outSparseTensorWriterMetaData(%[[W]], %{{.*}}, %[[N]], %{{.*}})
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK: call @outSparseTensorWriterNextC64(%[[W]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: call @delSparseTensorWriter(%[[W]])
// CHECK: bufferization.dealloc_tensor %[[L]]
func.func @write(%A: tensor<?x5xcomplex<f64>, #CSR>, %file: !llvm.ptr) {
  sparse_tensor.out %A, %file : tensor<?x5xcomplex<f64>, #CSR>, !llvm.ptr
  return
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @bits(%file: !llvm.ptr) -> tensor<?xi1, #SV> {
  // expected-error @+1 {{expected an element type that files have, got 'i1'}}
  %A = sparse_tensor.new %file : !llvm.ptr to tensor<?xi1, #SV>
  return %A : tensor<?xi1, #SV>
}
