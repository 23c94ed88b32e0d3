// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-pack-operands))' | FileCheck %s

// Two of every four rows of B, chosen by two bits each. A panel has 128 rows of 32 columns: 32 groups.
// CHECK-LABEL: func.func @choices
// CHECK-SAME: %{{.*}}: memref<?xi8>, %{{.*}}: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[M:[a-z0-9]*]]: index, %[[G:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index, %[[CN:[a-z0-9]*]]: index)
// CHECK-DAG: %[[MANY:.*]] = arith.cmpi sge, %{{.*}}, %c32
// CHECK-DAG: %[[BIG:.*]] = arith.cmpi sgt, %{{.*}}, %c4096
// CHECK-DAG: %[[SAME:.*]] = arith.cmpi eq, %[[CN]], %[[N]]
// CHECK: scf.if
// CHECK: %[[PANEL:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xf64>
// CHECK: %[[STORED:.*]] = arith.divui %{{.*}}, %[[N]]
// CHECK: scf.for %[[K0:.*]] = %{{.*}} to %[[N]] step %c32
// CHECK: %[[WIDE:.*]] = arith.minsi %c32{{.*}}, %{{.*}}
// CHECK: scf.for %[[G0:.*]] = %{{.*}} to %[[G]] step %c32
// CHECK: %[[G1:.*]] = arith.minsi %{{.*}}, %[[G]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[G0]], %c4
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %[[STORED]]
// CHECK: scf.for %[[R:.*]] = %[[FIRST]] to %[[LAST]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[WIDE]]
// CHECK: memref.load %[[B]]
// CHECK: memref.store %{{.*}}, %[[PANEL]]
// CHECK: %[[SET:.*]] = arith.select %{{.*}}, %[[WIDE]], %c0
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[M]]
// CHECK: %[[BASE:.*]] = arith.muli %[[I]], %[[CN]]
// CHECK: %[[SHIFTED:.*]] = arith.addi %[[BASE]], %[[K0]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[SET]]
// CHECK: arith.addi %[[SHIFTED]]
// CHECK: scf.for %{{.*}} = %[[G0]] to %[[G1]]
// CHECK: scf.for
// CHECK: %[[FROM:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[START:.*]] = arith.muli %[[FROM]], %c32
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[WIDE]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[START]], %[[K]]
// CHECK: memref.load %[[PANEL]][%[[PLACE]]]
// CHECK: arith.addi %[[SHIFTED]], %[[K]]
// CHECK: memref.dealloc %[[PANEL]]
// CHECK: } else {
// CHECK-NOT: %[[PANEL]]
// CHECK: memref.load %[[B]]
func.func @choices(%crd: memref<?xi8>, %val: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %m: index, %g: index, %n: index, %cn: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %m step %c1 {
    %base = arith.muli %i, %cn : index
    scf.for %k = %c0 to %cn step %c1 {
      %ci = arith.addi %base, %k : index
      memref.store %zero, %c[%ci] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    %groups = arith.muli %i, %g : index
    scf.for %q = %c0 to %g step %c1 {
      %group = arith.addi %groups, %q : index
      %lo = arith.muli %group, %c2 : index
      %hi = arith.addi %lo, %c2 : index
      %four = arith.muli %q, %c4 : index
      scf.for %p = %lo to %hi step %c1 {
        %j8 = memref.load %crd[%p] : memref<?xi8>
        %j = arith.index_castui %j8 : i8 to index
        %choice = arith.andi %j, %c3 : index
        %a = memref.load %val[%p] : memref<?xf64>
        %row = arith.addi %four, %choice : index
        %first = arith.muli %row, %n : index
        scf.for %k = %c0 to %n step %c1 {
          %bi = arith.addi %first, %k : index
          %bv = memref.load %b[%bi] : memref<?xf64>
          %ci = arith.addi %base, %k : index
          %cv = memref.load %c[%ci] : memref<?xf64>
          %prod = arith.mulf %a, %bv : f64
          %s = arith.addf %cv, %prod : f64
          memref.store %s, %c[%ci] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Any iteration may load any row of B: no block of the range needs a part of it.
// CHECK-LABEL: func.func @any_row
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @any_row(%crd: memref<?xi32>, %b: memref<?xf64>, %c: memref<?xf64>, %m: index, %g: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    %base = arith.muli %i, %n : index
    scf.for %q = %c0 to %g step %c1 {
      %j32 = memref.load %crd[%q] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %first = arith.muli %j, %n : index
      scf.for %k = %c0 to %n step %c1 {
        %bi = arith.addi %first, %k : index
        %bv = memref.load %b[%bi] : memref<?xf64>
        %ci = arith.addi %base, %k : index
        %cv = memref.load %c[%ci] : memref<?xf64>
        %s = arith.addf %cv, %bv : f64
        memref.store %s, %c[%ci] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Iterations that accumulate into the same rows of C are not independent: they stay in their order.
// CHECK-LABEL: func.func @reduction
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @reduction(%b: memref<?xf64>, %c: memref<?xf64>, %m: index, %g: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    %half = arith.divui %i, %c2 : index
    %base = arith.muli %half, %n : index
    scf.for %q = %c0 to %g step %c1 {
      %first = arith.muli %q, %n : index
      scf.for %k = %c0 to %n step %c1 {
        %bi = arith.addi %first, %k : index
        %bv = memref.load %b[%bi] : memref<?xf64>
        %ci = arith.addi %base, %k : index
        %cv = memref.load %c[%ci] : memref<?xf64>
        %s = arith.addf %cv, %bv : f64
        memref.store %s, %c[%ci] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
