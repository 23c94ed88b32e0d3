// Each record goes to the next position of its bucket, a word at a time.
// RUN: tulle-opt %s --tulle-lower-scatter-entries | FileCheck %s

// CHECK-LABEL: @scatter
// CHECK: scf.for %[[ENTRY:.*]] = %arg1 to %arg2
// CHECK: %[[KEY:.*]] = memref.load %arg0[%[[ENTRY]]]
// CHECK: %[[BUCKET:.*]] = arith.addi %arg6, %[[KEY]]
// CHECK: %[[TO:.*]] = memref.load %arg5[%[[BUCKET]]]
// CHECK: memref.store %{{.*}}, %arg5[%[[BUCKET]]]
// CHECK: memref.load %arg3[
// CHECK: %[[RECORD:.*]] = arith.muli %[[TO]], %{{.*}}
// CHECK: memref.store %{{.*}}, %arg4[%[[RECORD]]]
// CHECK: memref.load %arg3[
// CHECK: memref.store %{{.*}}, %arg4[
// CHECK-NOT: memref.store
func.func @scatter(%keys: memref<?xindex>, %begin: index, %end: index, %list: memref<?xi64>, %sorted: memref<?xi64>, %offsets: memref<?xindex>, %first: index) {
  tulle.scatter_entries %begin to %end of %list into %sorted by %offsets[%first] words 2 {
  ^bb0(%entry: index):
    %key = memref.load %keys[%entry] : memref<?xindex>
    tulle.key %key
  } : memref<?xi64>, memref<?xindex>
  return
}
