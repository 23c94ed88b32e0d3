// RUN: tulle-opt %s -pass-pipeline='builtin.module(func.func(tulle-expand-query))' | FileCheck %s
// RUN: tulle-opt %s -pass-pipeline='builtin.module(func.func(tulle-expand-query,tulle-sparsify,canonicalize))' | FileCheck %s --check-prefix=LOOPS

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// A count reads no value, and needs no loop over the entries of a row.
// CHECK-LABEL: @count
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: tulle.stored
// CHECK: arith.select
// LOOPS-LABEL: @count
// LOOPS: tulle.iterate
// LOOPS: tulle.space_size
// LOOPS-NOT: tulle.iterate
// LOOPS: return
func.func @count(%A: tensor<?x?xf64, #CSR>, %n: tensor<?xi64>) -> tensor<?xi64> {
  %r = tulle.query count %A into %n select affine_map<(i, j) -> (i)> : tensor<?x?xf64, #CSR>, tensor<?xi64>
  return %r : tensor<?xi64>
}

// The expression is of the entry's coordinates.
// CHECK-LABEL: @max
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]
// CHECK: linalg.index 1
// CHECK: arith.maxsi
// LOOPS-LABEL: @max
// LOOPS: tulle.iterate
// LOOPS: tulle.iterate
// LOOPS: arith.maxsi
// LOOPS-NOT: tulle.load {{.*}} tensor<?x?xf64
func.func @max(%A: tensor<?x?xf64, #CSR>, %n: tensor<i64>) -> tensor<i64> {
  %r = tulle.query max %A into %n select affine_map<(i, j) -> ()> of affine_map<(i, j) -> (j - i)> : tensor<?x?xf64, #CSR>, tensor<i64>
  return %r : tensor<i64>
}
