// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-build-levels --tulle-lower-collect --tulle-lower-sort --tulle-lower-append --tulle-lower-sort-segments --tulle-lower-unique --tulle-lower-histogram --tulle-lower-scan --tulle-lower-scatter-entries --tulle-lower-chained-scan --tulle-inline-entries --canonicalize --cse --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#DCSC = #tulle.encoding<{ map = (i, j) -> (j : compressed, i : compressed), posWidth = 32, crdWidth = 32 }>

// Rows to columns, both levels stored. The entries are listed, the coordinates in one word and the value in the next; the
// rows of each column ascend already, so that one level is sorted: least and largest column, then passes over its digits
// (count, prefix sums, distribute); the sorted list is appended.

// CHECK-LABEL: @dcsc(
// CHECK-SAME: %[[A:[a-zA-Z0-9]+]]: tensor
// CHECK-SAME: %[[BOUND:[a-zA-Z0-9]+]]: index
// CHECK: %[[ENTRIES:.*]] = arith.index_cast %[[BOUND]]
// CHECK: %[[WORDS:.*]] = call @tulle_checked_size(%{{.*}}, %[[ENTRIES]], %c2_i64)
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[WORDS]]
// CHECK: %[[LENGTH:.*]] = arith.minui %[[SIZE]], %{{.*}}
// CHECK: %[[LIST:.*]] = memref.alloc(%[[LENGTH]]) : memref<?xi64>
// CHECK: tulle.iterate %[[I:[a-z0-9_]+]],
// CHECK:   tulle.iterate %[[J:[a-z0-9_]+]],
// CHECK:     %[[COLUMN:.*]] = arith.shli
// CHECK:     %[[BOTH:.*]] = arith.ori %{{.*}}, %[[COLUMN]]
// CHECK:     memref.store %[[BOTH]], %[[LIST]]
// CHECK:     memref.store %{{.*}}, %[[LIST]]
// CHECK: %[[RANGE:.*]]:2 = scf.for {{.*}} iter_args
// CHECK:   memref.load %[[LIST]]
// CHECK:   arith.shrui
// CHECK:   arith.minsi
// CHECK:   arith.maxsi
// CHECK: llvm.intr.ctlz
// CHECK: %[[CELLS:.*]] = arith.minui %[[COUNT:.*]], %{{.*}}
// CHECK: %[[BUCKETS:.*]] = memref.alloc(%[[CELLS]]) : memref<?xindex>
// CHECK: %[[SORTED:.*]]:2 = scf.for {{.*}} iter_args(
// CHECK:   scf.for {{.*}} to %[[COUNT]]
// CHECK:   scf.for
// CHECK:   scf.for {{.*}} to %[[COUNT]] step %{{.*}} iter_args
// CHECK:   scf.for
// CHECK: memref.dealloc %[[BUCKETS]]
// No second level is sorted.
// CHECK-NOT: llvm.intr.ctlz
// CHECK: memref.load %[[SORTED]]#0
// CHECK: tulle.storage
func.func @dcsc(%A: tensor<?x?xf64, #CSR>, %stored: index) -> tensor<?x?xf64, #DCSC> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %A, %c1 : tensor<?x?xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %stored attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %s0 = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ia in %s0 : !tulle.space<#CSR, 0> loop = <reduction> {
      %s1 = tulle.space %A level(1) under %ia : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %ij in %s1 : !tulle.space<#CSR, 1> loop = <reduction> {
        %a = tulle.load %A[%ij : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %a at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #DCSC>
  return %C : tensor<?x?xf64, #DCSC>
}
