// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-prefetch-rows))' | FileCheck %s --check-prefixes=CHECK,FAR
// RUN: sed 's/<znver4>/<x86-64-v4>/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-prefetch-rows))' | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: sed 's/<znver4>/<znver5>/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-prefetch-rows))' | FileCheck %s --check-prefixes=CHECK,LINES
// RUN: sed 's/<znver4>/<emeraldrapids>/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-prefetch-rows))' | FileCheck %s --check-prefixes=CHECK,FOUR

module attributes {tulle.cpu = #tulle.cpu<znver4>} {

// A gather of rows, in two versions. Where x is larger than the second-level cache, rows have two lines, and integers that
// stand 64 apart select rows that are remote, the row that a later integer selects is prefetched. A hardware prefetcher
// follows it from its first line on, or from its fourth; or all of it goes into the second-level cache, further ahead.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[P:[a-z0-9]*]]: memref<?xi32>, %[[X:[a-z0-9]*]]: memref<?xf32>, %[[Y:[a-z0-9]*]]: memref<?xf32>, %[[N:[a-z0-9]*]]: index
// CHECK: %[[LENGTH:.*]] = arith.subi %[[N]], %c0
// CHECK: arith.cmpi sge, %[[LENGTH]], %c32
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]]
// FIRST: arith.cmpi ugt, %[[SIZE]], %c262144
// LINES: arith.cmpi ugt, %[[SIZE]], %c262144
// FAR: arith.cmpi ugt, %[[SIZE]], %c262144
// FOUR: arith.cmpi ugt, %[[SIZE]], %c524288
// CHECK: %[[SCATTERED:.*]] = scf.if %{{.*}} -> (i1)
// CHECK-NOT: memref.dim %[[Y]]
// CHECK: scf.if %{{.*}} -> (i1)
// CHECK: memref.load %[[P]]
// CHECK: memref.load %[[P]]
// CHECK: arith.cmpi ugt
// CHECK: scf.if %[[SCATTERED]] {
// CHECK: scf.for %[[I:.*]] = %[[BEGIN:.*]] to
// CHECK: %[[LATER:.*]] = arith.addi %[[I]], %{{.*}}
// CHECK: %[[DIM:.*]] = memref.dim %[[P]]
// CHECK: %[[LAST:.*]] = arith.subi %[[DIM]], %c1
// CHECK: %[[AT:.*]] = arith.minsi %[[LATER]], %[[LAST]]
// CHECK: %[[INTEGER:.*]] = memref.load %[[P]][%[[AT]]]
// CHECK: %[[ROW:.*]] = arith.index_castui %[[INTEGER]]
// CHECK: %[[START:.*]] = arith.muli %[[ROW]], %[[N]]
// LINES: scf.for %[[LINE:.*]] = %c0 to %[[N]] step %c16
// LINES: %[[ADDRESS:.*]] = arith.addi %[[START]], %[[LINE]]
// FAR: scf.for %[[LINE:.*]] = %c0 to %[[N]] step %c16
// FAR: %[[ADDRESS:.*]] = arith.addi %[[START]], %[[LINE]]
// FOUR: %[[BEHIND:.*]] = arith.addi %c0, %c64
// FOUR: %[[END:.*]] = arith.minsi %[[N]], %[[BEHIND]]
// FOUR: scf.for %[[LINE:.*]] = %c0 to %[[END]] step %c16
// FOUR: %[[ADDRESS:.*]] = arith.addi %[[START]], %[[LINE]]
// FIRST-NOT: scf.for
// FIRST: %[[ADDRESS:.*]] = arith.addi %[[START]], %c0
// CHECK: memref.prefetch %[[X]][%[[ADDRESS]]], read
// FAR-SAME: locality<2>
// FIRST-SAME: locality<3>
// CHECK-NOT: memref.prefetch
// CHECK: memref.store
// CHECK: } else {
// CHECK-NOT: memref.prefetch
// CHECK: memref.store
func.func @gather(%p: memref<?xi32>, %x: memref<?xf32>, %y: memref<?xf32>, %n: index, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %integer = memref.load %p[%i] : memref<?xi32>
    %row = arith.index_castui %integer : i32 to index
    %from = arith.muli %row, %n : index
    %to = arith.muli %i, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %xi = arith.addi %from, %k : index
      %v = memref.load %x[%xi] : memref<?xf32>
      %yi = arith.addi %to, %k : index
      memref.store %v, %y[%yi] : memref<?xf32>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Rows that are updated at integers, in the part that a thread has of k: its own part of them. Where the hardware does not
// follow y beside them, so are y's rows.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: %[[P:[a-z0-9]*]]: memref<?xi32>, %[[Y:[a-z0-9]*]]: memref<?xf32>, %[[Z:[a-z0-9]*]]: memref<?xf32>, %{{[a-z0-9]*}}: index, %[[FROM:[a-z0-9]*]]: index, %[[TO:[a-z0-9]*]]: index
// CHECK: %[[SIZE:.*]] = memref.dim %[[Z]]
// CHECK: %[[SCATTERED:.*]] = scf.if
// CHECK: scf.if %[[SCATTERED]]
// CHECK: scf.for
// LINES: scf.for %[[LINE:.*]] = %[[FROM]] to %[[TO]] step %c16
// LINES: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[LINE]]
// FAR: scf.for %[[LINE:.*]] = %[[FROM]] to %[[TO]] step %c16
// FAR: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[LINE]]
// FIRST: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[FROM]]
// FOUR: %[[BEHIND:.*]] = arith.addi %[[FROM]], %c64
// FOUR: %[[END:.*]] = arith.minsi %[[TO]], %[[BEHIND]]
// FOUR: scf.for %[[LINE:.*]] = %[[FROM]] to %[[END]] step %c16
// FOUR: %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[LINE]]
// CHECK: memref.prefetch %[[Z]][%[[ADDRESS]]], read
// FAR-SAME: locality<2>
// FOUR: memref.prefetch %[[Y]]
// CHECK-NOT: memref.prefetch
// CHECK: memref.store
func.func @scatter(%p: memref<?xi32>, %y: memref<?xf32>, %z: memref<?xf32>, %n: index, %from: index, %to: index, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %integer = memref.load %p[%i] : memref<?xi32>
    %row = arith.index_castui %integer : i32 to index
    %zr = arith.muli %row, %n : index
    %yr = arith.muli %i, %n : index
    scf.for %k = %from to %to step %c1 {
      %yi = arith.addi %yr, %k : index
      %v = memref.load %y[%yi] : memref<?xf32>
      %zi = arith.addi %zr, %k : index
      %old = memref.load %z[%zi] : memref<?xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %z[%zi] : memref<?xf32>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Columns of updates: the test is before the loop over columns, on which it does not depend.
// CHECK-LABEL: func.func @columns(
// CHECK: %[[SCATTERED:.*]] = scf.if
// CHECK: scf.for %[[J:.*]] =
// CHECK: scf.if %[[SCATTERED]]
// CHECK: memref.prefetch
// CHECK: return
func.func @columns(%pos: memref<?xindex>, %crd: memref<?xi32>, %x: memref<?xf32>, %y: memref<?xf32>, %n: index, %columns: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %columns step %c1 {
    %begin = memref.load %pos[%j] : memref<?xindex>
    %next = arith.addi %j, %c1 : index
    %end = memref.load %pos[%next] : memref<?xindex>
    %xr = arith.muli %j, %n : index
    scf.for %p = %begin to %end step %c1 {
      %integer = memref.load %crd[%p] : memref<?xi32>
      %row = arith.index_castui %integer : i32 to index
      %yr = arith.muli %row, %n : index
      scf.for %k = %c0 to %n step %c1 {
        %xi = arith.addi %xr, %k : index
        %v = memref.load %x[%xi] : memref<?xf32>
        %yi = arith.addi %yr, %k : index
        %old = memref.load %y[%yi] : memref<?xf32>
        %new = arith.addf %old, %v : f32
        memref.store %new, %y[%yi] : memref<?xf32>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// The row that is updated is the same in all iterations: tulle-register-tiles holds it in registers, and prefetches.
// CHECK-LABEL: func.func @spmm_row(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @spmm_row(%crd: memref<?xi32>, %b: memref<?xf32>, %c: memref<?xf32>, %n: index, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    %row = arith.muli %j, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %bi = arith.addi %row, %k : index
      %v = memref.load %b[%bi] : memref<?xf32>
      %old = memref.load %c[%k] : memref<?xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %c[%k] : memref<?xf32>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Rows in order, which the hardware prefetches.
// CHECK-LABEL: func.func @in_order(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @in_order(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %row = arith.muli %i, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %at = arith.addi %row, %k : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%at] : memref<?xf32>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// What a loop loads at one place, a buffer among others, has no row of its own.
// CHECK-LABEL: func.func @buffer(
// CHECK-SAME: %[[P:[a-z0-9]*]]: memref<?xi32>, %[[X:[a-z0-9]*]]: memref<?xf32>
// CHECK: memref.prefetch %[[X]]
// CHECK: memref.load %{{.*}} : memref<?xmemref<?xf32>>
func.func @buffer(%p: memref<?xi32>, %x: memref<?xf32>, %rows: memref<?xmemref<?xf32>>, %y: memref<?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    %integer = memref.load %p[%i] : memref<?xi32>
    %row = arith.index_castui %integer : i32 to index
    %from = arith.muli %row, %n : index
    %to = arith.muli %i, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %buffer = memref.load %rows[%c0] : memref<?xmemref<?xf32>>
      %source = arith.addi %from, %k : index
      %v = memref.load %x[%source] : memref<?xf32>
      %target = arith.addi %to, %k : index
      memref.store %v, %y[%target] : memref<?xf32>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
}
