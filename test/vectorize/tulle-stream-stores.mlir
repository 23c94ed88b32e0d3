// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-stream-stores))' | FileCheck %s

// Ahead of the loop, where what it writes is large: iterations up to the first line, and vectors of a line of
// the smaller elements, two of the larger ones.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %[[X:.*]]: memref<?xf64>, %[[C:.*]]: memref<?xi32>, %[[Y:.*]]: memref<?xf64>, %[[D:.*]]: memref<?xi32>, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index
// CHECK: %[[TRIPS:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: %[[LONG:.*]] = arith.cmpi sge, %[[TRIPS]], %c4096
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c8
// CHECK: arith.muli %{{.*}}, %c4
// CHECK: %[[LARGE:.*]] = arith.cmpi ugt, %{{.*}}, %c16777216
// CHECK: %[[STREAMED:.*]] = arith.andi %[[LONG]], %[[LARGE]]
// CHECK: %[[REST:.*]] = scf.if %[[STREAMED]] -> (index) {
// CHECK: %[[START:.*]] = memref.extract_aligned_pointer_as_index %[[D]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[BEGIN]], %{{.*}}
// CHECK: scf.if %{{.*}} -> (index) {
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[FIRST]] step %c1
// CHECK: memref.store
// CHECK: %[[WHOLE:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[WHOLE]] step %c16
// CHECK: vector.load %[[X]]{{.*}} vector<16xf64>
// CHECK: vector.load %[[C]]{{.*}} vector<16xi32>
// CHECK: vector.store %{{.*}}, %[[Y]][%{{.*}}] {alignment = 64 : i64, nontemporal = true} : memref<?xf64>, vector<16xf64>
// CHECK: vector.store %{{.*}}, %[[D]][%{{.*}}] {alignment = 64 : i64, nontemporal = true} : memref<?xi32>, vector<16xi32>
// CHECK: llvm.fence seq_cst
// CHECK: scf.yield %[[WHOLE]]
// CHECK: } else {
// CHECK: scf.yield %[[BEGIN]]
// CHECK: } else {
// CHECK: scf.yield %[[BEGIN]]
// CHECK: scf.for %{{.*}} = %[[REST]] to %[[END]] step %c1
// CHECK-NOT: vector.store
func.func @copy(%x: memref<?xf64>, %c: memref<?xi32>, %y: memref<?xf64>, %d: memref<?xi32>, %begin: index, %end: index, %by: index) {
  %c1 = arith.constant 1 : index
  scf.for %k = %begin to %end step %c1 {
    %v = memref.load %x[%k] : memref<?xf64>
    %j = memref.load %c[%k] : memref<?xi32>
    %to = arith.addi %k, %by : index
    memref.store %v, %y[%to] : memref<?xf64>
    memref.store %j, %d[%to] : memref<?xi32>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// What is read, there or later, a fill, a loop that is executed for each row, and one of which a schedule says
// something stay as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: nontemporal
// CHECK: return
func.func @others(%x: memref<?xf64>, %y: memref<?xf64>, %z: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %x[%k] : memref<?xf64>
    %twice = arith.addf %v, %v : f64
    memref.store %twice, %x[%k] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %x[%k] : memref<?xf64>
    memref.store %v, %z[%k] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  %first = memref.load %z[%c0] : memref<?xf64>
  scf.for %k = %c0 to %n step %c1 {
    memref.store %first, %y[%k] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.muli %i, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %at = arith.addi %row, %k : index
      %v = memref.load %x[%at] : memref<?xf64>
      memref.store %v, %y[%at] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %x[%k] : memref<?xf64>
    memref.store %v, %y[%k] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = i, directives = <unroll = 4>>}
  return
}
