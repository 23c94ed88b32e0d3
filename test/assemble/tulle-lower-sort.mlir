// For each level of the key, from the innermost: the range of its coordinates, and a pass for each digit.
// RUN: tulle-opt %s --tulle-lower-sort | FileCheck %s

#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// CHECK-LABEL: @sort
// CHECK: arith.minsi
// CHECK: llvm.intr.ctlz
// CHECK: %[[SORTED:.*]]:2 = scf.for {{.*}} iter_args(%[[FROM:.*]] = %arg0, %[[TO:.*]] = %arg1)
// CHECK: tulle.histogram
// CHECK: tulle.key
// CHECK: tulle.scan
// CHECK: tulle.scatter_entries {{.*}} of %[[FROM]] into %[[TO]]
// CHECK: tulle.key
// CHECK: scf.yield %[[TO]], %[[FROM]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SORTED]]#0, %{{.*}} = %[[SORTED]]#1)
// CHECK: tulle.scatter_entries
func.func @sort(%list: memref<?xi64>, %spare: memref<?xi64>, %count: index) -> memref<?xi64> {
  %sorted, %other = tulle.sort %list, %spare count %count by 2 for tensor<?x?xf64, #CSC> : memref<?xi64>
  return %sorted : memref<?xi64>
}
