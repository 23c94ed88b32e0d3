// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles))' | FileCheck %s
// RUN: sed 's/<znver4>/<x86-64-v4>/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-register-tiles))' | FileCheck %s --check-prefix=NARROW

// Rows of two cache lines, which entries select: of an operand that is larger than what stays in the caches, where they
// are remote, both lines of the row of an entry far ahead go into the second-level cache. A prefetch that the first-level
// cache waits for does not pay for rows that narrow.

module attributes {tulle.cpu = #tulle.cpu<znver4>} {

// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: %{{.*}}: memref<?xi32>, %[[CRD:[a-z0-9]*]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>
// CHECK: %[[SIZE:.*]] = memref.dim %[[B]]
// CHECK: arith.cmpi ugt, %[[SIZE]], %c1048576
// CHECK: %[[REMOTE:.*]] = scf.if %{{.*}} -> (i1)
// CHECK: memref.load %[[CRD]]
// CHECK: memref.load %[[CRD]]
// CHECK: scf.if %[[REMOTE]] -> (vector<8xf64>, vector<8xf64>)
// CHECK: scf.for %[[P:.*]] = %{{.*}} iter_args
// CHECK: arith.addi %[[P]], %c61
// CHECK-COUNT-2: memref.prefetch %[[B]][%{{.*}}], read, locality<2>
// CHECK: else
// CHECK-NOT: memref.prefetch
// CHECK: return
// NARROW-LABEL: func.func @narrow(
// NARROW-NOT: memref.prefetch
func.func @narrow(%pos: memref<?xi32>, %crd: memref<?xi32>, %val: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %m step %c1 {
    %base = arith.muli %i, %c16 : index
    %lo, %hi = tulle.segment %pos[%i] : memref<?xi32>
    scf.for %p = %lo to %hi step %c1 {
      %j32 = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %a = memref.load %val[%p] : memref<?xf64>
      %row = arith.muli %j, %c16 : index
      scf.for %k = %c0 to %c16 step %c1 {
        %bi = arith.addi %row, %k : index
        %bv = memref.load %b[%bi] : memref<?xf64>
        %ci = arith.addi %base, %k : index
        %cv = memref.load %c[%ci] : memref<?xf64>
        %prod = arith.mulf %a, %bv : f64
        %s = arith.addf %cv, %prod : f64
        memref.store %s, %c[%ci] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

}
