// RUN: tulle-opt %s --tulle-expand-disassemble --split-input-file --verify-diagnostics | FileCheck %s

#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), posWidth = 32, crdWidth = 32 }>

// CHECK-LABEL: @disassemble
// CHECK: %[[P:.*]] = sparse_tensor.positions %[[A:.*]] {level = 0 : index}
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %{{.*}}, %c2
// CHECK: scf.if %[[FITS]] {
// CHECK-NEXT: } else {
// CHECK-NEXT: call @tulle_error_buffer()
// CHECK: memref.copy %[[P]]
// CHECK: %[[C:.*]] = sparse_tensor.coordinates_buffer %[[A]]
// CHECK: memref.copy %[[C]]
// CHECK: %[[V:.*]] = sparse_tensor.values %[[A]]
// CHECK: memref.copy %[[V]]
func.func @disassemble(%A: tensor<4x5xf64, #COO>, %p: tensor<2xi32>, %c: tensor<3x2xi32>, %v: tensor<3xf64>) -> (tensor<3xf64>, i64, tensor<i64>, index) {
  %rp, %rc, %rv, %lp, %lc, %lv = sparse_tensor.disassemble %A : tensor<4x5xf64, #COO>
      out_lvls(%p, %c : tensor<2xi32>, tensor<3x2xi32>) out_vals(%v : tensor<3xf64>)
      -> (tensor<2xi32>, tensor<3x2xi32>), tensor<3xf64>, (i64, tensor<i64>), index
  return %rv, %lp, %lc, %lv : tensor<3xf64>, i64, tensor<i64>, index
}
