// Tensors are values until stores go to memory: old values that are needed later are copied before they are replaced.
// RUN: tulle-opt %s --tulle-insert-copies --split-input-file | FileCheck %s
// RUN: tulle-opt %s --tulle-insert-copies --tulle-lower --split-input-file | FileCheck %s --check-prefix=LOWER

#D1 = #tulle.encoding<{ map = (i) -> (i : dense) }>

// A load of the old tensor behind the store.
// CHECK-LABEL: func @late
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>, %[[V:.*]]: f64
// CHECK: %[[N:.*]] = tulle.stored_count %[[Y]]
// CHECK: %[[FROM:.*]] = tulle.values %[[Y]]
// CHECK: %[[TO:.*]] = memref.alloc(%[[N]])
// CHECK: scf.for %[[K:.*]] =
// CHECK: %[[X:.*]] = memref.load %[[FROM]][%[[K]]]
// CHECK: memref.store %[[X]], %[[TO]][%[[K]]]
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]], %[[TO]]
// CHECK: %[[NEW:.*]] = tulle.store %[[V]], %[[Y]]
// CHECK: %[[OLD:.*]] = tulle.load %[[COPY]]
// CHECK: memref.dealloc %[[TO]]
// CHECK: return %[[NEW]], %[[OLD]]
// LOWER-LABEL: func @late
// LOWER-SAME: (%[[Y:.*]]: memref<?xf64>,
// LOWER: %[[TO:.*]] = memref.alloc
// LOWER: memref.store %{{.*}}, %[[Y]]
// LOWER: %[[OLD:.*]] = memref.load %[[TO]]
// LOWER: return %[[OLD]]
func.func @late(%y: tensor<?xf64>, %v: f64, %i: index) -> (tensor<?xf64>, f64) {
  %at = tulle.locate %y level(0) at %i : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %n = tulle.store %v, %y[%at : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
  %old = tulle.load %y[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
  return %n, %old : tensor<?xf64>, f64
}

// In order there is nothing to do, through branches and loops.
// CHECK-LABEL: func @in_order
// CHECK-NOT: memref.alloc
func.func @in_order(%y: tensor<?xf64>, %v: f64, %i: index, %c: i1) -> tensor<?xf64> {
  %at = tulle.locate %y level(0) at %i : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %old = tulle.load %y[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
  %f = tulle.fill %old, %y : f64, tensor<?xf64>
  %s = tulle.space %y level(0) : tensor<?xf64> -> !tulle.space<#D1, 0>
  %r = tulle.iterate %k, %it in %s : !tulle.space<#D1, 0> iter_args(%a = %f) -> (tensor<?xf64>) {
    %x = tulle.load %a[%it : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %m = scf.if %c -> tensor<?xf64> {
      %w = arith.addf %x, %v : f64
      %b = tulle.store %w, %a[%it : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
      scf.yield %b : tensor<?xf64>
    } else {
      scf.yield %a : tensor<?xf64>
    }
    tulle.yield %m : tensor<?xf64>
  }
  %z = tulle.store %v, %r[%at : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
  return %z : tensor<?xf64>
}

// A loop that reads what it does not carry: one copy before it, for both reads.
// CHECK-LABEL: func @shift
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>)
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]]
// CHECK-NOT: memref.alloc
// CHECK: tulle.iterate {{.*}} iter_args(%{{.*}} = %[[Y]])
// CHECK: tulle.load %[[COPY]]
// CHECK: tulle.load %[[COPY]]
func.func @shift(%y: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %first = tulle.locate %y level(0) at %c0 : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %s = tulle.space %y level(0) : tensor<?xf64> -> !tulle.space<#D1, 0>
  %r = tulle.iterate %k, %it in %s : !tulle.space<#D1, 0> iter_args(%a = %y) -> (tensor<?xf64>) {
    %x = tulle.load %y[%it : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %f = tulle.load %y[%first : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %w = arith.addf %x, %f : f64
    %b = tulle.store %w, %a[%it : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
    tulle.yield %b : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// A while loop carries tensors through its check and its body: what they carry may be read and replaced in order.
// CHECK-LABEL: func @carried
// CHECK-NOT: memref.alloc
// LOWER-LABEL: func @carried
// LOWER: scf.while (%{{.*}} = %{{.*}}) : (index) -> index
func.func @carried(%y: tensor<?xf64>, %x: tensor<?xf64>, %v: f64, %n: index) -> (tensor<?xf64>, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %at = tulle.locate %y level(0) at %c0 : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %r:3 = scf.while (%k = %c0, %a = %y, %b = %x) : (index, tensor<?xf64>, tensor<?xf64>) -> (index, tensor<?xf64>, tensor<?xf64>) {
    %old = tulle.load %a[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %same = tulle.load %b[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %small = arith.cmpf olt, %old, %same : f64
    %inside = arith.cmpi ult, %k, %n : index
    %more = arith.andi %small, %inside : i1
    scf.condition(%more) %k, %a, %b : index, tensor<?xf64>, tensor<?xf64>
  } do {
  ^bb0(%k: index, %a: tensor<?xf64>, %b: tensor<?xf64>):
    %old = tulle.load %a[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %w = arith.addf %old, %v : f64
    %new = tulle.store %w, %a[%at : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
    %next = arith.addi %k, %c1 : index
    scf.yield %next, %new, %b : index, tensor<?xf64>, tensor<?xf64>
  }
  // What passes unchanged is the argument, which nothing replaced.
  %same = tulle.load %x[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
  return %r#1, %same : tensor<?xf64>, f64
}

// What the loop does not carry is read after iterations before this one replaced it: by the body, or by the check.
// CHECK-LABEL: func @while_shift
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]]
// CHECK-NOT: memref.alloc
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[Y]])
// CHECK: tulle.load %[[COPY]]
// CHECK: scf.condition
// CHECK: tulle.load %[[COPY]]
func.func @while_shift(%y: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %first = tulle.locate %y level(0) at %c0 : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %r:2 = scf.while (%k = %c0, %a = %y) : (index, tensor<?xf64>) -> (index, tensor<?xf64>) {
    %f = tulle.load %y[%first : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %some = arith.cmpf une, %f, %zero : f64
    %inside = arith.cmpi ult, %k, %n : index
    %more = arith.andi %some, %inside : i1
    scf.condition(%more) %k, %a : index, tensor<?xf64>
  } do {
  ^bb0(%k: index, %a: tensor<?xf64>):
    %f = tulle.load %y[%first : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %it = tulle.locate %a level(0) at %k : tensor<?xf64> -> !tulle.iterator<#D1, 0>
    %new = tulle.store %f, %a[%it : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
    %next = arith.addi %k, %c1 : index
    scf.yield %next, %new : index, tensor<?xf64>
  }
  return %r#1 : tensor<?xf64>
}

// Two stores to one value: the one whose result does not leave the function gets the copy, though it comes first.
// CHECK-LABEL: func @aside
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>, %[[V:.*]]: f64
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]]
// CHECK: %[[A:.*]] = tulle.store %[[V]], %[[COPY]]
// CHECK: %[[X:.*]] = tulle.load %[[A]]
// CHECK: %[[R:.*]] = tulle.store %[[X]], %[[Y]]
// CHECK: return %[[R]]
func.func @aside(%y: tensor<?xf64>, %v: f64, %i: index, %j: index) -> tensor<?xf64> {
  %p = tulle.locate %y level(0) at %i : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %q = tulle.locate %y level(0) at %j : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %a = tulle.store %v, %y[%p : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
  %x = tulle.load %a[%q : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
  %r = tulle.store %x, %y[%p : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
  return %r : tensor<?xf64>
}

// What each iteration makes aside starts from the same values in the next one: a copy in each.
// CHECK-LABEL: func @each_round
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>, %[[Z:.*]]: tensor<?xf64>
// CHECK: tulle.iterate
// CHECK: %[[TO:.*]] = memref.alloc
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]], %[[TO]]
// CHECK: tulle.store %{{.*}}, %[[COPY]]
// CHECK: memref.dealloc %[[TO]]
// CHECK: tulle.yield
func.func @each_round(%y: tensor<?xf64>, %z: tensor<?xf64>, %v: f64, %i: index) -> tensor<?xf64> {
  %p = tulle.locate %y level(0) at %i : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %s = tulle.space %z level(0) : tensor<?xf64> -> !tulle.space<#D1, 0>
  %r = tulle.iterate %k, %it in %s : !tulle.space<#D1, 0> iter_args(%a = %z) -> (tensor<?xf64>) {
    %old = tulle.load %y[%p : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %w = arith.addf %old, %v : f64
    %b = tulle.store %w, %y[%p : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
    %x = tulle.load %b[%p : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %n = tulle.store %x, %a[%it : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
    tulle.yield %n : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// A store in one branch, a load of the old value behind: in some executions it is not there any more.
// CHECK-LABEL: func @branch
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]]
// CHECK: scf.if
// CHECK: tulle.store %{{.*}}, %[[Y]]
// CHECK: tulle.load %[[COPY]]
func.func @branch(%y: tensor<?xf64>, %v: f64, %i: index, %c: i1) -> (tensor<?xf64>, f64) {
  %at = tulle.locate %y level(0) at %i : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %r = scf.if %c -> tensor<?xf64> {
    %n = tulle.store %v, %y[%at : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
    scf.yield %n : tensor<?xf64>
  } else {
    scf.yield %y : tensor<?xf64>
  }
  %old = tulle.load %y[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
  return %r, %old : tensor<?xf64>, f64
}

// Parts of a parallel region read what all of them replace.
// CHECK-LABEL: func @parts
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]]
// CHECK: tulle.parallel
// CHECK: tulle.load %[[COPY]]
func.func @parts(%y: tensor<?xf64>, %tasks: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %first = tulle.locate %y level(0) at %c0 : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %r = tulle.parallel %task of %tasks iter_args(%a = %y) -> (tensor<?xf64>) {
    %x = tulle.load %y[%first : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
    %at = tulle.locate %a level(0) at %task : tensor<?xf64> -> !tulle.iterator<#D1, 0>
    %n = tulle.store %x, %a[%at : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
    tulle.yield %n : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// The buffer of an old value: a store that only SSA orders is not seen by memory effects.
// CHECK-LABEL: func @memory
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]]
// CHECK: %[[M:.*]] = tulle.values %[[COPY]]
// CHECK: tulle.store %{{.*}}, %[[Y]]
// CHECK: memref.load %[[M]]
func.func @memory(%y: tensor<?xf64>, %v: f64, %i: index) -> (tensor<?xf64>, f64) {
  %at = tulle.locate %y level(0) at %i : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %m = tulle.values %y : tensor<?xf64> -> memref<?xf64>
  %n = tulle.store %v, %y[%at : !tulle.iterator<#D1, 0>] : f64, tensor<?xf64>
  %old = memref.load %m[%i] : memref<?xf64>
  return %n, %old : tensor<?xf64>, f64
}

// What is written through the buffer is another value; the tensor that has it is bound behind.
// CHECK-LABEL: func @through
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf64>
// CHECK: %[[COPY:.*]] = tulle.with_values %[[Y]], %{{.*}}
// CHECK: memref.store
// CHECK: %[[N:.*]] = tulle.with_values %[[Y]]
// CHECK-DAG: tulle.load %[[COPY]]
// CHECK-DAG: tulle.load %[[N]]
// LOWER-LABEL: func @through
func.func @through(%y: tensor<?xf64>, %v: f64, %i: index) -> (tensor<?xf64>, f64, f64) {
  %at = tulle.locate %y level(0) at %i : tensor<?xf64> -> !tulle.iterator<#D1, 0>
  %m = tulle.values %y : tensor<?xf64> -> memref<?xf64>
  memref.store %v, %m[%i] : memref<?xf64>
  %n = tulle.with_values %y, %m : tensor<?xf64>, memref<?xf64> -> tensor<?xf64>
  %old = tulle.load %y[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
  %new = tulle.load %n[%at : !tulle.iterator<#D1, 0>] : tensor<?xf64> -> f64
  return %n, %old, %new : tensor<?xf64>, f64, f64
}
