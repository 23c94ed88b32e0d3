// RUN: tulle-opt %s --tulle-expand-explicit-values | FileCheck %s

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#ONES = #sparse_tensor.encoding<{ map = (i) -> (i : compressed), explicitVal = 1.0 : f32 }>

// CHECK-LABEL: @ones
// CHECK: %[[S:.*]] = sparse_tensor.convert %{{.*}} : tensor<?xf32, #[[SV:.*]]> to tensor<?xf32, #[[SV]]>
// CHECK: %[[V:.*]] = sparse_tensor.values %[[S]]
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: scf.for
// CHECK: %[[X:.*]] = memref.load %[[V]]
// CHECK: arith.cmpf oeq, %[[X]], %[[ONE]]
// CHECK: call @tulle_error_explicit()
// CHECK: tensor.cast %[[S]] : {{.*}} to tensor<?xf32, #{{.*}}>
func.func @ones(%a: tensor<?xf32, #SV>) -> tensor<?xf32, #ONES> {
  %r = sparse_tensor.convert %a : tensor<?xf32, #SV> to tensor<?xf32, #ONES>
  return %r : tensor<?xf32, #ONES>
}
