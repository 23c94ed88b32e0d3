// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-normalize-loops,canonicalize))' | FileCheck %s

// A loop over the positions of a ragged level that needs their coordinates counts these; positions are computed from them. It ends where
// nothing is below the other operand's length.
// CHECK-LABEL: func.func @ragged
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %{{[a-z0-9]*}}: memref<?xf64>, %{{[a-z0-9]*}}: memref<?xf64>, %[[I:[a-z0-9]*]]: index, %[[LENGTH:[a-z0-9]*]]: index
// CHECK: %[[BEGIN:.*]] = arith.index_castui
// CHECK: %[[END:.*]] = arith.index_castui
// CHECK: %[[COUNT:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: %[[SOME:.*]] = arith.maxsi %[[COUNT]], %c0
// CHECK: %[[CLIPPED:.*]] = arith.minui %[[SOME]], %[[LENGTH]]
// CHECK: scf.for %[[J:.*]] = %c0 to %[[CLIPPED]] step %c1 {
// CHECK-NOT: scf.if
// CHECK: %[[POSITION:.*]] = arith.addi %[[BEGIN]], %[[J]]
// CHECK: memref.load %{{.*}}[%[[POSITION]]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[J]]]
// CHECK: tulle.loop = #tulle.loop<parallel, index = j>
func.func @ragged(%pos: memref<?xi32>, %a: memref<?xf64>, %c: memref<?xf64>, %i: index, %length: index) {
  %c1 = arith.constant 1 : index
  %begin, %end = tulle.segment %pos[%i] : memref<?xi32>
  scf.for %p = %begin to %end step %c1 {
    %j = arith.subi %p, %begin : index
    %below = arith.cmpi ult, %j, %length : index
    scf.if %below {
      %x = memref.load %a[%p] : memref<?xf64>
      memref.store %x, %c[%j] : memref<?xf64>
    }
  } {tulle.loop = #tulle.loop<parallel, index = j>}
  return
}

// Other loops, over the rows of a block, stay.
// CHECK-LABEL: func.func @block
// CHECK-SAME: %{{[a-z0-9]*}}: memref<?xf64>, %[[BEGIN:[a-z0-9]*]]: index
// CHECK: scf.for %{{.*}} = %[[BEGIN]]
func.func @block(%c: memref<?xf64>, %begin: index, %end: index, %x: f64) {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %at = arith.subi %i, %begin : index
    memref.store %x, %c[%at] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// What is done in any case, and what has another branch, stays; so does a bound that the loop changes.
// CHECK-LABEL: func.func @also_outside
// CHECK-NOT: arith.minui
// CHECK: scf.if
func.func @also_outside(%a: memref<?xf64>, %c: memref<?xf64>, %end: index, %length: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %end step %c1 {
    %x = memref.load %a[%j] : memref<?xf64>
    memref.store %x, %c[%j] : memref<?xf64>
    %below = arith.cmpi ult, %j, %length : index
    scf.if %below {
      memref.store %x, %a[%j] : memref<?xf64>
    }
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// CHECK-LABEL: func.func @own_bound
// CHECK-NOT: arith.minui
// CHECK: scf.if
func.func @own_bound(%lengths: memref<?xindex>, %c: memref<?xindex>, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %end step %c1 {
    %double = arith.addi %end, %j : index
    %below = arith.cmpi ult, %j, %double : index
    scf.if %below {
      memref.store %j, %c[%j] : memref<?xindex>
    }
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// How many entries there are follows from the bounds, which may be in any order.
// CHECK-LABEL: func.func @counted
// CHECK-SAME: memref<?xf64>, %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index, %[[BY:[a-z0-9]*]]: index, %[[SOME:[a-z0-9]*]]: index
// CHECK: %[[LENGTH:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[LENGTH]], %{{.*}} : index
// CHECK: %[[MORE:.*]] = arith.muli %[[COUNT]], %[[BY]]
// CHECK: %[[TOTAL:.*]] = arith.addi %[[SOME]], %[[MORE]]
// CHECK: %[[MOST:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f64)
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.maximumf %[[SO_FAR]]
// CHECK-NEXT: scf.yield
// CHECK-NEXT: tulle.loop = #tulle.loop<reduction>
// CHECK: return %[[TOTAL]], %[[MOST]]
func.func @counted(%a: memref<?xf64>, %begin: index, %end: index, %by: index, %some: index) -> (index, f64) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %count, %most = scf.for %p = %begin to %end step %c1 iter_args(%n = %some, %m = %zero) -> (index, f64) {
    %x = memref.load %a[%p] : memref<?xf64>
    %more = arith.maximumf %m, %x : f64
    %next = arith.addi %n, %by : index
    scf.yield %next, %more : index, f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %count, %most : index, f64
}

// Bounds that are compared as unsigned numbers may be apart by more than a signed one holds.
// CHECK-LABEL: func.func @unsigned
// CHECK: scf.for unsigned {{.*}} -> (index)
func.func @unsigned(%begin: index, %end: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = scf.for unsigned %p = %begin to %end step %c1 iter_args(%n = %c0) -> (index) {
    %next = arith.addi %n, %c1 : index
    scf.yield %next : index
  } {tulle.loop = #tulle.loop<reduction>}
  return %count : index
}

// A loop that carries nothing else; one whose body reads the counter, and one that adds another number each time, stay as they are.
// CHECK-LABEL: func.func @only_counts
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT: memref.store
// CHECK-NOT: scf.yield
// CHECK-LABEL: func.func @reads_counter
// CHECK: scf.for {{.*}} -> (index)
// CHECK: scf.for {{.*}} -> (index)
func.func @only_counts(%a: memref<?xf64>, %end: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %count = scf.for %p = %c0 to %end step %c1 iter_args(%n = %c0) -> (index) {
    memref.store %zero, %a[%p] : memref<?xf64>
    %next = arith.addi %n, %c1 : index
    scf.yield %next : index
  } {tulle.loop = #tulle.loop<reduction>}
  return %count : index
}
func.func @reads_counter(%a: memref<?xindex>, %end: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = scf.for %p = %c0 to %end step %c1 iter_args(%n = %c0) -> (index) {
    memref.store %n, %a[%p] : memref<?xindex>
    %next = arith.addi %n, %c1 : index
    scf.yield %next : index
  } {tulle.loop = #tulle.loop<reduction>}
  %sum = scf.for %p = %c0 to %end step %c1 iter_args(%n = %c0) -> (index) {
    %next = arith.addi %n, %p : index
    scf.yield %next : index
  } {tulle.loop = #tulle.loop<reduction>}
  return %count, %sum : index, index
}
