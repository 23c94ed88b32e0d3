// The runtime knows the chunks before.
// RUN: tulle-opt %s --tulle-lower-chained-scan | FileCheck %s

// CHECK-LABEL: @chunk
// CHECK: %[[STATE:.*]] = memref.extract_aligned_pointer_as_index %arg2
// CHECK: arith.addi %[[STATE]]
// CHECK: call @tulle_ordered_scan
func.func @chunk(%count: index, %number: index, %state: memref<?xindex>) -> index {
  %two = arith.constant 2 : index
  %start = tulle.chained_scan %count of %number in %state[%two] : memref<?xindex>
  return %start : index
}
