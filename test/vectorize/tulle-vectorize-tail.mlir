// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=4 tail=mask}))' | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{vl=2 scalable=true tail=mask}))' | FileCheck --check-prefix=SVE %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{tail=mask}))' | FileCheck --check-prefix=CHOSEN %s
// RUN: not tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize{tail=none}))' 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: Cannot find option named 'none'

// Whole vectors, then one with a mask: no scalar loop is left.
// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[CRD:.*]]: memref<?xi32>, %[[VAL:.*]]: memref<?xf64>, %[[X:.*]]: memref<?xf64>, %[[LO:.*]]: index, %[[HI:.*]]: index, %[[INIT:.*]]: f64)
// CHECK: %[[V:.*]]:2 = scf.for %{{.*}} = %[[LO]] to %{{.*}} step %{{.*}} iter_args({{.*}}) -> (vector<4xf64>, index)
// CHECK:   vector.load %[[VAL]]
// CHECK:   vector.gather
// CHECK: %[[ALL:.*]] = scf.for %[[P:.*]] = %[[V]]#1 to %[[HI]] step %{{.*}} iter_args(%[[ACC:.*]] = %[[V]]#0) -> (vector<4xf64>)
// CHECK:   %[[LEFT:.*]] = arith.subi %[[HI]], %[[P]]
// CHECK:   %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<4xi1>
// CHECK:   vector.maskedload %[[CRD]][%[[P]]], %[[MASK]]
// CHECK:   vector.maskedload %[[VAL]][%[[P]]], %[[MASK]]
// CHECK:   vector.gather %[[X]]{{.*}}, %[[MASK]],
// CHECK:   arith.select %[[MASK]], %{{.*}}, %[[ACC]]
// CHECK: %[[SUM:.*]] = vector.reduction <add>, %[[ALL]], %[[INIT]]
// CHECK-NOT: scf.for
// CHECK: return %[[SUM]]
// SVE-LABEL: func.func @row(
// SVE: vector.vscale
// SVE: scf.for
// SVE: scf.for
// SVE: vector.create_mask %{{.*}} : vector<[2]xi1>
// SVE: vector.reduction
// SVE-NOT: scf.for
// SVE: return
func.func @row(%crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %lo: index, %hi: index, %init: f64) -> f64 {
  %c1 = arith.constant 1 : index
  %r = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %init) -> (f64) {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %xj = memref.load %x[%j] : memref<?xf64>
    %m = arith.mulf %a, %xj fastmath<reassoc,contract> : f64
    %s = arith.addf %acc, %m fastmath<reassoc,contract> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction, index = j>}
  return %r : f64
}

// Consecutive accesses, which are LLVM's without the request.
// CHOSEN-LABEL: func.func @scale(
// CHOSEN: vector.store
// CHOSEN: vector.maskedstore
// CHOSEN-NOT: memref.store
// CHOSEN: return
func.func @scale(%x: memref<?xf64>, %y: memref<?xf64>, %n: index, %by: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %w = arith.mulf %v, %by : f64
    memref.store %w, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel, index = i>}
  return
}
