// A prefix sum is a loop that carries the sum; rows of a table are summed down each column.
// RUN: tulle-opt %s --tulle-lower-scan | FileCheck %s

// CHECK-LABEL: @vector
// CHECK: %[[T:.*]] = scf.for %[[AT:.*]] = %arg1 to %arg2 {{.*}} iter_args(%[[SUM:.*]] = %arg3) -> (index)
// CHECK: %[[C:.*]] = memref.load %arg0[%[[AT]]]
// CHECK: memref.store %[[SUM]], %arg0[%[[AT]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[SUM]], %[[C]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: return %[[T]]
func.func @vector(%counts: memref<?xindex>, %begin: index, %end: index, %init: index) -> index {
  %total = tulle.scan %counts[%begin to %end] init %init : memref<?xindex>
  return %total : index
}

// CHECK-LABEL: @table
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} to %arg2
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %arg1
// CHECK: %[[START:.*]] = arith.muli %[[ROW]], %arg2
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[COLUMN]]
// CHECK: memref.load %arg0[%[[AT]]] : memref<?xi32>
func.func @table(%counts: memref<?xi32>, %rows: index, %columns: index) -> index {
  %zero = arith.constant 0 : index
  %total = tulle.scan %counts[%zero to %columns] rows %rows init %zero : memref<?xi32>
  return %total : index
}
