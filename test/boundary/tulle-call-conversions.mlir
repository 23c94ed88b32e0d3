// RUN: tulle-opt %s --tulle-call-conversions | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// The kernel reads CSR, the caller has CSC: a kernel that converts is called before, and what it returns is freed.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.*]]: tensor<4x5xf64, #{{.*}}>, %[[X:.*]]: tensor<5xf64>, %[[Y:.*]]: tensor<4xf64>)
// CHECK: %[[B:.*]] = call @kernel0_operand0(%[[A]])
// CHECK: call @kernel0(%[[B]], %[[X]], %[[Y]])
// CHECK: bufferization.dealloc_tensor %[[B]]
func.func @main(%A: tensor<4x5xf64, #CSC>, %x: tensor<5xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %r = call @kernel0(%A, %x, %y) : (tensor<4x5xf64, #CSC>, tensor<5xf64>, tensor<4xf64>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}
func.func private @kernel0(tensor<4x5xf64, #CSC> {tulle.name = "t0"}, tensor<5xf64> {tulle.name = "t1"}, tensor<4xf64> {tulle.name = "t2"}) -> tensor<4xf64>
module @kernels {
  func.func @kernel0(%A: tensor<4x5xf64, #CSR> {tulle.name = "t0", tulle.source = #CSC}, %x: tensor<5xf64> {tulle.name = "t1"}, %y: tensor<4xf64> {tulle.name = "t2"}) -> tensor<4xf64> {
    %r = linalg.matvec ins(%A, %x : tensor<4x5xf64, #CSR>, tensor<5xf64>) outs(%y : tensor<4xf64>) -> tensor<4xf64>
    return %r : tensor<4xf64>
  }
  // CHECK: func.func @kernel0_operand0(%[[S:.*]]: tensor<4x5xf64, #{{.*}}> {tulle.name = "t0"})
  // CHECK: tulle.convert %[[S]]
}
