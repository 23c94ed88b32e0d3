// RUN: tulle-opt %s --tulle-expand-compress --split-input-file --verify-diagnostics | FileCheck %s

#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// The scratch is as long as the last level, which is dimension 0.
// CHECK-LABEL: @expanded
// CHECK-SAME: %[[T:[^:]*]]: tensor
// CHECK: %[[SIZE:.*]] = tensor.dim %[[T]], %c0
// CHECK: %[[V:.*]] = memref.alloc(%[[SIZE]]) : memref<?xf64>
// CHECK: %[[F:.*]] = memref.alloc(%[[SIZE]]) : memref<?xi1>
// CHECK: %[[A:.*]] = memref.alloc(%[[SIZE]]) : memref<?xindex>
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[V]]
// CHECK: memref.store %{{.*}}, %[[F]]
// CHECK: return %[[V]], %[[F]], %[[A]]
func.func @expanded(%t: tensor<3x?xf64, #CSC>) -> (memref<?xf64>, memref<?xi1>, memref<?xindex>, index) {
  %v, %f, %a, %n = sparse_tensor.expand %t : tensor<3x?xf64, #CSC> to memref<?xf64>, memref<?xi1>, memref<?xindex>
  return %v, %f, %a, %n : memref<?xf64>, memref<?xi1>, memref<?xindex>, index
}

// CHECK-LABEL: @compressed
// CHECK-SAME: %[[J:[^:,]*]]: index)
// CHECK: %[[R:.*]] = scf.for %[[K:.*]] = {{.*}} iter_args(%[[T:.*]] =
// CHECK: %[[I:.*]] = memref.load %{{.*}}[%[[K]]] : memref<?xindex>
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[I]]] : memref<?xf64>
// CHECK: tensor.insert %[[X]] into %[[T]][%[[I]], %[[J]]]
// CHECK-COUNT-3: memref.dealloc
// CHECK: return %[[R]]
func.func @compressed(%t: tensor<3x4xf64, #CSC>, %v: memref<?xf64>, %f: memref<?xi1>, %a: memref<?xindex>, %n: index, %j: index) -> tensor<3x4xf64, #CSC> {
  %r = sparse_tensor.compress %v, %f, %a, %n into %t[%j] : memref<?xf64>, memref<?xi1>, memref<?xindex>, tensor<3x4xf64, #CSC>
  return %r : tensor<3x4xf64, #CSC>
}

// -----

#BSR = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>
func.func @blocks(%t: tensor<4x4xf64, #BSR>) -> index {
  // expected-error @+1 {{expected a tensor whose levels are its dimensions, in any order}}
  %v, %f, %a, %n = sparse_tensor.expand %t : tensor<4x4xf64, #BSR> to memref<?xf64>, memref<?xi1>, memref<?xindex>
  return %n : index
}
