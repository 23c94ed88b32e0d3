// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-hoist-invariants))' | FileCheck %s

// The row of the result that a branch selects is the same for all entries of a row: it is computed before the loop over these. What may
// trap, loads, or depends on the entry stays.
// CHECK-LABEL: func.func @row
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK-NEXT: %[[BEGIN:.*]] = arith.addi %[[ROW]], %{{.*}}
// CHECK-NEXT: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: scf.if
// CHECK-NEXT: %[[QUOTIENT:.*]] = arith.divsi %[[I]], %{{.*}}
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[BEGIN]], %[[QUOTIENT]]
// CHECK-NEXT: %[[X:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK-NEXT: memref.store %[[X]], %{{.*}}[%[[SUM]]]
func.func @row(%crd: memref<?xi32>, %a: memref<?xf64>, %c: memref<?xf64>, %n: index, %m: index, %none: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %p = %c0 to %m step %c1 {
      %j = memref.load %crd[%p] : memref<?xi32>
      %stored = arith.cmpi ne, %j, %none : i32
      scf.if %stored {
        %row = arith.muli %i, %m : index
        %begin = arith.addi %row, %n : index
        %quotient = arith.divsi %i, %m : index
        %sum = arith.addi %begin, %quotient : index
        %x = memref.load %a[%i] : memref<?xf64>
        memref.store %x, %c[%sum] : memref<?xf64>
      }
    }
  }
  return
}

// Out of both loops, a branch in a branch and the other branch of one.
// CHECK-LABEL: func.func @branches
// CHECK-SAME: %[[N:[a-z0-9]*]]: index, %[[M:[a-z0-9]*]]: index
// CHECK-DAG: %[[SUM:.*]] = arith.addi %[[N]], %[[M]]
// CHECK-DAG: %[[PRODUCT:.*]] = arith.muli %[[SUM]], %[[N]]
// CHECK-DAG: %[[DIFFERENCE:.*]] = arith.subi %[[N]], %[[M]]
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[PRODUCT]]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[DIFFERENCE]]]
func.func @branches(%n: index, %m: index, %c: memref<?xf64>, %x: f64, %first: i1, %second: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %p = %c0 to %m step %c1 {
      scf.if %first {
        %sum = arith.addi %n, %m : index
        scf.if %second {
          %product = arith.muli %sum, %n : index
          memref.store %x, %c[%product] : memref<?xf64>
        }
      } else {
        %difference = arith.subi %n, %m : index
        memref.store %x, %c[%difference] : memref<?xf64>
      }
    }
  }
  return
}

// Upstream's part: a loop's body, a while loop's too.
// CHECK-LABEL: func.func @bodies
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: scf.while
// CHECK: scf.condition
// CHECK-NOT: arith.addi
// CHECK: arith.subi %{{.*}}, %[[SUM]]
func.func @bodies(%n: index, %m: index) -> index {
  %c0 = arith.constant 0 : index
  %last = scf.while (%at = %n) : (index) -> index {
    %some = arith.cmpi sgt, %at, %c0 : index
    scf.condition(%some) %at : index
  } do {
  ^bb0(%at: index):
    %sum = arith.addi %n, %m : index
    %next = arith.subi %at, %sum : index
    scf.yield %next : index
  }
  return %last : index
}
