// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-pipeline-scatters,cse))' | FileCheck %s

// The loads of four entries come first, then their counters in order, then their stores; fences keep the compiler from
// moving them.
// CHECK-LABEL: func.func @counters
// CHECK-SAME: %[[POS:[^:]*]]: memref<?xindex>, %[[CRD:[^:]*]]: memref<?xindex>, %[[VALUES:[^:]*]]: memref<?xf64>, %[[NEXT:[^:]*]]: memref<?xindex>, %[[OUT:[^:]*]]: memref<?xf64>
// CHECK: scf.for
// CHECK: %[[LIMIT:.*]] = arith.subi %[[END:.*]], %c3
// CHECK: %[[REST:.*]] = scf.for %[[K:.*]] = %{{.*}} to %[[LIMIT]] step %c4
// CHECK: %[[C0:.*]] = memref.load %[[CRD]][%[[K]]]
// CHECK: %[[V0:.*]] = memref.load %[[VALUES]][%[[K]]]
// CHECK: %[[K1:.*]] = arith.addi %[[K]], %c1
// CHECK: %[[C1:.*]] = memref.load %[[CRD]][%[[K1]]]
// CHECK: %[[V1:.*]] = memref.load %[[VALUES]][%[[K1]]]
// CHECK-COUNT-2: memref.load %[[CRD]]
// CHECK: llvm.fence syncscope("singlethread") seq_cst
// CHECK: %[[P0:.*]] = memref.load %[[NEXT]][%[[C0]]]
// CHECK: memref.store %{{.*}}, %[[NEXT]][%[[C0]]]
// CHECK: %[[P1:.*]] = memref.load %[[NEXT]][%[[C1]]]
// CHECK: memref.store %{{.*}}, %[[NEXT]][%[[C1]]]
// CHECK-COUNT-2: memref.load %[[NEXT]]
// CHECK: llvm.fence syncscope("singlethread") seq_cst
// CHECK: memref.store %[[V0]], %[[OUT]][%[[P0]]]
// CHECK: memref.store %[[V1]], %[[OUT]][%[[P1]]]
// CHECK-COUNT-2: memref.store %{{.*}}, %[[OUT]]
// CHECK: scf.for %{{.*}} = %[[REST]] to %[[END]] step %c1
// CHECK-COUNT-1: memref.store %{{.*}}, %[[OUT]]
// CHECK-NOT: memref.store %{{.*}}, %[[OUT]]
func.func @counters(%pos: memref<?xindex>, %crd: memref<?xindex>, %values: memref<?xf64>, %next: memref<?xindex>, %out: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %begin = memref.load %pos[%i] : memref<?xindex>
    %i1 = arith.addi %i, %c1 : index
    %end = memref.load %pos[%i1] : memref<?xindex>
    scf.for %k = %begin to %end step %c1 {
      %c = memref.load %crd[%k] : memref<?xindex>
      %p = memref.load %next[%c] : memref<?xindex>
      %p1 = arith.addi %p, %c1 : index
      memref.store %p1, %next[%c] : memref<?xindex>
      %v = memref.load %values[%k] : memref<?xf64>
      memref.store %v, %out[%p] : memref<?xf64>
    }
  }
  return
}

// Where one of eight entries meets the limit, they run one by one: a load of `limit` holds for the others only
// while none does. The load of `moved` has an index from there, so it must not move before the test.
// CHECK-LABEL: func.func @guarded
// CHECK-SAME: %[[CRD:[^:]*]]: memref<?xindex>, %[[PLACE:[^:]*]]: memref<?xindex>, %[[OUT:[^:]*]]: memref<?xindex>
// CHECK: %[[LIMIT:.*]] = memref.alloca() : memref<index>
// CHECK: %[[MOVED:.*]] = memref.alloca() : memref<8xindex>
// CHECK: %[[BATCHES:.*]]:2 = scf.for %[[K:.*]] = %c0 to %{{.*}} step %c8{{.*}} iter_args(%{{.*}} = %c0, %[[SUM:.*]] = %c0)
// CHECK-COUNT-8: memref.load %[[PLACE]]
// CHECK-NOT: memref.load %[[MOVED]]
// CHECK-COUNT-6: arith.ori
// CHECK: %[[TAKEN:.*]] = arith.ori
// CHECK: %[[AFTER:.*]] = scf.if %[[TAKEN]] -> (index) {
// CHECK:   scf.for %{{.*}} = %[[K]] to %{{.*}} step %c1{{.*}} iter_args(%{{.*}} = %[[SUM]])
// CHECK:     scf.if
// CHECK: } else {
// CHECK-NOT: scf.if
// CHECK: llvm.fence syncscope("singlethread") seq_cst
// CHECK: memref.load %[[MOVED]]
// CHECK-COUNT-8: memref.store %{{.*}}, %[[OUT]]
// CHECK: scf.yield %{{.*}}, %[[AFTER]]
// CHECK: %[[ALL:.*]] = scf.for %{{.*}} = %[[BATCHES]]#0 to %{{.*}} step %c1{{.*}} iter_args(%{{.*}} = %[[BATCHES]]#1)
// CHECK: return %[[ALL]]
func.func @guarded(%crd: memref<?xindex>, %place: memref<?xindex>, %out: memref<?xindex>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = memref.alloca() : memref<index>
  %moved = memref.alloca() : memref<8xindex>
  memref.store %c0, %limit[] : memref<index>
  memref.store %c0, %moved[%c0] : memref<8xindex>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%before = %c0) -> (index) {
    %c = memref.load %crd[%k] : memref<?xindex>
    %p = memref.load %place[%c] : memref<?xindex>
    %end = memref.load %limit[] : memref<index>
    %full = arith.cmpi uge, %c, %end : index
    scf.if %full {
      %later = arith.addi %c, %c1 : index
      memref.store %later, %limit[] : memref<index>
      memref.store %c0, %moved[%c0] : memref<8xindex>
    }
    %s = memref.load %limit[] : memref<index>
    %m = memref.load %moved[%s] : memref<8xindex>
    memref.store %m, %out[%p] : memref<?xindex>
    %after = arith.addi %before, %c : index
    scf.yield %after : index
  }
  return %sum : index
}

// The indices of four entries are computed, then each element is cleared where it is new and stored to: accesses to the buffer of the
// indirect store, and to what it changes (`cleared`), stay in order.
// CHECK-LABEL: func.func @found
// CHECK-SAME: %[[CRD:[^:]*]]: memref<?xindex>, %[[SLOTS:[^:]*]]: memref<?xindex>, %[[ROOM:[^:]*]]: memref<?xindex>
// CHECK: %[[MET:.*]] = memref.alloca() : memref<index>
// CHECK: %[[CLEARED:.*]] = memref.alloca() : memref<index>
// CHECK: scf.for
// CHECK: scf.for %{{.*}} step %c4
// CHECK-COUNT-4: memref.load %[[CRD]]
// CHECK: llvm.fence
// CHECK: %[[S0:.*]] = scf.if %{{.*}} -> (index)
// CHECK: memref.store %{{.*}}, %[[SLOTS]]
// CHECK-COUNT-3: = scf.if
// CHECK-NOT: memref.load %[[CLEARED]]
// CHECK: llvm.fence
// CHECK: %[[C0:.*]] = memref.load %[[CLEARED]][]
// CHECK: arith.cmpi eq, %[[S0]], %[[C0]]
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[CLEARED]][]
// CHECK: memref.store %{{.*}}, %[[ROOM]][%[[S0]]]
// CHECK: memref.load %[[CLEARED]][]
func.func @found(%crd: memref<?xindex>, %slots: memref<?xindex>, %room: memref<?xindex>, %pos: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %met = memref.alloca() : memref<index>
  %cleared = memref.alloca() : memref<index>
  memref.store %c0, %met[] : memref<index>
  memref.store %c0, %cleared[] : memref<index>
  scf.for %i = %c0 to %n step %c1 {
    %end = memref.load %pos[%i] : memref<?xindex>
    scf.for %k = %c0 to %end step %c1 {
      %c = memref.load %crd[%k] : memref<?xindex>
      %s = memref.load %slots[%c] : memref<?xindex>
      %new = arith.cmpi eq, %s, %c0 : index
      %slot = scf.if %new -> (index) {
        %m = memref.load %met[] : memref<index>
        %m1 = arith.addi %m, %c1 : index
        memref.store %m1, %met[] : memref<index>
        memref.store %m1, %slots[%c] : memref<?xindex>
        scf.yield %m1 : index
      } else {
        scf.yield %s : index
      }
      %limit = memref.load %cleared[] : memref<index>
      %fresh = arith.cmpi eq, %slot, %limit : index
      scf.if %fresh {
        memref.store %c0, %room[%slot] : memref<?xindex>
        %next = arith.addi %slot, %c1 : index
        memref.store %next, %cleared[] : memref<index>
      }
      memref.store %k, %room[%slot] : memref<?xindex>
    }
  }
  return
}

// A coordinate may be out of bounds until it is checked: no load uses it before.
// CHECK-LABEL: func.func @checked
// CHECK-SAME: %[[CRD:[^:]*]]: memref<?xindex>, %[[PLACE:[^:]*]]: memref<?xindex>, %[[VALUES:[^:]*]]: memref<?xindex>
// CHECK: scf.for
// CHECK-COUNT-8: memref.load %[[VALUES]]
// CHECK-NOT: memref.load %[[PLACE]]
// CHECK: llvm.fence
// CHECK: func.call @tulle_error_width
// CHECK: memref.load %[[PLACE]]
func.func private @tulle_error_width(i64, i64, i64)
func.func @checked(%crd: memref<?xindex>, %place: memref<?xindex>, %values: memref<?xindex>, %out: memref<?xindex>, %n: index, %size: index, %code: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %c = memref.load %crd[%k] : memref<?xindex>
    %v = memref.load %values[%k] : memref<?xindex>
    %bad = arith.cmpi uge, %c, %size : index
    scf.if %bad {
      func.call @tulle_error_width(%code, %code, %code) : (i64, i64, i64) -> ()
    }
    %p = memref.load %place[%c] : memref<?xindex>
    memref.store %v, %out[%p] : memref<?xindex>
  }
  return
}

// An index that is loaded directly is known soon enough, and accesses to a buffer that may alias stay in order.
// CHECK-LABEL: func.func @direct
// CHECK-NOT: llvm.fence
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: llvm.fence
func.func @direct(%crd: memref<?xindex>, %values: memref<?xf64>, %out: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %c = memref.load %crd[%k] : memref<?xindex>
    %v = memref.load %values[%k] : memref<?xf64>
    memref.store %v, %out[%c] : memref<?xf64>
  }
  return
}

func.func @unknown(%crd: memref<?xindex>, %place: memref<?xindex>, %out: memref<?xindex>, %n: index, %first: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %either = arith.select %first, %place, %out : memref<?xindex>
  scf.for %k = %c0 to %n step %c1 {
    %c = memref.load %crd[%k] : memref<?xindex>
    %p = memref.load %either[%c] : memref<?xindex>
    memref.store %k, %out[%p] : memref<?xindex>
  }
  return
}
