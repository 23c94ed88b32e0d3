// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-factor-rows,canonicalize))' | FileCheck %s

// A row of MTTKRP. Where fibers hold four entries or more in the mean, the rows of E are summed first, into a row of their own, and the
// sum is multiplied with the row of D once for each fiber. Else the loops stay as they are, and say that fibers are short.
// CHECK-LABEL: func.func @fibers
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[KCRD:[a-z0-9]*]]: memref<?xi32>, %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[D:[a-z0-9]*]]: memref<?xf64>, %[[E:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[LO]], %[[HI]]
// CHECK: %[[LONG:.*]] = scf.if %[[SOME]]
// CHECK:   memref.load %[[POS]][%[[LO]]]
// CHECK:   memref.load %[[POS]][%[[HI]]]
// CHECK:   %[[ENTRIES:.*]] = arith.subi
// CHECK:   %[[FEW:.*]] = arith.muli %{{.*}}, %c4
// CHECK:   arith.cmpi sge, %[[ENTRIES]], %[[FEW]]
// CHECK: %[[W:.*]] = memref.alloc(%[[N]])
// CHECK: scf.if %[[LONG]] {
// CHECK:   scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK:     scf.for %[[K0:.*]] = %c0 to %[[N]]
// CHECK:       memref.store %{{.*}}, %[[W]][%[[K0]]]
// CHECK:     scf.for
// CHECK-NOT:   memref.load %[[D]]
// CHECK:       scf.for %[[K1:.*]] = %c0 to %[[N]]
// CHECK:         %[[X:.*]] = memref.load %[[E]]
// CHECK:         %[[P:.*]] = arith.mulf %{{.*}}, %[[X]]
// CHECK:         %[[OLD:.*]] = memref.load %[[W]][%[[K1]]]
// CHECK:         %[[NEW:.*]] = arith.addf %[[OLD]], %[[P]]
// CHECK:         memref.store %[[NEW]], %[[W]][%[[K1]]]
// CHECK:     scf.for %[[K2:.*]] = %c0 to %[[N]]
// CHECK:       %[[SUM:.*]] = memref.load %[[W]][%[[K2]]]
// CHECK:       %[[ROW:.*]] = memref.load %[[D]]
// CHECK:       %[[Q:.*]] = arith.mulf %[[SUM]], %[[ROW]]
// CHECK:       %[[BEFORE:.*]] = memref.load %[[C]]
// CHECK:       %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[Q]]
// CHECK:       memref.store %[[AFTER]], %[[C]]
// CHECK: } else {
// CHECK:   scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK:     memref.load %[[D]]
// CHECK:   tulle.short
// CHECK: memref.dealloc %[[W]]
func.func @fibers(%crd: memref<?xi32>, %pos: memref<?xi32>, %kcrd: memref<?xi32>, %val: memref<?xf64>, %d: memref<?xf64>, %e: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %q = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%q] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %pb32 = memref.load %pos[%q] : memref<?xi32>
    %pb = arith.index_castui %pb32 : i32 to index
    %q1 = arith.addi %q, %c1 : index
    %pe32 = memref.load %pos[%q1] : memref<?xi32>
    %pe = arith.index_castui %pe32 : i32 to index
    %jn = arith.muli %j, %n : index
    scf.for %p = %pb to %pe step %c1 {
      %k32 = memref.load %kcrd[%p] : memref<?xi32>
      %k = arith.index_castui %k32 : i32 to index
      %v = memref.load %val[%p] : memref<?xf64>
      %kn = arith.muli %k, %n : index
      scf.for %r = %c0 to %n step %c1 {
        %dat = arith.addi %jn, %r : index
        %dv = memref.load %d[%dat] : memref<?xf64>
        %eat = arith.addi %kn, %r : index
        %ev = memref.load %e[%eat] : memref<?xf64>
        %old = memref.load %c[%r] : memref<?xf64>
        %m0 = arith.mulf %v, %dv fastmath<reassoc> : f64
        %m1 = arith.mulf %m0, %ev fastmath<reassoc> : f64
        %new = arith.addf %old, %m1 fastmath<reassoc> : f64
        memref.store %new, %c[%r] : memref<?xf64>
      } {tulle.kind = "parallel"}
    } {tulle.kind = "reduction"}
  } {tulle.kind = "reduction"}
  return
}

// Products in an order that must be kept stay in it.
// CHECK-LABEL: func.func @strict
// CHECK-NOT: memref.alloc
func.func @strict(%crd: memref<?xi32>, %pos: memref<?xi32>, %val: memref<?xf64>, %d: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %q = %lo to %hi step %c1 {
    %pb32 = memref.load %pos[%q] : memref<?xi32>
    %pb = arith.index_castui %pb32 : i32 to index
    %q1 = arith.addi %q, %c1 : index
    %pe32 = memref.load %pos[%q1] : memref<?xi32>
    %pe = arith.index_castui %pe32 : i32 to index
    %qn = arith.muli %q, %n : index
    scf.for %p = %pb to %pe step %c1 {
      %v = memref.load %val[%p] : memref<?xf64>
      scf.for %r = %c0 to %n step %c1 {
        %dat = arith.addi %qn, %r : index
        %dv = memref.load %d[%dat] : memref<?xf64>
        %old = memref.load %c[%r] : memref<?xf64>
        %m = arith.mulf %v, %dv : f64
        %new = arith.addf %old, %m : f64
        memref.store %new, %c[%r] : memref<?xf64>
      } {tulle.kind = "parallel"}
    } {tulle.kind = "reduction"}
  } {tulle.kind = "reduction"}
  return
}
