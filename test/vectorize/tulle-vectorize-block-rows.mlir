// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize-block-rows))' | FileCheck %s

// A row of 4 x 4 blocks: four vectors are carried over the blocks; the columns of a partial block are masked, others load whole rows. At
// the end pairwise sums of shuffles (2, then 1) give the four results. A partial last row of blocks keeps its loops.
// CHECK-LABEL: func.func @whole_blocks
// CHECK-SAME: %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index
// CHECK: %[[HEIGHT:.*]] = arith.minui
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[HEIGHT]], %{{.*}}
// CHECK: scf.if %[[WHOLE]]
// CHECK: %[[S:.*]]:4 = scf.for %{{.*}} = %[[LO]] to %[[HI]] step %{{.*}} iter_args(%[[A0:[a-z0-9_]*]] = %{{.*}}) -> (vector<4xf64>, vector<4xf64>, vector<4xf64>, vector<4xf64>)
// CHECK: %[[WIDTH:.*]] = arith.minui
// CHECK: %[[FULL:.*]] = arith.cmpi sge, %[[WIDTH]], %{{.*}}
// CHECK: scf.if %[[FULL]]
// CHECK-NOT: masked
// CHECK-COUNT-2: vector.load
// CHECK: else
// CHECK: %[[SOME:.*]] = arith.minsi %[[WIDTH]]
// CHECK: %[[MASK:.*]] = vector.create_mask %[[SOME]] : vector<4xi1>
// CHECK: %[[A:.*]] = vector.maskedload %[[VAL]][%{{.*}}], %[[MASK]]
// CHECK: %[[XV:.*]] = vector.maskedload %[[X]][%{{.*}}], %[[MASK]]
// CHECK: %[[M:.*]] = arith.mulf %[[A]], %[[XV]]
// CHECK: %[[SUM:.*]] = arith.addf %[[A0]], %[[M]]
// CHECK: arith.select %[[MASK]], %[[SUM]], %[[A0]]
// CHECK-NOT: %[[Y]]
// CHECK: scf.yield
// CHECK: vector.shuffle %[[S]]#0, %[[S]]#2 [0, 1, 6, 7]
// CHECK: vector.shuffle %[[S]]#0, %[[S]]#2 [2, 3, 4, 5]
// CHECK: arith.addf
// CHECK: vector.shuffle %[[S]]#1, %[[S]]#3 [0, 1, 6, 7]
// CHECK: vector.shuffle %[[S]]#1, %[[S]]#3 [2, 3, 4, 5]
// CHECK: arith.addf
// CHECK: vector.shuffle
// CHECK: vector.shuffle
// CHECK: arith.addf
// CHECK-COUNT-4: memref.store %{{.*}}, %[[Y]]
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: memref.store %{{.*}}, %[[Y]]
func.func @whole_blocks(%val: memref<?xf64>, %crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index, %b: index, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %row = arith.muli %b, %c4 : index
  %below = arith.subi %m, %row : index
  %height = arith.minui %below, %c4 : index
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %first = arith.muli %p, %c4 : index
    %column = arith.muli %j, %c4 : index
    %right = arith.subi %n, %column : index
    %width = arith.minui %right, %c4 : index
    scf.for %r = %c0 to %height step %c1 {
      %pr = arith.addi %first, %r : index
      %i = arith.addi %row, %r : index
      %old = memref.load %y[%i] : memref<?xf64>
      %base = arith.muli %pr, %c4 : index
      %sum = scf.for %c = %c0 to %width step %c1 iter_args(%acc = %old) -> (f64) {
        %q = arith.addi %base, %c : index
        %a = memref.load %val[%q] : memref<?xf64>
        %k = arith.addi %column, %c : index
        %xv = memref.load %x[%k] : memref<?xf64>
        %prod = arith.mulf %a, %xv fastmath<reassoc> : f64
        %new = arith.addf %acc, %prod fastmath<reassoc> : f64
        scf.yield %new : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Where a loop initializes the rows first, full ones start with its value, and nothing of the result is loaded or stored before
// the end of the loop.
// CHECK-LABEL: func.func @filled
// CHECK-SAME: %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index)
// CHECK: %[[HEIGHT:.*]] = arith.minui
// CHECK: %[[FILLED:.*]] = arith.minui
// CHECK-NOT: memref.store
// CHECK-DAG: %[[WHOLE:.*]] = arith.cmpi eq, %[[HEIGHT]], %{{.*}}
// CHECK-DAG: %[[ALL:.*]] = arith.cmpi eq, %[[FILLED]], %{{.*}}
// CHECK: %[[BOTH:.*]] = arith.andi %[[WHOLE]], %[[ALL]]
// CHECK: scf.if %[[BOTH]]
// CHECK-NOT: %[[Y]]
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK-NOT: memref.load %[[Y]]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[Y]]
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[FILLED]]
// CHECK: memref.store %{{.*}}, %[[Y]]
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: memref.load %[[Y]]
func.func @filled(%val: memref<?xf64>, %crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index, %b: index, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %row = arith.muli %b, %c4 : index
  %below = arith.subi %m, %row : index
  %height = arith.minui %below, %c4 : index
  %zero = arith.constant 0.0 : f64
  %rows = arith.minui %below, %c4 : index
  scf.for %r = %c0 to %rows step %c1 {
    %i = arith.addi %row, %r : index
    memref.store %zero, %y[%i] : memref<?xf64>
  }
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %first = arith.muli %p, %c4 : index
    %column = arith.muli %j, %c4 : index
    %right = arith.subi %n, %column : index
    %width = arith.minui %right, %c4 : index
    scf.for %r = %c0 to %height step %c1 {
      %pr = arith.addi %first, %r : index
      %i = arith.addi %row, %r : index
      %old = memref.load %y[%i] : memref<?xf64>
      %base = arith.muli %pr, %c4 : index
      %sum = scf.for %c = %c0 to %width step %c1 iter_args(%acc = %old) -> (f64) {
        %q = arith.addi %base, %c : index
        %a = memref.load %val[%q] : memref<?xf64>
        %k = arith.addi %column, %c : index
        %xv = memref.load %x[%k] : memref<?xf64>
        %prod = arith.mulf %a, %xv fastmath<reassoc> : f64
        %new = arith.addf %acc, %prod fastmath<reassoc> : f64
        scf.yield %new : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// Sums that must not be reassociated stay as they are.
// CHECK-LABEL: func.func @strict
// CHECK-NOT: vector
// CHECK: return
func.func @strict(%val: memref<?xf64>, %y: memref<?xf64>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %p = %lo to %hi step %c1 {
    %first = arith.muli %p, %c4 : index
    scf.for %r = %c0 to %c4 step %c1 {
      %old = memref.load %y[%r] : memref<?xf64>
      %sum = scf.for %c = %c0 to %c4 step %c1 iter_args(%acc = %old) -> (f64) {
        %q = arith.addi %first, %c : index
        %a = memref.load %val[%q] : memref<?xf64>
        %new = arith.addf %acc, %a : f64
        scf.yield %new : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %sum, %y[%r] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// The row that a block accumulates into depends on the block.
// CHECK-LABEL: func.func @moving_rows
// CHECK-NOT: vector
// CHECK: return
func.func @moving_rows(%val: memref<?xf64>, %crd: memref<?xi32>, %y: memref<?xf64>, %lo: index, %hi: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %p = %lo to %hi step %c1 {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    scf.for %r = %c0 to %c4 step %c1 {
      %i = arith.addi %j, %r : index
      %old = memref.load %y[%i] : memref<?xf64>
      %sum = scf.for %c = %c0 to %c4 step %c1 iter_args(%acc = %old) -> (f64) {
        %a = memref.load %val[%c] : memref<?xf64>
        %new = arith.addf %acc, %a fastmath<reassoc> : f64
        scf.yield %new : f64
      } {tulle.loop = #tulle.loop<reduction>}
      memref.store %sum, %y[%i] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
