// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles,tulle-loop-hints))' | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize-block-rows))' | FileCheck %s --check-prefix=BLOCKS
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s --check-prefix=ROWS

// A processor that needs software prefetch of streams, at a long distance (Zen 5).
module attributes {tulle.cpu = #tulle.cpu<znver5, masks = true, prefetch_entries = 768, prefetch_blocks = 640>} {

// Where two entries in the middle of a row of A select rows of B that are at most 384 elements apart, and B is larger than
// two of a core's caches, what follows a row of B is prefetched; where they are remote, the row that the entry 15 iterations later selects: tiles
// of eight cache lines are wide.
// CHECK-LABEL: func.func @spmm_row
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %{{[a-z0-9]*}}: index, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index
// CHECK-COUNT-8: vector.load %[[C]][%{{.*}}] : memref<?xf64>, vector<8xf64>
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[LO]], %[[HI]]
// CHECK: %[[FOLLOW:.*]] = scf.if %[[SOME]] -> (i1)
// CHECK: %[[LENGTH:.*]] = arith.subi %[[HI]], %[[LO]]
// CHECK: %[[HALF:.*]] = arith.divui %[[LENGTH]], %c2
// CHECK: %[[MIDDLE:.*]] = arith.addi %[[LO]], %[[HALF]]
// CHECK: arith.addi %[[MIDDLE]], %c1
// CHECK: %[[APART:.*]] = arith.cmpi ugt, %{{.*}}, %c768
// CHECK: %[[CLOSE:.*]] = arith.xori %[[APART]], %true
// CHECK: %[[SIZE:.*]] = memref.dim %[[B]]
// CHECK: %[[LARGE:.*]] = arith.cmpi ugt, %[[SIZE]], %c262144
// CHECK: arith.andi %[[CLOSE]], %[[LARGE]]
// CHECK: scf.if %[[FOLLOW]]
// CHECK: scf.for
// CHECK-COUNT-8: memref.prefetch %[[B]]
// CHECK-NOT: memref.prefetch
// CHECK: } else {
// CHECK: arith.cmpi ugt
// CHECK: scf.for
// CHECK: arith.addi %{{.*}}, %c15
// CHECK-COUNT-8: memref.prefetch %[[B]]
// CHECK-NOT: memref.prefetch
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: } else {
// CHECK-NOT: memref.prefetch
// CHECK: scf.yield
func.func @spmm_row(%crd: memref<?xi32>, %val: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %base: index, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %row = arith.muli %j, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %bi = arith.addi %row, %k : index
      %bv = memref.load %b[%bi] : memref<?xf64>
      %ci = arith.addi %base, %k : index
      %cv = memref.load %c[%ci] : memref<?xf64>
      %m = arith.mulf %a, %bv : f64
      %s = arith.addf %cv, %m : f64
      memref.store %s, %c[%ci] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Diagonals: vectors of a cache line, with a prefetch distance of 192 elements.
// CHECK-LABEL: func.func @diagonals
// CHECK-SAME: %{{.*}}: memref<?xi64>, %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>
// CHECK: scf.for %{{.*}} iter_args({{.*}}) -> (vector<8xf64>,
// CHECK: vector.load %[[VAL]][%[[AT:.*]]] : memref<?xf64>, vector<8xf64>
// CHECK: %[[LATER:.*]] = arith.addi %[[AT]], %c192
// CHECK: memref.prefetch %[[VAL]][%[[LATER]]]
func.func @diagonals(%off: memref<?xi64>, %val: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %k: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %size = memref.dim %y, %c0 : memref<?xf64>
  scf.for %i = %c0 to %size step %c1 {
    memref.store %zero, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %d = %c0 to %k step %c1 {
    %o64 = memref.load %off[%d] : memref<?xi64>
    %o = arith.index_cast %o64 : i64 to index
    %neg = arith.subi %c0, %o : index
    %lo = arith.maxsi %neg, %c0 : index
    %end = arith.subi %n, %o : index
    %hi = arith.minsi %end, %n : index
    %base = arith.muli %d, %n : index
    scf.for %i = %lo to %hi step %c1 {
      %p = arith.addi %base, %i : index
      %j = arith.addi %o, %i : index
      %a = memref.load %val[%p] : memref<?xf64>
      %xv = memref.load %x[%j] : memref<?xf64>
      %yv = memref.load %y[%i] : memref<?xf64>
      %m = arith.mulf %a, %xv : f64
      %sum = arith.addf %yv, %m : f64
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Four entries of a column for each prefetch, at a distance of 768 entries.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[VALUES:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c4
// CHECK: %[[LATER:.*]] = arith.addi %[[P]], %c768
// CHECK: memref.prefetch %[[CRD]][%[[LATER]]], read
// CHECK: memref.prefetch %[[VALUES]][%[[LATER]]], read
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-4: memref.store %{{.*}}, %[[Y]]
func.func @sums(%crd: memref<?xi32>, %values: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index) {
  %c1 = arith.constant 1 : index
  scf.for %k = %lo to %hi step %c1 {
    %c = memref.load %crd[%k] : memref<?xi32>
    %at = arith.index_castui %c : i32 to index
    %v = memref.load %values[%k] : memref<?xf64>
    %old = memref.load %y[%at] : memref<?xf64>
    %sum = arith.addf %old, %v : f64
    memref.store %sum, %y[%at] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Dot products of a row of D with rows of E that follow each other: what follows the last of them, which is the one that no
// row of A before has selected, and D's row, once. Where E's rows are remote, the row that the entry 29 iterations later selects,
// 15 where rows have 64 elements or more.
// ROWS-LABEL: func.func @sampled_products
// ROWS-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[D:[a-z0-9]*]]: memref<?xf64>, %[[E:[a-z0-9]*]]: memref<?xf64>, %{{[a-z0-9]*}}: memref<?xf64>, %[[ROW:[a-z0-9]*]]: index, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index
// ROWS: %[[REMOTE:.*]] = scf.if
// ROWS: %[[FOLLOW:.*]] = scf.if %[[REMOTE]]
// ROWS: arith.divui
// ROWS: scf.if %[[FOLLOW]]
// ROWS: %[[LAST:.*]] = arith.subi %[[HI]], %c1
// ROWS: %[[WITHIN:.*]] = arith.minsi %[[LAST]]
// ROWS: %[[J:.*]] = memref.load %[[CRD]][%[[WITHIN]]]
// ROWS: scf.for %[[LINE:.*]] = %c0 to %{{.*}} step %c8
// ROWS: %[[ROW_OF:.*]] = arith.addi %{{.*}}, %[[LINE]]
// ROWS: %[[BEHIND:.*]] = arith.addi %[[ROW_OF]], %c384
// ROWS: memref.prefetch %[[E]][%[[BEHIND]]]
// ROWS: %[[SHARED:.*]] = arith.addi %[[ROW]], %[[LINE]]
// ROWS: %[[BEHIND:.*]] = arith.addi %[[SHARED]], %c384
// ROWS: memref.prefetch %[[D]][%[[BEHIND]]]
// ROWS: scf.for
// ROWS: scf.if %[[REMOTE]]
// ROWS: %[[WIDE:.*]] = arith.cmpi sge, %{{.*}}, %c64
// ROWS: %[[DISTANCE:.*]] = arith.select %[[WIDE]], %c15{{.*}}, %c29
// ROWS: arith.addi %{{.*}}, %[[DISTANCE]]
// ROWS: memref.prefetch %[[E]]
// ROWS-NOT: memref.prefetch
// ROWS: return
func.func @sampled_products(%crd: memref<?xi32>, %d: memref<?xf64>, %e: memref<?xf64>, %out: memref<?xf64>, %row: index, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %start = arith.muli %j, %n : index
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
      %di = arith.addi %row, %k : index
      %dv = memref.load %d[%di] : memref<?xf64>
      %ei = arith.addi %start, %k : index
      %ev = memref.load %e[%ei] : memref<?xf64>
      %m = arith.mulf %dv, %ev fastmath<reassoc,contract> : f64
      %t = arith.addf %s, %m fastmath<reassoc,contract> : f64
      scf.yield %t : f64
    } {tulle.loop = #tulle.loop<reduction>}
    memref.store %sum, %out[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// A row that varies in the loop around is not shared by its iterations.
// ROWS-LABEL: func.func @moving_row
// ROWS-SAME: %{{[a-z0-9]*}}: memref<?xi32>, %[[D:[a-z0-9]*]]: memref<?xf64>, %[[E:[a-z0-9]*]]: memref<?xf64>
// ROWS: memref.prefetch %[[E]]
// ROWS-NOT: memref.prefetch %[[D]]
// ROWS: return
func.func @moving_row(%crd: memref<?xi32>, %d: memref<?xf64>, %e: memref<?xf64>, %out: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %start = arith.muli %j, %n : index
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
      %di = arith.addi %p, %k : index
      %dv = memref.load %d[%di] : memref<?xf64>
      %ei = arith.addi %start, %k : index
      %ev = memref.load %e[%ei] : memref<?xf64>
      %m = arith.mulf %dv, %ev fastmath<reassoc,contract> : f64
      %t = arith.addf %s, %m fastmath<reassoc,contract> : f64
      scf.yield %t : f64
    } {tulle.loop = #tulle.loop<reduction>}
    memref.store %sum, %out[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Where the rows' lengths are loaded in the loop, as those of segments are, nothing can be prefetched before it.
// ROWS-LABEL: func.func @products_of_segments
// ROWS: scf.for
// ROWS: memref.prefetch
// ROWS-NOT: memref.prefetch
// ROWS: return
func.func @products_of_segments(%crd: memref<?xi32>, %pos: memref<?xi32>, %e: memref<?xf64>, %out: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %start = arith.muli %j, %n : index
    %length32 = memref.load %pos[%p] : memref<?xi32>
    %length = arith.index_castui %length32 : i32 to index
    %sum = scf.for %k = %c0 to %length step %c1 iter_args(%s = %zero) -> (f64) {
      %ei = arith.addi %start, %k : index
      %ev = memref.load %e[%ei] : memref<?xf64>
      %t = arith.addf %s, %ev fastmath<reassoc,contract> : f64
      scf.yield %t : f64
    } {tulle.loop = #tulle.loop<reduction>}
    memref.store %sum, %out[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Two vectors for each prefetch, with one accumulator, before single vectors.
// ROWS-LABEL: func.func @row
// ROWS-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[VALUES:[a-z0-9]*]]: memref<?xf64>
// ROWS: scf.for %[[P:[a-z0-9]*]] = {{.*}} -> (index, vector<4xf64>)
// ROWS: arith.mulf {{.*}} : vector<4xf64>
// ROWS: memref.prefetch %[[CRD]]
// ROWS: %[[LATER:.*]] = arith.addi %[[P]], %c768{{.*}} : index
// ROWS: memref.prefetch %[[VALUES]][%[[LATER]]]
// ROWS: arith.mulf {{.*}} : vector<4xf64>
// ROWS-NOT: memref.prefetch
// ROWS: scf.yield
// ROWS: scf.for {{.*}} -> (index, vector<4xf64>)
// ROWS: memref.prefetch %[[CRD]]
// ROWS: memref.prefetch %[[VALUES]]
// ROWS: scf.yield
// ROWS: scf.for {{.*}} -> (f64)
func.func @row(%crd: memref<?xi32>, %values: memref<?xf64>, %x: memref<?xf64>, %lo: index, %hi: index) -> f64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %p = %lo to %hi step %c1 iter_args(%s = %zero) -> (f64) {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %v = memref.load %values[%p] : memref<?xf64>
    %xv = memref.load %x[%j] : memref<?xf64>
    %m = arith.mulf %v, %xv fastmath<reassoc,contract> : f64
    %t = arith.addf %s, %m fastmath<reassoc,contract> : f64
    scf.yield %t : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %sum : f64
}

// Rows of 4 x 4 blocks, not interleaved: every block prefetches two cache lines of values 640 elements later, and nothing of x, which
// a coordinate selects.
// BLOCKS-LABEL: func.func @rows_of_blocks
// BLOCKS-SAME: %[[VAL:[a-z0-9]*]]: memref<?xf64>, %{{[a-z0-9]*}}: memref<?xi32>, %[[X:[a-z0-9]*]]: memref<?xf64>
// BLOCKS-NOT: arith.remui
// BLOCKS: scf.for {{.*}} -> (vector<4xf64>, vector<4xf64>, vector<4xf64>, vector<4xf64>)
// BLOCKS: %[[A:.*]] = vector.load %[[VAL]][%[[FIRST:.*]]] : memref<?xf64>, vector<4xf64>
// BLOCKS: vector.load %[[X]]
// BLOCKS: %[[LATER:.*]] = arith.addi %[[FIRST]], %c640{{.*}} : index
// BLOCKS: memref.prefetch %[[VAL]][%[[LATER]]], read, locality<3>
// BLOCKS-NOT: memref.prefetch
// BLOCKS: vector.load %[[VAL]]
// BLOCKS-NOT: memref.prefetch
// BLOCKS: vector.load %[[VAL]][%[[THIRD:.*]]] : memref<?xf64>, vector<4xf64>
// BLOCKS: %[[LATER:.*]] = arith.addi %[[THIRD]], %c640{{.*}} : index
// BLOCKS: memref.prefetch %[[VAL]][%[[LATER]]], read, locality<3>
// BLOCKS-NOT: memref.prefetch
// BLOCKS: return
func.func @rows_of_blocks(%val: memref<?xf64>, %crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %pos: memref<?xi32>, %first: index, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %b = %first to %last step %c1 {
    %lo, %hi = tulle.segment %pos[%b] : memref<?xi32>
    %row = arith.muli %b, %c4 : index
    scf.for %p = %lo to %hi step %c1 {
      %j32 = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %start = arith.muli %p, %c4 : index
      %column = arith.muli %j, %c4 : index
      scf.for %r = %c0 to %c4 step %c1 {
        %pr = arith.addi %start, %r : index
        %i = arith.addi %row, %r : index
        %old = memref.load %y[%i] : memref<?xf64>
        %base = arith.muli %pr, %c4 : index
        %sum = scf.for %c = %c0 to %c4 step %c1 iter_args(%acc = %old) -> (f64) {
          %q = arith.addi %base, %c : index
          %a = memref.load %val[%q] : memref<?xf64>
          %k = arith.addi %column, %c : index
          %xv = memref.load %x[%k] : memref<?xf64>
          %m = arith.mulf %a, %xv fastmath<reassoc,contract> : f64
          %t = arith.addf %acc, %m fastmath<reassoc,contract> : f64
          scf.yield %t : f64
        } {tulle.loop = #tulle.loop<reduction>}
        memref.store %sum, %y[%i] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
}
