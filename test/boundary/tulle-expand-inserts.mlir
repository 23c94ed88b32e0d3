// RUN: tulle-opt %s --tulle-expand-inserts --split-input-file --verify-diagnostics | FileCheck %s

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

// Through loops and branches the tensor is a list; its end is stored in its positions, and full buffers grow.
// CHECK-LABEL: @inserted
// CHECK-SAME: (%[[N:.*]]: index,
// CHECK: %[[P:.*]] = memref.alloc(%{{.*}}) : memref<?xi64>
// CHECK: %[[C:.*]] = memref.alloc(%{{.*}}) : memref<?xi64>
// CHECK: %[[V:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: tulle.storage(%[[P]], %[[C]], %[[V]]) sizes(%[[N]])
// CHECK: scf.for {{.*}} -> (tensor<?xf64, #[[LIST:.*]]>)
// CHECK: scf.if {{.*}} -> (tensor<?xf64, #[[LIST]]>)
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: memref.realloc
// CHECK: memref.realloc
// CHECK: memref.store %{{.*}} : memref<?xf64>
// CHECK: tulle.storage
// CHECK-NOT: tensor.insert
// CHECK: memref.reinterpret_cast
// CHECK: sparse_tensor.convert %{{.*}} to tensor<?xf64, #sparse{{[0-9]*}}>
// CHECK: bufferization.dealloc_tensor
func.func @inserted(%n: index, %v: f64) -> tensor<?xf64, #SV> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty(%n) : tensor<?xf64, #SV>
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%x = %e) -> tensor<?xf64, #SV> {
    %m = arith.remui %i, %c2 : index
    %odd = arith.cmpi eq, %m, %c1 : index
    %y = scf.if %odd -> tensor<?xf64, #SV> {
      %z = tensor.insert %v into %x[%i] : tensor<?xf64, #SV>
      scf.yield %z : tensor<?xf64, #SV>
    } else {
      scf.yield %x : tensor<?xf64, #SV>
    }
    scf.yield %y : tensor<?xf64, #SV>
  }
  %r = sparse_tensor.load %t hasInserts : tensor<?xf64, #SV>
  return %r : tensor<?xf64, #SV>
}

// Nothing was inserted.
// CHECK-LABEL: @loaded
// CHECK-NEXT: return %{{.*}}
func.func @loaded(%a: tensor<8xf64, #SV>) -> tensor<8xf64, #SV> {
  %r = sparse_tensor.load %a : tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

// The entries that are there are a list as well, which the tensor becomes where it is inserted into.
// CHECK-LABEL: @stored_before
// CHECK-SAME: %[[A:[^:]*]]: tensor<8xf64, #
// CHECK: %[[LIST:.*]] = sparse_tensor.convert %[[A]]
// CHECK-NEXT: bufferization.dealloc_tensor %[[A]]
// CHECK: sparse_tensor.values %[[LIST]]
// CHECK: sparse_tensor.convert
// CHECK-NEXT: bufferization.dealloc_tensor
func.func @stored_before(%a: tensor<8xf64, #SV>, %v: f64, %i: index) -> tensor<8xf64, #SV> {
  %t = tensor.insert %v into %a[%i] : tensor<8xf64, #SV>
  %r = sparse_tensor.load %t hasInserts : tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

// Who takes the tensor elsewhere ends the insertions.
// CHECK-LABEL: @no_load
// CHECK: %[[R:.*]] = sparse_tensor.convert %{{.*}} to tensor<8xf64, #sparse
// CHECK: return %[[R]]
func.func @no_load(%v: f64, %i: index) -> tensor<8xf64, #SV> {
  %e = tensor.empty() : tensor<8xf64, #SV>
  %t = tensor.insert %v into %e[%i] : tensor<8xf64, #SV>
  return %t : tensor<8xf64, #SV>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @read_between(%v: f64, %i: index) -> (tensor<8xf64, #SV>, memref<?xf64>) {
  %e = tensor.empty() : tensor<8xf64, #SV>
  %t = tensor.insert %v into %e[%i] : tensor<8xf64, #SV>
  // expected-error @+1 {{expected what this op reads not to be a tensor under insertion}}
  %b = sparse_tensor.values %t : tensor<8xf64, #SV> to memref<?xf64>
  // expected-note @+1 {{its insertions end here}}
  %r = sparse_tensor.load %t hasInserts : tensor<8xf64, #SV>
  return %r, %b : tensor<8xf64, #SV>, memref<?xf64>
}
