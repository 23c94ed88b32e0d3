// RUN: tulle-opt %s --tulle-insert-tensor-copies | FileCheck %s
// RUN: tulle-opt %s --tulle-insert-tensor-copies=analysis-only | FileCheck %s --check-prefix=ANALYSIS

// The tensor is read after something is written to it: a copy is written.
// CHECK-LABEL: @copied
// CHECK-SAME: %[[Y:.*]]: tensor<8xf64>
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[Y]])
// CHECK: tensor.insert %{{.*}} into %[[C]]
// ANALYSIS-LABEL: @copied
// ANALYSIS-NOT: alloc_tensor
// ANALYSIS: tensor.insert {{.*}}__inplace_operands_attr__ = ["none", "false", "none"]
func.func @copied(%y: tensor<8xf64>, %v: f64) -> (tensor<8xf64>, f64) {
  %c0 = arith.constant 0 : index
  %n = tensor.insert %v into %y[%c0] : tensor<8xf64>
  %o = tensor.extract %y[%c0] : tensor<8xf64>
  return %n, %o : tensor<8xf64>, f64
}
