// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles))' | FileCheck %s

// A row of C, updated by every entry of a row of A: tiles of four, two and one vectors of a cache line, of one of half a
// line, then a masked epilogue.
// CHECK-LABEL: func.func @spmm_row
// CHECK-SAME: %[[C:[a-z0-9]*]]: memref<?xf64>, %[[BASE:[a-z0-9]*]]: index, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[T:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}}) -> (index)
// CHECK-COUNT-4: vector.load %[[C]][%{{.*}}] : memref<?xf64>, vector<8xf64>
// CHECK: %[[R:.*]]:4 = scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK-COUNT-4: arith.addf %{{.*}} : vector<8xf64>
// CHECK-NOT: %[[C]]
// CHECK: scf.yield
// CHECK-COUNT-4: vector.store %{{.*}}, %[[C]]
// CHECK: %[[S:.*]] = scf.for %{{.*}} = %[[T]] to
// CHECK-COUNT-2: vector.load %[[C]][%{{.*}}] : memref<?xf64>, vector<8xf64>
// CHECK: %[[S1:.*]] = scf.for %{{.*}} = %[[S]] to
// CHECK: vector.load %[[C]][%{{.*}}] : memref<?xf64>, vector<8xf64>
// CHECK: %[[U:.*]] = scf.for %{{.*}} = %[[S1]] to
// CHECK: vector.load %[[C]][%{{.*}}] : memref<?xf64>, vector<4xf64>
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: scf.for %[[K2:.*]] = %[[U]] to %[[N]] step %{{.*}} {
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[K2]]
// CHECK: %[[SOME:.*]] = arith.minsi %[[LEFT]], %{{.*}}
// CHECK: %[[MASK:.*]] = vector.create_mask %[[SOME]] : vector<4xi1>
// CHECK: %[[OLD:.*]] = vector.maskedload %[[C]][%[[AT:.*]]], %[[MASK]]
// CHECK: %[[NEW:.*]] = scf.for %{{.*}} = %[[LO]] to %[[HI]] step %{{.*}} iter_args(%{{.*}} = %[[OLD]])
// CHECK: vector.maskedload %{{.*}}, %[[MASK]]
// CHECK: vector.maskedstore %[[C]][%[[AT]]], %[[MASK]], %[[NEW]]
// CHECK-NOT: memref.store
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

// Every iteration stores another row: no reduction.
// CHECK-LABEL: func.func @scatter_rows
// CHECK-NOT: vector.
// CHECK: return
func.func @scatter_rows(%crd: memref<?xi32>, %b: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %row = arith.muli %j, %n : index
    scf.for %k = %c0 to %n step %c1 {
      %bv = memref.load %b[%k] : memref<?xf64>
      %ci = arith.addi %row, %k : index
      %cv = memref.load %c[%ci] : memref<?xf64>
      %s = arith.addf %cv, %bv : f64
      memref.store %s, %c[%ci] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// The entry's factor is loaded from C itself: it may be an element of the tile.
// CHECK-LABEL: func.func @reads_its_result
// CHECK-NOT: vector.
// CHECK: return
func.func @reads_its_result(%c: memref<?xf64>, %base: index, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %a = memref.load %c[%p] : memref<?xf64>
    scf.for %k = %c0 to %n step %c1 {
      %ci = arith.addi %base, %k : index
      %cv = memref.load %c[%ci] : memref<?xf64>
      %s = arith.addf %cv, %a : f64
      memref.store %s, %c[%ci] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Rows padded to one length, a column at a time (ELL): padding becomes masks, and where rows are
// many, six columns are jammed. Nothing is loaded for padding: an x without elements gets the loop as it was.
// Where eight samples, of the first column and the middle one alternately, are local, gathers are scalarized.
// CHECK-LABEL: func.func @padded
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[K:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK: arith.cmpi sgt, %[[SIZE]]
// CHECK: scf.if
// CHECK: %[[NEAR:.*]] = scf.if %{{.*}} -> (i1)
// CHECK: %[[MIDDLE:.*]] = arith.divui %{{.*}}, %c2
// CHECK: %[[STRIDE:.*]] = arith.divui %{{.*}}, %c9
// CHECK: scf.for %[[SAMPLE:.*]] = %c1{{.*}} to %c9{{.*}} step %c1{{.*}} iter_args(%[[SOFAR:.*]] = %true)
// CHECK: %[[TURN:.*]] = arith.andi %[[SAMPLE]], %c1
// CHECK: arith.muli %[[TURN]], %[[MIDDLE]]
// CHECK: arith.muli %[[SAMPLE]], %[[STRIDE]]
// CHECK: %[[HERE:.*]] = arith.cmpi ult, %{{.*}}, %c16384
// CHECK: arith.andi %[[SOFAR]], %[[HERE]]
// CHECK: scf.if %[[NEAR]]
// CHECK: %[[LONG:.*]] = arith.cmpi sgt, %{{.*}}, %{{.*}} : index
// CHECK: %[[STEP:.*]] = arith.select %[[LONG]], %c6
// CHECK: scf.for %[[K0:.*]] = %{{.*}} to %[[K]] step %[[STEP]]
// CHECK: %[[K1:.*]] = arith.addi %[[K0]]
// CHECK-COUNT-4: vector.maskedload %[[Y]]
// CHECK: %[[R:.*]]:4 = scf.for %{{.*}} = %[[K0]] to %[[K1]] step %{{.*}} iter_args(%[[ACC:[a-z0-9_]*]] = {{.*}}) -> (vector<4xf64>, vector<4xf64>, vector<4xf64>, vector<4xf64>)
// CHECK: %[[J:.*]] = vector.load %[[CRD]]
// CHECK: %[[FULL:.*]] = arith.cmpi ne
// CHECK: vector.maskedload %[[VAL]][%{{.*}}], %[[FULL]]
// CHECK: %[[SAFE:.*]] = arith.select %[[FULL]], %[[J]]
// CHECK: vector.extract %[[SAFE]][0]
// CHECK: %[[X0:.*]] = memref.load %[[X]]
// CHECK: vector.extract %[[SAFE]][3]
// CHECK: %[[X3:.*]] = memref.load %[[X]]
// CHECK: %[[XV:.*]] = vector.from_elements %[[X0]], {{.*}}, %[[X3]]
// CHECK: %[[SUM:.*]] = arith.addf %[[ACC]]
// CHECK: arith.select %[[FULL]], %[[SUM]], %[[ACC]]
// CHECK-COUNT-4: vector.maskedstore %[[Y]]
// CHECK: else
// CHECK: scf.for
// CHECK-COUNT-4: vector.gather %[[X]]
// CHECK-COUNT-4: vector.maskedstore %[[Y]]
// CHECK: else
// CHECK: memref.store %{{.*}}, %[[Y]]
// CHECK: } {tulle.loop = #tulle.loop<parallel, rare>}
func.func @padded(%crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %k: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = arith.constant 4294967295 : index
  scf.for %s = %c0 to %k step %c1 {
    %base = arith.muli %s, %n : index
    scf.for %i = %c0 to %n step %c1 {
      %p = arith.addi %base, %i : index
      %j32 = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %entry = arith.cmpi ne, %j, %empty : index
      scf.if %entry {
        %a = memref.load %val[%p] : memref<?xf64>
        %xv = memref.load %x[%j] : memref<?xf64>
        %yv = memref.load %y[%i] : memref<?xf64>
        %m = arith.mulf %a, %xv : f64
        %sum = arith.addf %yv, %m : f64
        memref.store %sum, %y[%i] : memref<?xf64>
      }
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Slices of eight rows in the order of a permutation (SELL): the permutation and the rows it selects are loaded once, where
// they are in bounds, and the rows are scattered back.
// CHECK-LABEL: func.func @sliced
// CHECK-SAME: %[[PERM:[a-z0-9]*]]: memref<?xi64>, %{{.*}}: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %{{.*}}: index, %{{.*}}: index, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index)
// CHECK: scf.if
// CHECK: vector.maskedload %[[PERM]]
// CHECK: vector.maskedload %[[PERM]]
// CHECK-COUNT-8: memref.load %[[Y]]
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK-NOT: %[[Y]]
// CHECK-NOT: %[[PERM]]
// CHECK: scf.yield
// CHECK: %[[ALL:.*]] = vector.reduction <and>
// CHECK: scf.if %[[ALL]]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[Y]]
// CHECK: else
// CHECK: vector.scatter %[[Y]]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[Y]]
// CHECK: vector.scatter %[[Y]]
// CHECK: else
func.func @sliced(%perm: memref<?xi64>, %val: memref<?xf64>, %y: memref<?xf64>, %row: index, %n: index, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %s = %lo to %hi step %c1 {
    %base = arith.muli %s, %c8 : index
    scf.for %r = %c0 to %c8 step %c1 {
      %i = arith.addi %row, %r : index
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %p = arith.addi %base, %r : index
        %t64 = memref.load %perm[%i] : memref<?xi64>
        %t = arith.index_castui %t64 : i64 to index
        %a = memref.load %val[%p] : memref<?xf64>
        %yv = memref.load %y[%t] : memref<?xf64>
        %sum = arith.addf %yv, %a : f64
        memref.store %sum, %y[%t] : memref<?xf64>
      }
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Diagonals: iv-dependent bounds. Tiles cover the rows that six diagonals have in common; peeled loops cover the ends.
// Where there is a diagonal, the loop that sets y to zero does not run: in the first iterations tiles start from zero, and
// the elements around them are initialized then. Nothing is prefetched, since diagonals are loaded in order.
// CHECK-LABEL: func.func @diagonals
// CHECK-SAME: %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[K:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index)
// CHECK: %[[SIZE:.*]] = memref.dim %[[Y]]
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %{{.*}}, %[[K]] : index
// CHECK: %[[LOOPS:.*]] = arith.select %[[SOME]], %{{.*}}, %[[SIZE]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[LOOPS]]
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[COUNT:.*]], %c0
// CHECK: %[[LONG:.*]] = scf.if %[[ANY]] -> (i1) {
// CHECK: arith.divui %[[COUNT]], %c2
// CHECK: arith.cmpi sgt, %{{.*}}, %c4096
// CHECK: %[[STEP:.*]] = arith.select %[[LONG]], %c6
// CHECK: scf.for %[[D0:.*]] = %{{.*}} to %{{.*}} step %[[STEP]]
// CHECK: %[[BEGINS:.*]] = arith.cmpi eq, %[[D0]]
// CHECK: %[[FILLS:.*]] = arith.andi %[[SOME]], %[[BEGINS]]
// CHECK: %[[COMMON:.*]]:2 = scf.for
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[T8:.*]] = scf.for %{{.*}} = %[[COMMON]]#0
// CHECK: scf.if %[[FILLS]] -> (vector<4xf64>
// CHECK-NEXT: scf.yield
// CHECK: else
// CHECK: vector.load %[[Y]]
// CHECK-NOT: memref.prefetch
// CHECK: %[[T2:.*]] = scf.for %{{.*}} = %[[T8]]
// CHECK: %[[BEFORE:.*]] = arith.minsi %[[COMMON]]#0, %[[SIZE]]
// CHECK: %[[TO:.*]] = arith.select %[[FILLS]], %[[BEFORE]], %[[ZERO:.*]] : index
// CHECK: scf.for %[[I:.*]] = %[[ZERO]] to %[[TO]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[I]]]
// CHECK: %[[TO2:.*]] = arith.select %[[FILLS]], %[[SIZE]], %[[T2]] : index
// CHECK: scf.for %[[I2:.*]] = %[[T2]] to %[[TO2]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[I2]]]
// CHECK: arith.minsi %{{.*}}, %[[COMMON]]#0
// CHECK: memref.store
// CHECK: arith.maxsi %{{.*}}, %[[T2]]
// CHECK: memref.store
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

// A row of C, initialized with zero before: where the nest covers the row, the loop that initializes it does not run, and tiles start from
// zero without loads. Where C is large and a tile begins a cache line, its stores are non-temporal, and a fence follows the
// outermost loop. Where the rows of B that a row of A selects are remote, they are prefetched six entries before their use.
// CHECK-LABEL: func.func @fills
// CHECK-SAME: %{{.*}}: memref<?xi32>, %[[CRD:[a-z0-9]*]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index, %[[CN:[a-z0-9]*]]: index)
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[M]]
// CHECK: %[[COVERS:.*]] = arith.cmpi eq, %[[N]], %[[CN]]
// CHECK: %[[END:.*]] = arith.select %[[COVERS]], %c0{{.*}}, %[[CN]]
// CHECK: %[[SIZE:.*]] = memref.dim %[[C]]
// CHECK: %[[BIG:.*]] = arith.cmpi ugt, %[[SIZE]], %c4194304
// CHECK: %[[LARGE:.*]] = arith.andi %[[COVERS]], %[[BIG]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK-NEXT: arith.addi
// CHECK-NEXT: memref.store
// CHECK: scf.if %[[COVERS]] -> (vector<8xf64>
// CHECK-NEXT: scf.yield
// CHECK: else
// CHECK-COUNT-4: vector.load %[[C]]
// CHECK: %[[FAR:.*]] = scf.if %{{.*}} -> (i1)
// CHECK: memref.load %[[CRD]]
// CHECK: memref.load %[[CRD]]
// CHECK: arith.cmpi ugt
// CHECK: scf.if %[[FAR]] -> (vector<8xf64>
// CHECK: scf.for %[[P:.*]] = %{{.*}} iter_args
// CHECK: %[[LATER:.*]] = arith.addi %[[P]], %c6
// CHECK: %[[COUNT:.*]] = memref.dim %[[CRD]]
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]]
// CHECK: %[[INSIDE:.*]] = arith.minsi %[[LATER]], %[[LAST]]
// CHECK: memref.load %[[CRD]][%[[INSIDE]]]
// CHECK-COUNT-4: memref.prefetch %[[B]]
// CHECK-NOT: memref.prefetch
// CHECK: arith.addf %{{.*}} : vector<8xf64>
// CHECK: else
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: arith.addf %{{.*}} : vector<8xf64>
// CHECK: %[[START:.*]] = memref.extract_aligned_pointer_as_index %[[C]]
// CHECK: %[[WITHIN:.*]] = arith.andi %{{.*}}, %c63
// CHECK: %[[STARTS:.*]] = arith.cmpi eq, %[[WITHIN]], %c0
// CHECK: %[[STREAM:.*]] = arith.andi %[[STARTS]], %[[LARGE]]
// CHECK: scf.if %[[STREAM]]
// CHECK-COUNT-4: vector.store %{{.*}}, %[[C]][%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK: else
// CHECK-COUNT-4: vector.store %{{.*}}, %[[C]][%{{[a-z0-9_]*}}] : memref
// CHECK: llvm.fence seq_cst
// CHECK-NEXT: return
func.func @fills(%pos: memref<?xi32>, %crd: memref<?xi32>, %val: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>, %m: index, %n: index, %cn: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %m step %c1 {
    %base = arith.muli %i, %cn : index
    scf.for %k = %c0 to %cn step %c1 {
      %ci = arith.addi %base, %k : index
      memref.store %zero, %c[%ci] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    %lo, %hi = tulle.segment %pos[%i] : memref<?xi32>
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
        %prod = arith.mulf %a, %bv : f64
        %s = arith.addf %cv, %prod : f64
        memref.store %s, %c[%ci] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// Elements that no iteration of the outer loop updates must be initialized by the loop before.
// CHECK-LABEL: func.func @leaves_out
// CHECK-SAME: %{{.*}}: memref<?xf64>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %[[N:[a-z0-9]*]]: index, %{{.*}}: index)
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK-NEXT: memref.store
// CHECK: vector.maskedload
func.func @leaves_out(%val: memref<?xf64>, %c: memref<?xf64>, %hi: index, %n: index, %some: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %k = %c0 to %n step %c1 {
    memref.store %zero, %c[%k] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %p = %c0 to %hi step %c1 {
    %a = memref.load %val[%p] : memref<?xf64>
    scf.for %k = %c0 to %n step %c1 {
      %in = arith.cmpi ult, %k, %some : index
      scf.if %in {
        %cv = memref.load %c[%k] : memref<?xf64>
        %s = arith.addf %cv, %a : f64
        memref.store %s, %c[%k] : memref<?xf64>
      }
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Two loops around the updates of one row (MTTKRP): the row stays in registers over both.
// CHECK-LABEL: func.func @two_loops
// CHECK-SAME: %{{.*}}: memref<?xi64>, %{{.*}}: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>
// CHECK-COUNT-4: vector.load %[[C]]
// CHECK: %[[R:.*]]:4 = scf.for
// CHECK: %[[Q:.*]]:4 = scf.for
// CHECK-NOT: %[[C]]{{\[}}
// CHECK: scf.yield
// CHECK: scf.yield %[[Q]]#0
// CHECK: vector.store %[[R]]#0, %[[C]]
func.func @two_loops(%pos: memref<?xi64>, %val: memref<?xf64>, %c: memref<?xf64>, %lo: index, %hi: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %lo to %hi step %c1 {
    %b64 = memref.load %pos[%p] : memref<?xi64>
    %begin = arith.index_castui %b64 : i64 to index
    scf.for %q = %begin to %hi step %c1 {
      %a = memref.load %val[%q] : memref<?xf64>
      scf.for %k = %c0 to %n step %c1 {
        %cv = memref.load %c[%k] : memref<?xf64>
        %s = arith.addf %cv, %a : f64
        memref.store %s, %c[%k] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Columns of CSC: segments that follow each other have no rows in common, so that every tile would be empty.
// CHECK-LABEL: func.func @segments
// CHECK-NOT: vector.
// CHECK: return
func.func @segments(%pos: memref<?xi32>, %crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %n step %c1 {
    %lo, %hi = tulle.segment %pos[%j] : memref<?xi32>
    %xv = memref.load %x[%j] : memref<?xf64>
    scf.for %p = %lo to %hi step %c1 {
      %i32 = memref.load %crd[%p] : memref<?xi32>
      %i = arith.index_castui %i32 : i32 to index
      %a = memref.load %val[%p] : memref<?xf64>
      %yv = memref.load %y[%i] : memref<?xf64>
      %m = arith.mulf %a, %xv : f64
      %sum = arith.addf %yv, %m : f64
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// A row of a new tensor whose address is loaded: where the loop around has no iteration there may be none, and nothing is accessed.
// CHECK-LABEL: func.func @looked_up
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[I:[a-z0-9]*]]: index, %[[LO2:[a-z0-9]*]]: index, %[[HI2:[a-z0-9]*]]: index,
// CHECK: %[[MADE:.*]] = memref.alloc
// CHECK: %[[STEP:.*]] = arith.cmpi slt, %[[LO2]], %[[HI2]]
// CHECK: scf.if %[[STEP]] {
// CHECK: vector.load %[[MADE]]
// CHECK: vector.store %{{.*}}, %[[MADE]]
func.func @looked_up(%pos: memref<?xi32>, %i: index, %lo: index, %hi: index, %n: index, %size: index, %a: memref<?xf64>) -> memref<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %made = memref.alloc(%size) : memref<?xf64>
  %at = memref.load %pos[%i] : memref<?xi32>
  %first = arith.index_castui %at : i32 to index
  scf.for %p = %lo to %hi step %c1 {
    %v = memref.load %a[%p] : memref<?xf64>
    scf.for %k = %c0 to %n step %c1 {
      %place = arith.addi %first, %k : index
      %old = memref.load %made[%place] : memref<?xf64>
      %new = arith.addf %old, %v : f64
      memref.store %new, %made[%place] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return %made : memref<?xf64>
}
