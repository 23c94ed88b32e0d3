// Values at equal coordinates are combined as the op says.
// RUN: tulle-opt %s --tulle-lower-unique | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// CHECK-LABEL: @unique
// CHECK: %[[END:.*]]:2 = scf.for %{{.*}} = %arg3 to %arg4 {{.*}} iter_args(%{{.*}} = %arg5, %{{.*}} = %arg5)
// CHECK: arith.mulf
// CHECK: return %[[END]]#1
func.func @unique(%pos: memref<?xi64>, %crd: memref<?xi64>, %val: memref<?xf64>, %first: index, %last: index, %start: index) -> index {
  %end = tulle.unique %crd, %val segments %pos[%first to %last] start %start for tensor<?x?xf64, #CSR> {combine = #tulle<combine mul>} : memref<?xi64>, memref<?xf64>, memref<?xi64>
  return %end : index
}
