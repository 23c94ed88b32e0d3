// A list is written in the order of the loops; threads count their chunks first.
// RUN: tulle-opt %s --tulle-lower-collect | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// CHECK-LABEL: @alone
// CHECK: %[[LIST:.*]] = memref.alloc
// CHECK: tulle.for_each_entry %{{.*}} {
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %value: f64):
// CHECK: memref.store %{{.*}}, %[[LIST]]
// CHECK: memref.dealloc
func.func @alone(%i: index, %j: index, %v: f64, %n: index) -> index {
  %entries = tulle.entries {
    tulle.insert %v at (%i, %j) : f64
  } : !tulle.entries<2, f64>
  %list, %count = tulle.collect %entries bound %n sizes(%n, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> memref<?xi64>
  memref.dealloc %list : memref<?xi64>
  return %count : index
}

// CHECK-LABEL: @together
// CHECK: %[[THREADS:.*]] = tulle.threads
// CHECK: tulle.parallel %[[CHUNK:.*]] of %[[THREADS]]
// CHECK: tulle.for_each_entry %{{.*}} chunk %[[CHUNK]] of %[[THREADS]] {
// CHECK: tulle.scan
// CHECK: tulle.parallel %[[CHUNK:.*]] of %[[THREADS]]
// CHECK: tulle.for_each_entry %{{.*}} chunk %[[CHUNK]] of %[[THREADS]] {
func.func @together(%i: index, %j: index, %v: f64, %n: index) -> index {
  %entries = tulle.entries {
    tulle.insert %v at (%i, %j) : f64
  } : !tulle.entries<2, f64>
  %list, %count = tulle.collect %entries bound %n sizes(%n, %n) for tensor<?x?xf64, #CSR> parallel : !tulle.entries<2, f64> -> memref<?xi64>
  memref.dealloc %list : memref<?xi64>
  return %count : index
}
