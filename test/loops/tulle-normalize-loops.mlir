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

// Where the condition does not hold, each iteration carries on what it was given, or writes back what it read: there are none then.
// CHECK-LABEL: func.func @only_if
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<?xf64>, %[[C:[a-z0-9]*]]: memref<?xf64>, %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index, %[[IF:[a-z0-9]*]]: i1
// CHECK: %[[REACHED:.*]] = arith.select %[[IF]], %[[END]], %[[BEGIN]] : index
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[REACHED]] step %{{.*}} iter_args
// CHECK-NOT: arith.select
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NEXT: scf.yield %[[SUM]]
// CHECK: %[[REACHED:.*]] = arith.select %[[IF]], %[[END]], %[[BEGIN]] : index
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[REACHED]] step
// CHECK-NOT: arith.select
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NEXT: memref.store %[[SUM]]
func.func @only_if(%a: memref<?xf64>, %c: memref<?xf64>, %begin: index, %end: index, %if: i1) -> f64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
    %x = memref.load %a[%p] : memref<?xf64>
    %more = arith.addf %s, %x : f64
    %next = arith.select %if, %more, %s : f64
    scf.yield %next : f64
  } {tulle.loop = #tulle.loop<reduction>}
  scf.for %p = %begin to %end step %c1 {
    %old = memref.load %c[%p] : memref<?xf64>
    %more = arith.addf %old, %sum : f64
    %next = arith.select %if, %more, %old : f64
    memref.store %next, %c[%p] : memref<?xf64>
    memref.store %next, %c[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return %sum : f64
}

// Of a nest that knows the condition, the outermost loop; the loop around that is where it is computed.
// CHECK-LABEL: func.func @nest_only_if
// CHECK-SAME: %{{.*}}: memref<?xf64>, %{{.*}}: memref<?xf64>, %{{.*}}: memref<?xi1>, %[[ROWS:[a-z0-9]*]]: index, %[[DEPTH:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK: %[[IF:.*]] = memref.load
// CHECK: %[[REACHED:.*]] = arith.select %[[IF]], %[[DEPTH]], %c0 : index
// CHECK: scf.for %{{.*}} = %c0 to %[[REACHED]]
// CHECK: scf.for %{{.*}} = %c0 to %[[N]]
func.func @nest_only_if(%a: memref<?xf64>, %c: memref<?xf64>, %ifs: memref<?xi1>, %rows: index, %depth: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %if = memref.load %ifs[%i] : memref<?xi1>
    scf.for %p = %c0 to %depth step %c1 {
      %x = memref.load %a[%p] : memref<?xf64>
      scf.for %k = %c0 to %n step %c1 {
        %old = memref.load %c[%k] : memref<?xf64>
        %more = arith.addf %old, %x : f64
        %next = arith.select %if, %more, %old : f64
        memref.store %next, %c[%k] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// What changes something in any case runs: another element's value, another condition, one that each iteration has itself.
// CHECK-LABEL: func.func @in_any_case
// CHECK-COUNT-3: scf.for %{{.*}} = %c0 to %arg2 step
func.func @in_any_case(%a: memref<?xf64>, %c: memref<?xf64>, %end: index, %if: i1, %other: i1) -> (f64, f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %p = %c0 to %end step %c1 {
    %old = memref.load %a[%p] : memref<?xf64>
    %next = arith.select %if, %zero, %old : f64
    memref.store %next, %c[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  %two:2 = scf.for %p = %c0 to %end step %c1 iter_args(%s = %zero, %t = %zero) -> (f64, f64) {
    %x = memref.load %a[%p] : memref<?xf64>
    %s1 = arith.addf %s, %x : f64
    %s2 = arith.select %if, %s1, %s : f64
    %t1 = arith.mulf %t, %x : f64
    %t2 = arith.select %other, %t1, %t : f64
    scf.yield %s2, %t2 : f64, f64
  } {tulle.loop = #tulle.loop<reduction>}
  %own = scf.for %p = %c0 to %end step %c1 iter_args(%s = %zero) -> (f64) {
    %x = memref.load %a[%p] : memref<?xf64>
    %some = arith.cmpf ogt, %x, %zero : f64
    %s1 = arith.addf %s, %x : f64
    %s2 = arith.select %some, %s1, %s : f64
    scf.yield %s2 : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %two#0, %two#1, %own : f64, f64, f64
}
