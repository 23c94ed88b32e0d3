// Buckets are cleared, then counted.
// RUN: tulle-opt %s --tulle-lower-histogram | FileCheck %s

// CHECK-LABEL: @histogram
// CHECK: %[[LAST:.*]] = arith.addi %arg4, %arg5
// CHECK: scf.for %[[AT:.*]] = %arg4 to %[[LAST]]
// CHECK: memref.store %{{.*}}, %arg3[%[[AT]]]
// CHECK: scf.for %[[ENTRY:.*]] = %arg1 to %arg2
// CHECK: %[[KEY:.*]] = memref.load %arg0[%[[ENTRY]]]
// CHECK: %[[BUCKET:.*]] = arith.addi %arg4, %[[KEY]]
// CHECK: %[[COUNT:.*]] = memref.load %arg3[%[[BUCKET]]]
// CHECK: %[[MORE:.*]] = arith.addi %[[COUNT]], %{{.*}}
// CHECK: memref.store %[[MORE]], %arg3[%[[BUCKET]]]
func.func @histogram(%keys: memref<?xindex>, %begin: index, %end: index, %counts: memref<?xindex>, %first: index, %n: index) {
  tulle.histogram %begin to %end into %counts[%first] buckets %n {
  ^bb0(%entry: index):
    %key = memref.load %keys[%entry] : memref<?xindex>
    tulle.key %key
  } : memref<?xindex>
  return
}
