// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles))' | FileCheck %s

// Loops over segments, and over the entries of each (MTTKRP). Where segments hold fewer than two entries in the mean, one
// loop iterates over the entries of all of them and carries the segment: the next one where the entry is not before the end, and
// further where segments are empty. The rows that later entries and segments select are prefetched, one line of two. Where they
// hold more, loops are nested, and rows are prefetched where those that one segment in the middle selects are remote.
// CHECK-LABEL: func.func @short_segments
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[JCRD:[a-z0-9]*]]: memref<?xi32>, %[[KCRD:[a-z0-9]*]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[D:[a-z0-9]*]]: memref<?xf64>, %[[E:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index, %{{.*}}: index)
// CHECK: scf.for
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[LO]], %[[HI]]
// CHECK: %[[ANY:.*]] = scf.if %[[SOME]] -> (i1)
// CHECK: %[[CHOICE:.*]]:2 = scf.if %[[ANY]] -> (i1, index)
// CHECK: %[[COUNT:.*]] = arith.subi %[[HI]], %[[LO]]
// CHECK: %[[HALF:.*]] = arith.divui %[[COUNT]], %c2
// CHECK: %[[MIDDLE:.*]] = arith.addi %[[LO]], %[[HALF]]
// CHECK: %[[FIRST:.*]], %{{.*}} = tulle.segment %[[POS]][%[[LO]]]
// CHECK: %[[LAST:.*]], %{{.*}} = tulle.segment %[[POS]][%[[HI]]]
// CHECK: %[[FEW:.*]] = arith.muli %[[COUNT]], %c2
// CHECK: %[[ENTRIES:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK: %[[LONG:.*]] = arith.cmpi sge, %[[ENTRIES]], %[[FEW]]
// CHECK: scf.if %[[CHOICE]]#0
// CHECK:   tulle.segment %[[POS]][%[[CHOICE]]#1]
// CHECK:   %[[FAR:.*]] = scf.if
// CHECK:   scf.if %[[FAR]]
// CHECK:     scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK-COUNT-4: memref.prefetch %[[D]]
// CHECK:       scf.for
// CHECK-COUNT-4: memref.prefetch %[[E]]
// CHECK:   } else {
// CHECK:     scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK-NOT:   memref.prefetch
// CHECK:       scf.for
// CHECK-NOT:   memref.prefetch
// CHECK: } else {
// CHECK:   %[[FIRST:.*]], %{{.*}} = tulle.segment %[[POS]][%[[LO]]]
// CHECK:   %[[LAST:.*]], %{{.*}} = tulle.segment %[[POS]][%[[HI]]]
// CHECK:   scf.for %[[P:.*]] = %[[FIRST]] to %[[LAST]] step %{{.*}} iter_args(%[[Q:[a-z0-9_]*]] = %[[LO]], %[[END:[a-z0-9_]*]] = %{{[a-z0-9_]*}}, %{{.*}})
// CHECK:     %[[BEHIND:.*]] = arith.cmpi sge, %[[P]], %[[END]]
// CHECK:     %[[STEP:.*]] = arith.index_castui %[[BEHIND]] : i1 to index
// CHECK:     %[[NEXT:.*]] = arith.addi %[[Q]], %[[STEP]]
// CHECK:     %[[FOUND:.*]]:2 = scf.while (%{{.*}} = %[[NEXT]],
// CHECK:       arith.cmpi sge, %[[P]]
// CHECK:     memref.load %[[JCRD]][%[[FOUND]]#0]
// CHECK:     memref.load %[[KCRD]][%[[P]]]
// CHECK-COUNT-2: memref.prefetch %[[D]]
// CHECK-COUNT-2: memref.prefetch %[[E]]
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-4: arith.addf %{{.*}} : vector<8xf64>
// CHECK:     scf.yield %[[FOUND]]#0, %[[FOUND]]#1
func.func @short_segments(%pos: memref<?xi32>, %jcrd: memref<?xi32>, %kcrd: memref<?xi32>, %val: memref<?xf64>, %d: memref<?xf64>, %e: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %q = %lo to %hi step %c1 {
    %j32 = memref.load %jcrd[%q] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %begin, %end = tulle.segment %pos[%q] : memref<?xi32>
    %jn = arith.muli %j, %n : index
    scf.for %p = %begin to %end step %c1 {
      %k32 = memref.load %kcrd[%p] : memref<?xi32>
      %k = arith.index_castui %k32 : i32 to index
      %a = memref.load %val[%p] : memref<?xf64>
      %kn = arith.muli %k, %n : index
      scf.for %r = %c0 to %n step %c1 {
        %di = arith.addi %jn, %r : index
        %dv = memref.load %d[%di] : memref<?xf64>
        %ei = arith.addi %kn, %r : index
        %ev = memref.load %e[%ei] : memref<?xf64>
        %cv = memref.load %c[%r] : memref<?xf64>
        %ad = arith.mulf %a, %dv : f64
        %m = arith.mulf %ad, %ev : f64
        %s = arith.addf %cv, %m : f64
        memref.store %s, %c[%r] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// The row that an entry selects is one of those that its segment selects: a segment in the middle tells whether they are remote, by its
// own coordinate.
// CHECK-LABEL: func.func @named_by_two
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[JCRD:[a-z0-9]*]]: memref<?xi32>, %[[KCRD:[a-z0-9]*]]: memref<?xi32>
// CHECK: %[[LONG:.*]]:2 = scf.if
// CHECK: scf.if %[[LONG]]#0
// CHECK: memref.load %[[JCRD]][%[[LONG]]#1]
// CHECK: %[[FAR:.*]] = scf.if
// CHECK: memref.load %[[KCRD]]
// CHECK: memref.load %[[KCRD]]
// CHECK: arith.cmpi ugt
// CHECK: scf.if %[[FAR]]
// CHECK: memref.prefetch
func.func @named_by_two(%pos: memref<?xi32>, %jcrd: memref<?xi32>, %kcrd: memref<?xi32>, %val: memref<?xf64>, %e: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %q = %lo to %hi step %c1 {
    %j32 = memref.load %jcrd[%q] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %pb, %pe = tulle.segment %pos[%q] : memref<?xi32>
    %jm = arith.muli %j, %m : index
    scf.for %p = %pb to %pe step %c1 {
      %k32 = memref.load %kcrd[%p] : memref<?xi32>
      %k = arith.index_castui %k32 : i32 to index
      %v = memref.load %val[%p] : memref<?xf64>
      %row = arith.addi %jm, %k : index
      %start = arith.muli %row, %n : index
      scf.for %r = %c0 to %n step %c1 {
        %eat = arith.addi %start, %r : index
        %ev = memref.load %e[%eat] : memref<?xf64>
        %old = memref.load %c[%r] : memref<?xf64>
        %m1 = arith.mulf %v, %ev fastmath<reassoc> : f64
        %new = arith.addf %old, %m1 fastmath<reassoc> : f64
        memref.store %new, %c[%r] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// It depends on a third level, too: in which of its segments the one in the middle is, is not known. Nothing is tested.
// CHECK-LABEL: func.func @named_by_three
// CHECK: scf.if %{{.*}}#0
// CHECK-NOT: arith.cmpi ugt
// CHECK: return
func.func @named_by_three(%ipos: memref<?xi32>, %icrd: memref<?xi32>, %pos: memref<?xi32>, %jcrd: memref<?xi32>, %kcrd: memref<?xi32>, %val: memref<?xf64>, %e: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %x = %lo to %hi step %c1 {
    %i32 = memref.load %icrd[%x] : memref<?xi32>
    %i = arith.index_castui %i32 : i32 to index
    %qb, %qe = tulle.segment %ipos[%x] : memref<?xi32>
    scf.for %q = %qb to %qe step %c1 {
      %j32 = memref.load %jcrd[%q] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %pb, %pe = tulle.segment %pos[%q] : memref<?xi32>
      %jm = arith.muli %j, %m : index
      scf.for %p = %pb to %pe step %c1 {
        %k32 = memref.load %kcrd[%p] : memref<?xi32>
        %k = arith.index_castui %k32 : i32 to index
        %v = memref.load %val[%p] : memref<?xf64>
        %part = arith.addi %jm, %k : index
        %whole = arith.muli %part, %m : index
        %row = arith.addi %whole, %i : index
        %start = arith.muli %row, %n : index
        scf.for %r = %c0 to %n step %c1 {
          %eat = arith.addi %start, %r : index
          %ev = memref.load %e[%eat] : memref<?xf64>
          %old = memref.load %c[%r] : memref<?xf64>
          %m1 = arith.mulf %v, %ev fastmath<reassoc> : f64
          %new = arith.addf %old, %m1 fastmath<reassoc> : f64
          memref.store %new, %c[%r] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
