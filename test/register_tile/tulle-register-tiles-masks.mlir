// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles,tulle-vectorize))' | FileCheck %s

// A processor whose masks are vectors, and on which scalarized gathers beat the instruction (AVX2).
module attributes {tulle.cpu = #tulle.cpu<znver3>} {

// ELL: nothing is sampled, three columns are jammed, and tiles whose lanes are all active have a version
// without masks outside of the columns; each cache line of the two streams is prefetched once.
// CHECK-LABEL: func.func @padded
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %[[VAL:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>
// CHECK-NOT: %c16384
// CHECK: arith.select %{{.*}}, %c3{{.*}}, %{{.*}} : index
// CHECK: %[[SIZE:.*]] = memref.dim %[[Y]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[SIZE]]
// CHECK: %[[FOUR:.*]] = arith.constant 4
// CHECK: arith.cmpi sge, %[[LEFT]], %[[FOUR]]
// CHECK: scf.if
// CHECK-NOT: maskedload %[[Y]]
// CHECK-COUNT-4: vector.load %[[Y]]
// CHECK: scf.for
// CHECK-NOT: vector.gather
// CHECK: vector.extract
// CHECK-COUNT-4: memref.load %[[X]]
// CHECK: arith.select
// CHECK: memref.prefetch %[[CRD]]
// CHECK: memref.prefetch %[[VAL]]
// CHECK: memref.load %[[X]]
// CHECK-NOT: memref.prefetch %[[CRD]]
// CHECK: memref.prefetch %[[VAL]]
// CHECK-NOT: maskedstore
// CHECK-COUNT-4: vector.store %{{.*}}, %[[Y]]
// CHECK: else
// CHECK-COUNT-4: vector.maskedload %[[Y]]
// CHECK-COUNT-4: vector.maskedstore %[[Y]]
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

// SELL: whether all rows of a slice exist is one condition of their numbers, the permutation's and the result's sizes.
// CHECK-LABEL: func.func @sliced
// CHECK-SAME: %[[PERM:[a-z0-9]*]]: memref<?xi64>, %{{.*}}: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>
// CHECK: vector.maskedload %[[PERM]]
// CHECK: %[[ROWS:.*]] = vector.reduction <and>
// CHECK: %[[SIZE:.*]] = arith.cmpi sge
// CHECK: arith.andi %[[ROWS]], %[[SIZE]]
// CHECK: vector.reduction <and>
// CHECK: scf.if
// CHECK-COUNT-8: memref.load %[[Y]]
// CHECK-NOT: masked
// CHECK-COUNT-8: memref.store %{{.*}}, %[[Y]]
// CHECK: else
// CHECK: vector.scatter
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

// CSR: one loop of vectors with scalarized gathers, and a prefetch of its streams.
// CHECK-LABEL: func.func @row
// CHECK-SAME: attributes {tulle.scalar_lanes}
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK-COUNT-2: memref.prefetch
// CHECK: vector.reduction <add>
// CHECK: scf.for
// CHECK-NOT: vector
// CHECK: return
func.func @row(%crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %lo: index, %hi: index) -> f64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %zero) -> (f64) {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %xv = memref.load %x[%j] : memref<?xf64>
    %m = arith.mulf %a, %xv fastmath<reassoc> : f64
    %s = arith.addf %acc, %m fastmath<reassoc> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %sum : f64
}

// Loads at other indices have any type, and no prefetch.
// CHECK-LABEL: func.func @complex_factor
// CHECK: scf.for
// CHECK-COUNT-2: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.reduction <add>
func.func @complex_factor(%crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %factor: memref<?xcomplex<f64>>, %lo: index, %hi: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %p = %lo to %hi step %c1 iter_args(%acc = %zero) -> (f64) {
    %j32 = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %j32 : i32 to index
    %a = memref.load %val[%p] : memref<?xf64>
    %xv = memref.load %x[%j] : memref<?xf64>
    %f = memref.load %factor[%c0] : memref<?xcomplex<f64>>
    %re = complex.re %f : complex<f64>
    %ax = arith.mulf %a, %xv fastmath<reassoc> : f64
    %m = arith.mulf %ax, %re fastmath<reassoc> : f64
    %s = arith.addf %acc, %m fastmath<reassoc> : f64
    scf.yield %s : f64
  } {tulle.loop = #tulle.loop<reduction>}
  return %sum : f64
}

// Entries that take long each: whole vectors without a mask, then a masked epilogue.
// CHECK-LABEL: func.func @scaled
// CHECK: %[[END:.*]] = scf.for %{{.*}} = %[[LO:.*]] to %{{.*}} step %{{.*}} iter_args
// CHECK: vector.load
// CHECK: vector.store
// CHECK-NOT: masked
// CHECK: scf.for %{{.*}} = %[[END]] to
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @scaled(%pos: memref<?xi32>, %val: memref<?xf64>, %out: memref<?xf64>, %d: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lo32 = memref.load %pos[%c0] : memref<?xi32>
  %lo = arith.index_castui %lo32 : i32 to index
  %hi32 = memref.load %pos[%c1] : memref<?xi32>
  %hi = arith.index_castui %hi32 : i32 to index
  scf.for %p = %lo to %hi step %c1 {
    %a = memref.load %val[%p] : memref<?xf64>
    %q = arith.divf %a, %d : f64
    memref.store %q, %out[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// A condition of the outer loop's iteration is no mask of what is loaded before all of them.
// CHECK-LABEL: func.func @condition_of_outer_iteration
// CHECK: vector.load
// CHECK: scf.for
// CHECK: %[[IS:.*]] = arith.cmpf une
// CHECK: vector.broadcast %[[IS]] : i1 to vector<{{.*}}xi1>
func.func @condition_of_outer_iteration(%b: memref<?xf64>, %n: memref<?xi64>, %lo: index, %hi: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f64
  scf.for %j = %lo to %hi step %c1 {
    %v = memref.load %b[%j] : memref<?xf64>
    %is = arith.cmpf une, %v, %zero : f64
    scf.for %i = %c0 to %m step %c1 {
      scf.if %is {
        %x = memref.load %n[%i] : memref<?xi64>
        %y = arith.addi %x, %one : i64
        memref.store %y, %n[%i] : memref<?xi64>
      }
    } {tulle.loop = #tulle.loop<reduction, index = i>}
  } {tulle.loop = #tulle.loop<reduction, index = j>}
  return
}

}
