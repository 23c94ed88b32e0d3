// RUN: tulle-opt %s --tulle-expand-filled-buffers | FileCheck %s

// CHECK-LABEL: @workspace
// CHECK-SAME: (%[[N:.*]]: index, %[[I:.*]]: index)
// CHECK: %[[W:.*]] = memref.alloc(%[[N]]) : memref<?xf64>
// CHECK: scf.for %[[K:.*]] = %c0{{.*}} to %[[N]] step
// CHECK: memref.store %[[ZERO:.*]], %[[W]][%[[K]]]
// CHECK: memref.load %[[W]][%[[I]]]
// CHECK: memref.dealloc %[[W]]
func.func @workspace(%n: index, %i: index) -> f64 {
  %zero = arith.constant 0.0 : f64
  %w = tulle.filled_buffer %n, %zero : memref<?xf64>
  %v = memref.load %w[%i] : memref<?xf64>
  tulle.return_filled_buffer %w, %zero : memref<?xf64>
  return %v : f64
}
