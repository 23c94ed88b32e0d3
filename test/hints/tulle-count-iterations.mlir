// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-count-iterations,canonicalize))' | FileCheck %s

// A block of 64 elements is at %first, and is read by vectors of 8: LLVM would not see that all are, and where the loop of those that are left begins.
// CHECK-LABEL: func.func @block
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?xf32>, %[[Y:[a-z0-9]*]]: memref<?xf32>, %[[FIRST:[a-z0-9]*]]: index
// CHECK: scf.for %[[K:.*]] = %c0 to %c57 step %c8 {
// CHECK:   %[[AT:.*]] = arith.addi %[[FIRST]], %[[K]] overflow<nsw>
// CHECK:   vector.load %[[X]][%[[AT]]]
// CHECK:   vector.store %{{.*}}, %[[Y]][%[[AT]]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @block(%x: memref<?xf32>, %y: memref<?xf32>, %first: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.muli %c2, %c4 : index
  %c64 = arith.constant 64 : index
  %end = arith.addi %first, %c64 overflow<nsw, nuw> : index
  %c7 = arith.subi %c8, %c1 : index
  %limit = arith.subi %end, %c7 : index
  %next = scf.for %p = %first to %limit step %c8 iter_args(%at = %first) -> (index) {
    %v = vector.load %x[%p] : memref<?xf32>, vector<8xf32>
    vector.store %v, %y[%p] : memref<?xf32>, vector<8xf32>
    %following = arith.addi %p, %c8 : index
    scf.yield %following : index
  }
  scf.for %p = %next to %end step %c1 {
    %v = memref.load %x[%p] : memref<?xf32>
    memref.store %v, %y[%p] : memref<?xf32>
  }
  return
}

// 61 elements leave five to the second loop.
// CHECK-LABEL: func.func @more
// CHECK-SAME: %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %[[FIRST:[a-z0-9]*]]: index
// CHECK: %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c56 overflow<nsw>
// CHECK: scf.for %{{.*}} = %c0 to %c54 step %c8 {
// CHECK: scf.for %[[K:.*]] = %c0 to %c5 step %c1 {
// CHECK:   %[[AT:.*]] = arith.addi %[[BEHIND]], %[[K]] overflow<nsw>
// CHECK:   memref.load %{{.*}}[%[[AT]]]
// CHECK: return
func.func @more(%x: memref<?xf32>, %y: memref<?xf32>, %first: index) {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c61 = arith.constant 61 : index
  %end = arith.addi %first, %c61 overflow<nsw, nuw> : index
  %limit = arith.subi %end, %c7 : index
  %next = scf.for %p = %first to %limit step %c8 iter_args(%at = %first) -> (index) {
    %v = vector.load %x[%p] : memref<?xf32>, vector<8xf32>
    vector.store %v, %y[%p] : memref<?xf32>, vector<8xf32>
    %following = arith.addi %p, %c8 : index
    scf.yield %following : index
  }
  scf.for %p = %next to %end step %c1 {
    %v = memref.load %x[%p] : memref<?xf32>
    memref.store %v, %y[%p] : memref<?xf32>
  }
  return
}

// What is carried and is another number stays, as do loops whose length is not known, and those from a constant on.
// CHECK-LABEL: func.func @other
// CHECK-SAME: %[[FIRST:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c64 step %c1 iter_args(%{{.*}} = %[[FIRST]])
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1
// CHECK: scf.for %{{.*}} = %c1 to %c8 step %c1
// CHECK: return %[[SUM]]
func.func @other(%first: index, %end: index, %y: memref<?xindex>) -> index {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %behind = arith.addi %first, %c64 : index
  %sum = scf.for %p = %first to %behind step %c1 iter_args(%before = %first) -> (index) {
    %after = arith.addi %before, %p : index
    scf.yield %after : index
  }
  scf.for %p = %first to %end step %c1 {
    memref.store %sum, %y[%p] : memref<?xindex>
  }
  scf.for %p = %c1 to %c8 step %c1 {
    memref.store %sum, %y[%p] : memref<?xindex>
  }
  return %sum : index
}

// The distance of these bounds is no number of 64 bits: nothing is known of it.
// CHECK-LABEL: func.func @far
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 {
// CHECK-NEXT: memref.load
func.func @far(%x: memref<?xf32>, %y: memref<?xf32>, %first: index) {
  %c1 = arith.constant 1 : index
  %cmin = arith.constant -9223372036854775808 : index
  %lower = arith.addi %first, %c1 : index
  %upper = arith.addi %first, %cmin : index
  scf.for %p = %lower to %upper step %c1 {
    %v = memref.load %x[%p] : memref<?xf32>
    memref.store %v, %y[%p] : memref<?xf32>
  }
  return
}
