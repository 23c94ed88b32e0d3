// RUN: tulle-opt %s --tulle-inline-entries --verify-diagnostics
// RUN: %expect-error tulle-opt %s --tulle-lower 2>&1 | FileCheck %s
// CHECK: run tulle-sparsify first

func.func @chunks_of_no_loop(%v: f64, %n: index) {
  // expected-note@+1 {{these are made here}}
  %entries = tulle.entries {
    tulle.insert %v at (%n, %n) : f64
  } : !tulle.entries<2, f64>
  // expected-error@+1 {{expected entries of one loop that can be partitioned}}
  tulle.for_each_entry %entries chunk %n of %n {
  ^bb0(%i: index, %j: index, %value: f64):
  } : !tulle.entries<2, f64>
  return
}
