// RUN: tulle-opt %s | tulle-opt | FileCheck %s
// RUN: tulle-opt %s --canonicalize | FileCheck %s --check-prefix=CANON

// The bounds of a loop stay one op until nothing asks which segment it walks.
// CHECK-LABEL: @walked
// CHECK: %[[B:.*]], %[[E:.*]] = tulle.segment %{{.*}}[%{{.*}}] : memref<?xi32>
// CHECK: scf.for %{{.*}} = %[[B]] to %[[E]]
// CANON-LABEL: @walked
// CANON: %[[B:.*]], %[[E:.*]] = tulle.segment
// CANON: scf.for %{{.*}} = %[[B]] to %[[E]]
func.func @walked(%pos: memref<?xi32>, %y: memref<?xf64>, %i: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
  scf.for %q = %begin to %end step %c1 {
    memref.store %zero, %y[%q] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// One that is only measured is two loads at once; a bound that is not used is not read.
// CANON-LABEL: @measured
// CANON-NOT: tulle.segment
// CANON-COUNT-3: memref.load
// CANON-NOT: memref.load
// CANON: return
func.func @measured(%pos: memref<?xi64>, %i: index) -> (index, index) {
  %begin, %end = tulle.segment %pos[%i] : memref<?xi64>
  %length = arith.subi %end, %begin : index
  %first, %unused = tulle.segment %pos[%length] : memref<?xi64>
  return %length, %first : index, index
}
