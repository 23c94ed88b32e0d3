// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-cache-block,canonicalize))' | FileCheck %s

// Rows of MTTKRP: where they select most rows of D, groups of sixteen are split where the coordinate passes multiples of what L1 holds
// of D. The last chunks take what is left. Loads at a loop's index are prefetched for the next chunk but one of the row, in as many lines as the
// chunks of the group take in the mean.
// CHECK-LABEL: func.func @mttkrp
// CHECK-SAME: %[[ICRD:[a-z0-9]*]]: memref<?xi32>, %[[IPOS:[a-z0-9]*]]: memref<?xi32>, %[[JCRD:[a-z0-9]*]]: memref<?xi32>, %[[JPOS:[a-z0-9]*]]: memref<?xi32>, %[[KCRD:[a-z0-9]*]]: memref<?xi32>, %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[D:[a-z0-9]*]]: memref<?xf64>, %{{.*}}: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[BLOCK:.*]] = arith.divui %c12288, %{{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.subi %[[HI]], %[[LO]]
// CHECK: arith.cmpi sge, %[[COUNT]], %c32
// CHECK: %[[PAYS:.*]] = scf.if
// CHECK: scf.if %[[PAYS]]
// CHECK:   %[[STARTS:.*]] = memref.alloc() : memref<16xindex>
// CHECK:   scf.for %[[FIRST:.*]] = %[[LO]] to %[[HI]] step %c16
// CHECK:     %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c16
// CHECK:     %[[LAST:.*]] = arith.minsi %[[BEHIND]], %[[HI]]
// CHECK:     %[[LIMIT:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK:       memref.store %{{.*}}, %[[STARTS]]
// CHECK:     %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %[[BLOCK]]
// CHECK:     %[[PIECES:.*]] = arith.muli %[[BLOCKS]], %{{.*}}
// CHECK:     %[[USUAL:.*]] = arith.divui %{{.*}}, %[[PIECES]]
// CHECK:     scf.for %[[J:.*]] = %c0 to %[[LIMIT]] step %[[BLOCK]]
// CHECK:       %[[STOP:.*]] = arith.addi %[[J]], %[[BLOCK]]
// CHECK:       %[[ISLAST:.*]] = arith.cmpi sge, %[[STOP]], %[[LIMIT]]
// CHECK:       scf.for %[[I:.*]] = %[[FIRST]] to %[[LAST]]
// CHECK:         memref.load %[[ICRD]][%[[I]]]
// CHECK:         %[[FROM:.*]] = memref.load %[[STARTS]]
// CHECK:         %[[FOUND:.*]] = scf.while (%{{.*}} = %[[FROM]])
// CHECK:           arith.cmpi slt, %{{.*}}, %[[STOP]]
// CHECK:         %[[TO:.*]] = arith.select %[[ISLAST]], %[[END:.*]], %[[FOUND]]
// CHECK:         memref.store %[[TO]], %[[STARTS]]
// CHECK:         %[[LENGTH:.*]] = arith.subi %[[TO]], %[[FROM]]
// CHECK:         %[[LATER:.*]] = arith.addi %[[TO]], %[[LENGTH]]
// CHECK:         %[[LINES:.*]] = arith.addi %[[USUAL]], %c16
// CHECK:         %[[LATEST:.*]] = arith.addi %[[LATER]], %[[LINES]]
// CHECK:         scf.for %{{.*}} = %[[LATER]] to %[[LATEST]] step %c16
// CHECK:         memref.prefetch %[[JCRD]]
// CHECK:         memref.prefetch %[[JPOS]]
// CHECK:         memref.prefetch %[[KCRD]]
// CHECK:         memref.prefetch %[[VAL]]
// CHECK:         scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:         cache_resident
// CHECK:   memref.dealloc %[[STARTS]]
// CHECK: } else {
// CHECK:   scf.for %{{.*}} = %[[LO]] to %[[HI]] step %c1
func.func @mttkrp(%icrd: memref<?xi32>, %ipos: memref<?xi32>, %jcrd: memref<?xi32>, %jpos: memref<?xi32>, %kcrd: memref<?xi32>, %val: memref<?xf64>, %d: memref<?xf64>, %e: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
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
      %begin, %end = tulle.segment %jpos[%q] : memref<?xi32>
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
          %ci = arith.addi %in, %r : index
          %cv = memref.load %c[%ci] : memref<?xf64>
          %ad = arith.mulf %a, %dv : f64
          %m = arith.mulf %ad, %ev : f64
          %s = arith.addf %cv, %m : f64
          memref.store %s, %c[%ci] : memref<?xf64>
        } {tulle.loop = #tulle.loop<parallel>}
      } {tulle.loop = #tulle.loop<reduction>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
