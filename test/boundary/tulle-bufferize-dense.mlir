// RUN: tulle-opt %s --tulle-bufferize-dense | FileCheck %s

// What is written is written in place: copies were made before.
// CHECK-LABEL: func.func @insert
// CHECK-SAME: (%[[Y:.*]]: memref<8xf64>, %[[V:.*]]: f64) -> memref<8xf64>
// CHECK-NOT: memref.alloc
// CHECK: memref.store %[[V]], %[[Y]]
// CHECK: return %[[Y]]
func.func @insert(%y: tensor<8xf64>, %v: f64) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.insert %v into %y[%c0] : tensor<8xf64>
  return %n : tensor<8xf64>
}
