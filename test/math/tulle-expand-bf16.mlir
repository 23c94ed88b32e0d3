// RUN: tulle-opt %s --tulle-expand-bf16 | FileCheck %s

// CHECK-LABEL: func.func @number(
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK: %[[HIGH:.*]] = arith.shrui %[[BITS]], %c16
// CHECK: %[[ODD:.*]] = arith.andi %[[HIGH]], %c1
// CHECK: %[[HALF:.*]] = arith.addi %[[BITS]], %c32767
// CHECK: %[[UP:.*]] = arith.addi %[[HALF]], %[[ODD]]
// CHECK: %[[NEAREST:.*]] = arith.shrui %[[UP]], %c16
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK: %[[QUIET:.*]] = arith.ori %[[HIGH]], %c64
// CHECK: %[[PLACES:.*]] = arith.select %[[NAN]], %[[QUIET]], %[[NEAREST]]
// CHECK: %[[LOW:.*]] = arith.trunci %[[PLACES]] : i32 to i16
// CHECK: arith.bitcast %[[LOW]] : i16 to bf16
func.func @number(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// CHECK-LABEL: func.func @vector(
// CHECK-NOT: arith.truncf
// CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
func.func @vector(%x: vector<8xf32>) -> vector<8xbf16> {
  %y = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  return %y : vector<8xbf16>
}

// Processors have instructions for f16.
// CHECK-LABEL: func.func @half(
// CHECK: arith.truncf
func.func @half(%x: f32) -> f16 {
  %y = arith.truncf %x : f32 to f16
  return %y : f16
}
