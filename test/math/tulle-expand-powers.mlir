// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-expand-powers))' | FileCheck %s

// A negative exponent is the truncated inverse: of 1 and -1 only it is not 0.
// CHECK-LABEL: func.func @number(
// CHECK-SAME: %[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK-NOT: math.ipowi
// CHECK: %[[N:.*]] = arith.maxsi %[[Y]], %c0_i32
// CHECK: %[[LOOP:.*]]:3 = scf.while (%[[REST:.*]] = %[[N]], %[[SQUARE:.*]] = %[[X]], %[[RESULT:.*]] = %c1_i32)
// CHECK:   %[[MORE:.*]] = arith.cmpi ne, %[[REST]], %c0_i32
// CHECK:   scf.condition(%[[MORE]]) %[[REST]], %[[SQUARE]], %[[RESULT]]
// CHECK: ^bb0(%[[REST:.*]]: i32, %[[SQUARE:.*]]: i32, %[[RESULT:.*]]: i32):
// CHECK-DAG: %[[PRODUCT:.*]] = arith.muli %[[RESULT]], %[[SQUARE]]
// CHECK-DAG: %[[HALF:.*]] = arith.shrui %[[REST]], %c1_i32
// CHECK-DAG: %[[NEXT:.*]] = arith.muli %[[SQUARE]], %[[SQUARE]]
// CHECK-DAG: %[[BIT:.*]] = arith.andi %[[REST]], %c1_i32
// CHECK-DAG: %[[ODD:.*]] = arith.cmpi ne, %[[BIT]], %c0_i32
// CHECK: %[[TAKEN:.*]] = arith.select %[[ODD]], %[[PRODUCT]], %[[RESULT]]
// CHECK: scf.yield %[[HALF]], %[[NEXT]], %[[TAKEN]]
// CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[Y]], %c0_i32
// CHECK: %[[INVERSE:.*]] = arith.select %{{.*}}, %c1_i32{{.*}}, %{{.*}}
// CHECK: %[[POWER:.*]] = arith.select %[[NEGATIVE]], %[[INVERSE]], %[[LOOP]]#2
// CHECK: return %[[POWER]]
func.func @number(%x: i32, %y: i32) -> i32 {
  %p = math.ipowi %x, %y : i32
  return %p : i32
}

// The loop of a vector ends with the last bit of any lane.
// CHECK-LABEL: func.func @vector(
// CHECK: scf.while (%[[REST:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (vector<[4]xi64>, vector<[4]xi64>, vector<[4]xi64>)
// CHECK: %[[BITS:.*]] = arith.cmpi ne, %[[REST]], %{{.*}} : vector<[4]xi64>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[BITS]] : vector<[4]xi1> into i1
// CHECK: scf.condition(%[[ANY]])
func.func @vector(%x: vector<[4]xi64>, %y: vector<[4]xi64>) -> vector<[4]xi64> {
  %p = math.ipowi %x, %y : vector<[4]xi64>
  return %p : vector<[4]xi64>
}
