// RUN: tulle-opt %s --tulle-expand-index-map | FileCheck %s

// CHECK-LABEL: @delinearized
func.func @delinearized(%n: index) -> tensor<?x2xindex> {
  // CHECK: %[[R:.*]] = tensor.generate %arg0 {
  // CHECK-NEXT: ^bb0(%[[L:.*]]: index, %[[C:.*]]: index):
  // CHECK-NEXT: %[[IJ:.*]]:2 = affine.delinearize_index %[[L]] into (42, 64)
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[C]], %c0
  // CHECK-NEXT: %[[V:.*]] = arith.select %[[FIRST]], %[[IJ]]#0, %[[IJ]]#1
  // CHECK-NEXT: tensor.yield %[[V]] : index
  // CHECK-NEXT: } : tensor<?x2xindex>
  // CHECK-NEXT: return %[[R]]
  %p = tulle.index_map(%n) {
  ^bb0(%l: index):
    %ij:2 = affine.delinearize_index %l into (42, 64) : index, index
    tulle.yield %ij#0, %ij#1 : index, index
  } : tensor<?x2xindex>
  return %p : tensor<?x2xindex>
}
