// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-register-tiles,canonicalize,cse))' | FileCheck %s
// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-register-tiles{factors=false},canonicalize,cse))' | FileCheck %s --check-prefix=KEPT

// A slice of MTTKRP of order 4: C[k] += v[p] * B[i, k] * D[j, k] * E[l, k]. The rows of E are summed for each q, that sum is multiplied by the row of
// D once, and the sum of those by the row of B once. Nothing is added without an entry below.
// CHECK-LABEL: func.func @tree
// CHECK-SAME: %[[ICRD:[a-z0-9]*]]: memref<?xi32>, %[[IPOS:[a-z0-9]*]]: memref<?xi32>, %[[JCRD:[a-z0-9]*]]: memref<?xi32>, %[[JPOS:[a-z0-9]*]]: memref<?xi32>, %[[LCRD:[a-z0-9]*]]: memref<?xi32>, %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[D:[a-z0-9]*]]: memref<?xf64>, %[[E:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf64>
// Whether segments are long is tested on the innermost ones, once for the tile.
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[LO]], %[[HI]]
// CHECK: %[[ENTRIES:.*]] = scf.if %[[SOME]] -> (i1)
// CHECK: scf.if %[[ENTRIES]] -> (i1, index)
// CHECK:   memref.load %[[IPOS]][%[[LO]]]
// CHECK:   memref.load %[[IPOS]][%[[HI]]]
// CHECK:   %[[SEGMENTS:.*]] = arith.subi
// CHECK:   memref.load %[[JPOS]]
// CHECK:   memref.load %[[JPOS]]
// CHECK:   %[[FEW:.*]] = arith.muli %[[SEGMENTS]], %c2
// CHECK:   %[[POSITIONS:.*]] = arith.subi
// CHECK:   arith.cmpi sge, %[[POSITIONS]], %[[FEW]]
// Where rows are remote, those of later iterations are prefetched.
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]] step %{{.*}} iter_args(%[[C0:[a-z0-9]*]] =
// CHECK:   %[[ANY:.*]] = scf.if %{{.*}} -> (i1) {
// CHECK:     %[[BEGIN32:.*]] = memref.load %[[JPOS]]
// CHECK:     %[[BEGIN:.*]] = arith.index_castui %[[BEGIN32]]
// CHECK:     %[[END32:.*]] = memref.load %[[JPOS]]
// CHECK:     %[[END:.*]] = arith.index_castui %[[END32]]
// CHECK:     arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK:   scf.if %[[ANY]] -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>) {
// CHECK:     scf.for %{{.*}} iter_args(%[[I0:[a-z0-9]*]] = %[[ZERO]]
// CHECK-COUNT-4: memref.prefetch %[[D]]
// CHECK:       %[[SUM:.*]]:4 = scf.if %{{.*}} -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>) {
// CHECK:         %[[ROWS:.*]]:4 = scf.for %{{.*}} iter_args(%[[J0:[a-z0-9]*]] = %[[ZERO]]
// CHECK-COUNT-4: memref.prefetch %[[E]]
// CHECK-NOT:       vector.load %[[D]]
// CHECK:           %[[EROW:.*]] = vector.load %[[E]]
// CHECK:           %[[TERM:.*]] = arith.mulf %{{.*}}, %[[EROW]]
// CHECK:           arith.addf %[[J0]], %[[TERM]]
// CHECK-NOT:       vector.load %[[D]]
// CHECK:         %[[DROW:.*]] = vector.load %[[D]]
// CHECK:         %[[JTERM:.*]] = arith.mulf %[[ROWS]]#0, %[[DROW]]
// CHECK:         arith.addf %[[I0]], %[[JTERM]]
// CHECK:       } else {
// CHECK:         scf.yield %[[I0]]
// CHECK:     %[[BROW:.*]] = vector.load %[[B]]
// CHECK:     %[[ITERM:.*]] = arith.mulf %{{.*}}, %[[BROW]]
// CHECK:     arith.addf %[[C0]], %[[ITERM]]
// Loops over short segments are coalesced, and multiply D with every entry, B with their sum.
// CHECK: scf.while
// CHECK-NOT: vector.load %[[B]]
// CHECK: vector.load %[[D]]
// CHECK-NOT: vector.load %[[B]]
// CHECK: vector.load %[[E]]
// CHECK: vector.load %[[B]]
// Where bits must not depend on how entries are partitioned, no factor is hoisted.
// KEPT-LABEL: func.func @tree
// KEPT-NOT: dense<0.000000e+00> : vector<8xf64>
// KEPT: return
func.func @tree(%icrd: memref<?xi32>, %ipos: memref<?xi32>, %jcrd: memref<?xi32>, %jpos: memref<?xi32>, %lcrd: memref<?xi32>, %val: memref<?xf64>, %b: memref<?xf64>, %d: memref<?xf64>, %e: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %x = %lo to %hi step %c1 {
    %i32 = memref.load %icrd[%x] : memref<?xi32>
    %i = arith.index_castui %i32 : i32 to index
    %qb, %qe = tulle.segment %ipos[%x] : memref<?xi32>
    %in = arith.muli %i, %n : index
    scf.for %q = %qb to %qe step %c1 {
      %j32 = memref.load %jcrd[%q] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %pb, %pe = tulle.segment %jpos[%q] : memref<?xi32>
      %jn = arith.muli %j, %n : index
      scf.for %p = %pb to %pe step %c1 {
        %l32 = memref.load %lcrd[%p] : memref<?xi32>
        %l = arith.index_castui %l32 : i32 to index
        %v = memref.load %val[%p] : memref<?xf64>
        %ln = arith.muli %l, %n : index
        scf.for %k = %c0 to %n step %c1 {
          %bat = arith.addi %in, %k : index
          %bv = memref.load %b[%bat] : memref<?xf64>
          %dat = arith.addi %jn, %k : index
          %dv = memref.load %d[%dat] : memref<?xf64>
          %eat = arith.addi %ln, %k : index
          %ev = memref.load %e[%eat] : memref<?xf64>
          %old = memref.load %c[%k] : memref<?xf64>
          %m0 = arith.mulf %v, %bv fastmath<reassoc> : f64
          %m1 = arith.mulf %m0, %dv fastmath<reassoc> : f64
          %m2 = arith.mulf %m1, %ev fastmath<reassoc> : f64
          %new = arith.addf %old, %m2 fastmath<reassoc> : f64
          memref.store %new, %c[%k] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// -----

// Products that must not be reassociated: each entry is multiplied with both.
// CHECK-LABEL: func.func @strict
// CHECK-NOT: dense<0.000000e+00> : vector<8xf64>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<8xf64>
// CHECK-NEXT: arith.addf %{{.*}}, %{{.*}} : vector<8xf64>
func.func @strict(%pos: memref<?xi32>, %val: memref<?xf64>, %d: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %q = %lo to %hi step %c1 {
    %pb, %pe = tulle.segment %pos[%q] : memref<?xi32>
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
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
