// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-expand-exp,tulle-vectorize))' | FileCheck %s

// The nearest whole number of halvings by an addition that rounds, what is left of x in two steps, the polynomial of degree 10 from
// its last coefficient, and two powers of two: of half the number, and of the rest.
// CHECK-LABEL: func.func @double(
// CHECK-SAME: %[[X:.*]]: f64)
// CHECK-NOT: math.exp
// CHECK: arith.cmpf olt, %[[X]]
// CHECK: arith.select
// CHECK: arith.cmpf ogt
// CHECK: %[[WITHIN:.*]] = arith.select
// CHECK: %[[MAGIC:.*]] = arith.constant 0x4338000000000000
// CHECK: arith.constant 1.44269504
// CHECK: arith.mulf %[[WITHIN]], %{{.*}} fastmath<contract>
// CHECK: %[[SHIFTED:.*]] = arith.addf %{{.*}}, %[[MAGIC]] fastmath<contract>
// CHECK: arith.subf %[[SHIFTED]], %[[MAGIC]] : f64
// CHECK-COUNT-10: arith.addf
// CHECK: arith.bitcast %[[SHIFTED]] : f64 to i64
// CHECK: %[[HALF:.*]] = arith.shrsi %[[N:.*]], %c1
// CHECK: arith.subi %[[N]], %[[HALF]]
// CHECK-COUNT-2: arith.shli
// CHECK: %[[RESULT:.*]] = arith.mulf
// CHECK: return %[[RESULT]]
func.func @double(%x: f64) -> f64 {
  %e = math.exp %x fastmath<reassoc,contract> : f64
  return %e : f64
}

// Of 32 bits the polynomial has degree 5.
// CHECK-LABEL: func.func @single(
// CHECK-NOT: math.exp
// CHECK: arith.constant 0x4B400000 : f32
// CHECK: arith.shrsi %{{.*}} : i32
func.func @single(%x: f32) -> f32 {
  %e = math.exp %x fastmath<contract> : f32
  return %e : f32
}

// Without the flag the value is the library's, and so it is for other types.
// CHECK-LABEL: func.func @strict(
// CHECK-COUNT-2: math.exp
func.func @strict(%x: f64, %h: f16) -> (f64, f16) {
  %e = math.exp %x : f64
  %f = math.exp %h fastmath<contract> : f16
  return %e, %f : f64, f16
}
