// The body of a traversal takes the place of the inserts; what only the value needs goes where nobody uses it.
// RUN: tulle-opt %s --tulle-inline-entries | FileCheck %s

// CHECK-LABEL: @traverse
// CHECK-NOT: tulle.entries
// CHECK: tulle.iterate %[[I:.*]] in
// CHECK: arith.mulf
// CHECK: memref.store %{{.*}}, %arg1[%[[I]]]
// CHECK: tulle.threads
// CHECK: tulle.parallel
// CHECK: tulle.partition
// CHECK: tulle.iterate
// CHECK-NOT: arith.mulf
// CHECK: memref.store %{{.*}}, %arg2
func.func @traverse(%n: index, %values: memref<?xf64>, %counts: memref<?xindex>) {
  %zero = arith.constant 0 : index
  %x = arith.constant 2.0 : f64
  %entries = tulle.entries {
    %range = tulle.range %zero to %n
    tulle.iterate %i in %range : !tulle.range {
      %v = arith.mulf %x, %x : f64
      tulle.insert %v at (%i) : f64
    }
  } : !tulle.entries<1, f64>
  tulle.for_each_entry %entries {
  ^bb0(%i: index, %v: f64):
    memref.store %v, %values[%i] : memref<?xf64>
  } : !tulle.entries<1, f64>
  %threads = tulle.threads %n
  tulle.parallel %chunk of %threads {
    tulle.for_each_entry %entries chunk %chunk of %threads {
    ^bb0(%i: index, %v: f64):
      memref.store %i, %counts[%chunk] : memref<?xindex>
    } : !tulle.entries<1, f64>
  }
  return
}
