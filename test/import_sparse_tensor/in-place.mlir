// RUN: tulle-opt %s --tulle-import-sparse-tensor | FileCheck %s

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#id = affine_map<(i) -> (i)>

// What is written in place has the pattern that is there: callers pass one tensor for both arguments of its name.
// CHECK-LABEL: @scale
// CHECK-SAME: (%[[A:.*]]: tensor<8xf64, #{{.*}}> {tulle.name = "A"}, %[[R:.*]]: tensor<8xf64, #{{.*}}> {tulle.name = "A"})
// CHECK: %[[L:.*]] = tulle.like %[[R]], %[[A]]
// CHECK: linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[L]] :
// CHECK: ^bb0(%[[IN:.*]]: f64, %[[OUT:.*]]: f64):
// CHECK: %[[V:.*]] = arith.mulf %[[OUT]]
// CHECK: %[[S:.*]] = tulle.stored %[[IN]]
// CHECK: arith.select %[[S]], %[[V]], %[[OUT]]
func.func @scale(%a: tensor<8xf64, #SV> {tulle.name = "A"}) -> tensor<8xf64, #SV> {
  %two = arith.constant 2.0 : f64
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<8xf64, #SV>) {
  ^bb0(%o: f64):
    %s = arith.mulf %o, %two : f64
    linalg.yield %s : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}
