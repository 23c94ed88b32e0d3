// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s

#dense = #tulle.encoding<{ map = (i) -> (i : dense) }>
!at = !tulle.iterator<#dense, 0>

// What an iteration stores, it reads: one loop, and the value stays in a register.
// CHECK-LABEL: func.func @own_coordinate
// CHECK-SAME: (%[[A:.*]]: tensor<?xf64>, %[[T:.*]]: tensor<?xf64>, %[[Y:.*]]: tensor<?xf64>)
// CHECK: %[[R:.*]]:2 = tulle.iterate %[[I:[^ ]*]] in %{{.*}} iter_args(%[[ACCT:.*]] = %[[T]], %[[ACCY:.*]] = %[[Y]])
// CHECK: %[[X:.*]] = tulle.load %[[A]]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[NEXTT:.*]] = tulle.store %[[SQUARE]], %[[ACCT]]
// CHECK: %[[SUM:.*]] = arith.addf %[[SQUARE]], %[[X]]
// CHECK: %[[NEXTY:.*]] = tulle.store %[[SUM]], %[[ACCY]]
// CHECK: tulle.yield %[[NEXTT]], %[[NEXTY]]
// CHECK-NOT: tulle.iterate
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @own_coordinate(%a: tensor<?xf64>, %t: tensor<?xf64>, %y: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r0 = tulle.range %c0 to %n
  %t1 = tulle.iterate %i in %r0 : !tulle.range iter_args(%acc = %t) -> (tensor<?xf64>) {
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %s = arith.mulf %x, %x : f64
    %q = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %next = tulle.store %s, %acc[%q : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %r1 = tulle.range %c0 to %n
  %y1 = tulle.iterate %i in %r1 : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64>) {
    %q = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %s = tulle.load %t1[%q : !at] : tensor<?xf64> -> f64
    %p = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %sum = arith.addf %s, %x : f64
    %next = tulle.store %sum, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %t1, %y1 : tensor<?xf64>, tensor<?xf64>
}

// The second loop updates what the first one stored: one loop-carried tensor.
// CHECK-LABEL: func.func @updated
// CHECK: %[[R:.*]] = tulle.iterate %{{[^ ]*}} in %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[ONE:.*]] = tulle.store %{{.*}}, %[[ACC]]
// CHECK: %[[TWO:.*]] = tulle.store %{{.*}}, %[[ONE]]
// CHECK: tulle.yield %[[TWO]]
// CHECK: return %[[R]]
func.func @updated(%a: tensor<?xf64>, %t: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %t1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t) -> (tensor<?xf64>) {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %next = tulle.store %x, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %t2 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t1) -> (tensor<?xf64>) {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %acc[%p : !at] : tensor<?xf64> -> f64
    %twice = arith.addf %x, %x : f64
    %next = tulle.store %twice, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %t2 : tensor<?xf64>
}

// What the second loop reads is another iteration's, of which the first loop may not have run yet.
// CHECK-LABEL: func.func @elsewhere
// CHECK-COUNT-2: tulle.iterate
func.func @elsewhere(%a: tensor<?xf64>, %t: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %t1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t) -> (tensor<?xf64>) {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %next = tulle.store %x, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %y1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64>) {
    %last = arith.subi %n, %c1 : index
    %mirrored = arith.subi %last, %i : index
    %q = tulle.locate %t level(0) at %mirrored : tensor<?xf64> -> !at
    %x = tulle.load %t1[%q : !at] : tensor<?xf64> -> f64
    %p = tulle.locate %y level(0) at %i : tensor<?xf64> -> !at
    %next = tulle.store %x, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %y1 : tensor<?xf64>
}

// The second loop replaces what the first reads elsewhere.
// CHECK-LABEL: func.func @replaces_operand
// CHECK-COUNT-2: tulle.iterate
func.func @replaces_operand(%a: tensor<?xf64>, %t: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %t1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t) -> (tensor<?xf64>) {
    %first = tulle.locate %a level(0) at %c0 : tensor<?xf64> -> !at
    %x = tulle.load %a[%first : !at] : tensor<?xf64> -> f64
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %next = tulle.store %x, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %a1 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %a) -> (tensor<?xf64>) {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %t1[%p : !at] : tensor<?xf64> -> f64
    %twice = arith.addf %x, %x : f64
    %next = tulle.store %twice, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %t1, %a1 : tensor<?xf64>, tensor<?xf64>
}

// A sum is known behind its loop only.
// CHECK-LABEL: func.func @needs_sum
// CHECK-COUNT-2: tulle.iterate
func.func @needs_sum(%a: tensor<?xf64>, %t: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %r = tulle.range %c0 to %n
  %t1, %sum = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t, %s = %zero) -> (tensor<?xf64>, f64) {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %a[%p : !at] : tensor<?xf64> -> f64
    %next = tulle.store %x, %acc[%p : !at] : f64, tensor<?xf64>
    %more = arith.addf %s, %x : f64
    tulle.yield %next, %more : tensor<?xf64>, f64
  }
  %t2 = tulle.iterate %i in %r : !tulle.range iter_args(%acc = %t1) -> (tensor<?xf64>) {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %acc[%p : !at] : tensor<?xf64> -> f64
    %part = arith.divf %x, %sum : f64
    %next = tulle.store %part, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %t2 : tensor<?xf64>
}

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>

// Several entries have one coordinate: the second loop needs their sum.
// CHECK-LABEL: func.func @each_entry
// CHECK-COUNT-2: tulle.iterate
func.func @each_entry(%a: tensor<?x?xf64, #COO>, %t: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %entries = tulle.space %a level(0) : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 0>
  %t1 = tulle.iterate %i, %it in %entries : !tulle.space<#COO, 0> iter_args(%acc = %t) -> (tensor<?xf64>) loop = <reduction> attributes {each} {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %acc[%p : !at] : tensor<?xf64> -> f64
    %twice = arith.addf %x, %x : f64
    %next = tulle.store %twice, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %y1 = tulle.iterate %i, %it in %entries : !tulle.space<#COO, 0> iter_args(%acc = %y) -> (tensor<?xf64>) loop = <reduction> attributes {each} {
    %p = tulle.locate %t level(0) at %i : tensor<?xf64> -> !at
    %x = tulle.load %t1[%p : !at] : tensor<?xf64> -> f64
    %next = tulle.store %x, %acc[%p : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %y1 : tensor<?xf64>
}

// Neither needs the other, and both read p: the second loop, which replaces p, runs in the first one's
// iterations, and what it needs from between them is there before.
// CHECK-LABEL: func.func @read_together
// CHECK-SAME: (%[[P:.*]]: tensor<?xf64>, %[[X:.*]]: tensor<?xf64>, %[[R:.*]]: tensor<f64>)
// CHECK: %[[C:.*]] = tulle.load %[[R]][]
// CHECK: %[[BOTH:.*]]:2 = tulle.iterate %{{[^ ]*}} in %{{.*}} iter_args(%[[ACCX:.*]] = %[[X]], %[[ACCP:.*]] = %[[P]])
// CHECK: %[[OLD:.*]] = tulle.load %[[ACCP]]
// CHECK: tulle.store %{{.*}}, %[[ACCX]]
// CHECK: arith.mulf %[[C]], %[[OLD]]
// CHECK: tulle.store %{{.*}}, %[[ACCP]]
// CHECK-NOT: tulle.iterate
// CHECK: return %[[BOTH]]#0, %[[BOTH]]#1
func.func @read_together(%p: tensor<?xf64>, %x: tensor<?xf64>, %r: tensor<f64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %p, %c0 : tensor<?xf64>
  %all = tulle.range %c0 to %n
  %x1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %x) -> (tensor<?xf64>) {
    %at = tulle.locate %p level(0) at %i : tensor<?xf64> -> !at
    %v = tulle.load %p[%at : !at] : tensor<?xf64> -> f64
    %q = tulle.locate %x level(0) at %i : tensor<?xf64> -> !at
    %w = tulle.load %acc[%q : !at] : tensor<?xf64> -> f64
    %sum = arith.addf %w, %v : f64
    %next = tulle.store %sum, %acc[%q : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %c = tulle.load %r[] : tensor<f64> -> f64
  %p1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %p) -> (tensor<?xf64>) {
    %at = tulle.locate %p level(0) at %i : tensor<?xf64> -> !at
    %v = tulle.load %acc[%at : !at] : tensor<?xf64> -> f64
    %part = arith.mulf %c, %v : f64
    %next = tulle.store %part, %acc[%at : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %x1, %p1 : tensor<?xf64>, tensor<?xf64>
}

// The first loop replaces what the second reads as it was.
// CHECK-LABEL: func.func @reads_old
// CHECK-COUNT-2: tulle.iterate
func.func @reads_old(%p: tensor<?xf64>, %x: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %p, %c0 : tensor<?xf64>
  %all = tulle.range %c0 to %n
  %p1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %p) -> (tensor<?xf64>) {
    %at = tulle.locate %p level(0) at %i : tensor<?xf64> -> !at
    %v = tulle.load %acc[%at : !at] : tensor<?xf64> -> f64
    %twice = arith.addf %v, %v : f64
    %next = tulle.store %twice, %acc[%at : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %x1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %x) -> (tensor<?xf64>) {
    %at = tulle.locate %p level(0) at %i : tensor<?xf64> -> !at
    %v = tulle.load %p[%at : !at] : tensor<?xf64> -> f64
    %q = tulle.locate %x level(0) at %i : tensor<?xf64> -> !at
    %next = tulle.store %v, %acc[%q : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %p1, %x1 : tensor<?xf64>, tensor<?xf64>
}

// Loops that read different tensors stay apart.
// CHECK-LABEL: func.func @read_apart
// CHECK-COUNT-2: tulle.iterate
func.func @read_apart(%a: tensor<?xf64>, %b: tensor<?xf64>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %all = tulle.range %c0 to %n
  %x1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %x) -> (tensor<?xf64>) {
    %at = tulle.locate %a level(0) at %i : tensor<?xf64> -> !at
    %v = tulle.load %a[%at : !at] : tensor<?xf64> -> f64
    %next = tulle.store %v, %acc[%at : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %y1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64>) {
    %at = tulle.locate %b level(0) at %i : tensor<?xf64> -> !at
    %v = tulle.load %b[%at : !at] : tensor<?xf64> -> f64
    %next = tulle.store %v, %acc[%at : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %x1, %y1 : tensor<?xf64>, tensor<?xf64>
}

// A loop between the two reads elsewhere what the second replaces.
// CHECK-LABEL: func.func @read_between
// CHECK-COUNT-3: tulle.iterate
func.func @read_between(%p: tensor<?xf64>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %p, %c0 : tensor<?xf64>
  %all = tulle.range %c0 to %n
  %x1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %x) -> (tensor<?xf64>) {
    %at = tulle.locate %p level(0) at %i : tensor<?xf64> -> !at
    %v = tulle.load %p[%at : !at] : tensor<?xf64> -> f64
    %next = tulle.store %v, %acc[%at : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %z1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %z) -> (tensor<?xf64>) {
    %first = tulle.locate %p level(0) at %c0 : tensor<?xf64> -> !at
    %v = tulle.load %p[%first : !at] : tensor<?xf64> -> f64
    %at = tulle.locate %z level(0) at %i : tensor<?xf64> -> !at
    %next = tulle.store %v, %acc[%at : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  %p1 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %p) -> (tensor<?xf64>) {
    %at = tulle.locate %p level(0) at %i : tensor<?xf64> -> !at
    %v = tulle.load %acc[%at : !at] : tensor<?xf64> -> f64
    %twice = arith.addf %v, %v : f64
    %next = tulle.store %twice, %acc[%at : !at] : f64, tensor<?xf64>
    tulle.yield %next : tensor<?xf64>
  }
  return %x1, %z1, %p1 : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}
