// Segments are sorted by counting where they are short, and by merging.
// RUN: tulle-opt %s --tulle-lower-sort-segments | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// CHECK-LABEL: @sort
// CHECK: scf.for %{{.*}} = %arg3 to %arg4
// CHECK: vector.store
// CHECK: scf.while
// CHECK-NOT: tulle.sort_segments
func.func @sort(%pos: memref<?xi64>, %crd: memref<?xi64>, %val: memref<?xf64>, %first: index, %last: index, %start: index) {
  tulle.sort_segments %crd, %val segments %pos[%first to %last] start %start for tensor<?x?xf64, #CSR> : memref<?xi64>, memref<?xf64>, memref<?xi64>
  return
}
