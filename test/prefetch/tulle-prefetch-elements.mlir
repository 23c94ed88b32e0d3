// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-prefetch-elements))' | FileCheck %s
// RUN: sed 's/<znver4>/<x86-64-v4>/' %s | tulle-opt --split-input-file --pass-pipeline='builtin.module(func.func(tulle-prefetch-elements))' | FileCheck %s --check-prefix=NONE
// NONE-NOT: scf.execute_region

// A product with a vector, in two versions. Where x takes as much as stays in the caches, and coordinates that stand 64
// apart select elements that are remote, the element that the coordinate 96 later selects is prefetched into the
// second-level cache, also where that is one of a later row, but none behind the last. That version is a function of its own.
// CHECK-LABEL: func.func @spmv(
// CHECK-SAME: %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[CRD:[a-z0-9]*]]: memref<?xi32>, %{{[a-z0-9]*}}: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Y:[a-z0-9]*]]: memref<?xf64>
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK: %[[LARGE:.*]] = arith.cmpi ugt, %[[SIZE]], %c1048575
// CHECK: %[[SCATTERED:.*]] = scf.if %[[LARGE]] -> (i1)
// CHECK: scf.if %{{.*}} -> (i1)
// CHECK: memref.load %[[CRD]]
// CHECK: memref.load %[[CRD]]
// CHECK: arith.cmpi ugt
// CHECK: scf.if %[[SCATTERED]] {
// CHECK: scf.execute_region no_inline {
// CHECK: scf.for
// CHECK: memref.load %[[POS]]
// CHECK: %[[END:.*]] = memref.load %[[POS]]
// CHECK: %[[LAST:.*]] = arith.index_cast %[[END]]
// CHECK: %[[COUNT:.*]] = memref.dim %[[CRD]]
// CHECK: %[[BEHIND:.*]] = arith.subi %[[COUNT]], %[[LAST]]
// CHECK: %[[AHEAD:.*]] = arith.minsi %c96, %[[BEHIND]]
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %[[LAST]]
// CHECK: %[[LATER:.*]] = arith.addi %[[P]], %[[AHEAD]]
// CHECK: %[[INTEGER:.*]] = memref.load %[[CRD]][%[[LATER]]]
// CHECK: %[[J:.*]] = arith.index_castui %[[INTEGER]]
// CHECK: memref.prefetch %[[X]][%[[J]]], read, locality<2>
// CHECK-NOT: memref.prefetch
// CHECK: memref.store {{.*}}, %[[Y]]
// CHECK: } else {
// CHECK-NOT: memref.prefetch
// CHECK: memref.store {{.*}}, %[[Y]]
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @spmv(%pos: memref<?xi32>, %crd: memref<?xi32>, %val: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %b = memref.load %pos[%i] : memref<?xi32>
    %begin = arith.index_cast %b : i32 to index
    %e = memref.load %pos[%next] : memref<?xi32>
    %end = arith.index_cast %e : i32 to index
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%acc = %zero) -> (f64) {
      %integer = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %integer : i32 to index
      %a = memref.load %val[%p] : memref<?xf64>
      %v = memref.load %x[%j] : memref<?xf64>
      %product = arith.mulf %a, %v : f64
      %more = arith.addf %acc, %product fastmath<reassoc> : f64
      scf.yield %more : f64
    } {tulle.loop = #tulle.loop<reduction>}
    memref.store %sum, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
}

// -----

// Loops of one nest have one version, which prefetches for all of them, where some are worth it.
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %{{[a-z0-9]*}}: memref<?xi32>, %{{[a-z0-9]*}}: memref<?xi32>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[Z:[a-z0-9]*]]: memref<?xf64>
// CHECK: %[[OF_X:.*]] = scf.if %{{.*}} -> (i1)
// CHECK: memref.dim %[[Z]]
// CHECK: %[[OF_Z:.*]] = scf.if %{{.*}} -> (i1)
// CHECK: %[[EITHER:.*]] = arith.ori %[[OF_X]], %[[OF_Z]]
// CHECK: scf.if %[[EITHER]] {
// CHECK: memref.prefetch %[[X]]
// CHECK: memref.prefetch %[[Z]]
// CHECK: } else {
// CHECK-NOT: memref.prefetch
// CHECK: return
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @two(%crd: memref<?xi32>, %other: memref<?xi32>, %x: memref<?xf64>, %z: memref<?xf64>, %y: memref<?xf64>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %sum = scf.for %p = %c0 to %m step %c1 iter_args(%acc = %zero) -> (f64) {
      %integer = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %integer : i32 to index
      %v = memref.load %x[%j] : memref<?xf64>
      %more = arith.addf %acc, %v fastmath<reassoc> : f64
      scf.yield %more : f64
    } {tulle.loop = #tulle.loop<reduction>}
    %product = scf.for %p = %c0 to %m step %c1 iter_args(%acc = %sum) -> (f64) {
      %integer = memref.load %other[%p] : memref<?xi32>
      %j = arith.index_castui %integer : i32 to index
      %v = memref.load %z[%j] : memref<?xf64>
      %more = arith.addf %acc, %v fastmath<reassoc> : f64
      scf.yield %more : f64
    } {tulle.loop = #tulle.loop<reduction>}
    memref.store %product, %y[%i] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
}

// -----

// Elements that are updated, or assigned, are prefetched once. They need not be those of a loop that vectors could do.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %{{[a-z0-9]*}}: memref<?xcomplex<f64>>, %[[Y:[a-z0-9]*]]: memref<?xcomplex<f64>>
// CHECK: %[[SIZE:.*]] = memref.dim %[[Y]]
// CHECK: arith.cmpi ugt, %[[SIZE]], %c524287
// CHECK: scf.execute_region no_inline {
// CHECK: scf.for
// CHECK: %[[INTEGER:.*]] = memref.load %[[CRD]]
// CHECK: %[[J:.*]] = arith.index_castui %[[INTEGER]]
// CHECK: memref.prefetch %[[Y]][%[[J]]], read, locality<2>
// CHECK-NOT: memref.prefetch
// CHECK: memref.store {{.*}}, %[[Y]]
// CHECK: } else {
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @update(%crd: memref<?xi32>, %x: memref<?xcomplex<f64>>, %y: memref<?xcomplex<f64>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %n step %c1 {
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    %v = memref.load %x[%p] : memref<?xcomplex<f64>>
    %old = memref.load %y[%j] : memref<?xcomplex<f64>>
    %new = complex.add %old, %v : complex<f64>
    memref.store %new, %y[%j] : memref<?xcomplex<f64>>
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
}

// -----

// A permutation into a result.
// CHECK-LABEL: func.func @assign(
// CHECK-SAME: %[[CRD:[a-z0-9]*]]: memref<?xi32>, %{{[a-z0-9]*}}: memref<?xi8>, %[[Y:[a-z0-9]*]]: memref<?xi8>
// CHECK: memref.prefetch %[[Y]]
// CHECK-NOT: memref.prefetch
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @assign(%crd: memref<?xi32>, %x: memref<?xi8>, %y: memref<?xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %n step %c1 {
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    %v = memref.load %x[%p] : memref<?xi8>
    memref.store %v, %y[%j] : memref<?xi8>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
}

// -----

// A thread's copy of a result is like the result.
// CHECK-LABEL: func.func @copy(
// CHECK: %[[OWN:.*]] = memref.alloc
// CHECK: memref.prefetch %[[OWN]]
// CHECK: } else {
// CHECK-NOT: memref.prefetch
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @copy(%crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index, %m: index, %base: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %factor = memref.load %x[%i] : memref<?xf64>
    scf.for %p = %c0 to %m step %c1 {
      %integer = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %integer : i32 to index
      %place = arith.addi %base, %j : index
      %old = memref.load %own[%place] : memref<?xf64>
      %new = arith.addf %old, %factor : f64
      memref.store %new, %own[%place] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction, directives = <parallelize = private>>}
  memref.dealloc %own : memref<?xf64>
  return
}
}

// -----

// Nothing is prefetched of a vector that is known to stay in the caches, where what is scattered into is no argument, of
// buffers with other than one dimension, where they are no function of an integer at
// the loop's own index, or one that divides by what may be 0 behind the loop, or where the integers are those of a row only.
// CHECK-LABEL: func.func @none(
// CHECK-NOT: memref.prefetch
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @none(%crd: memref<?xi32>, %x: memref<?xf64> {tulle.bytes_below = 8388608 : i64}, %z: memref<?xf64>, %wide: memref<?x?xf64>, %one: memref<f64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %p = %c0 to %n step %c1 {
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    %v = memref.load %x[%j] : memref<?xf64>
    memref.store %v, %y[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  %own = memref.alloc(%n) : memref<?xf64>
  scf.for %p = %c0 to %n step %c1 {
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    %v = memref.load %z[%j] : memref<?xf64>
    memref.store %v, %own[%j] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  memref.dealloc %own : memref<?xf64>
  scf.for %p = %c0 to %n step %c1 {
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    %v = memref.load %wide[%j, %c0] : memref<?x?xf64>
    %w = memref.load %one[] : memref<f64>
    %sum = arith.addf %v, %w : f64
    memref.store %sum, %y[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %p = %c0 to %n step %c1 {
    %integer = memref.load %crd[%p] : memref<?xi32>
    %factor = arith.index_castui %integer : i32 to index
    %j = arith.divui %n, %factor : index
    %v = memref.load %z[%j] : memref<?xf64>
    memref.store %v, %y[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %p = %c0 to %n step %c1 {
    %j = arith.muli %p, %c3 : index
    %v = memref.load %z[%j] : memref<?xf64>
    memref.store %v, %y[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.alloc(%n) : memref<?xi32>
    scf.for %p = %c0 to %n step %c1 {
      %integer = memref.load %row[%p] : memref<?xi32>
      %j = arith.index_castui %integer : i32 to index
      %v = memref.load %z[%j] : memref<?xf64>
      memref.store %v, %y[%p] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    memref.dealloc %row : memref<?xi32>
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
}

// -----

// A loop that prefetches already stays as it is.
// CHECK-LABEL: func.func @prefetched(
// CHECK-NOT: memref.dim
// CHECK: memref.prefetch
// CHECK-NOT: memref.prefetch
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @prefetched(%crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %p = %c0 to %n step %c1 {
    %integer = memref.load %crd[%p] : memref<?xi32>
    %j = arith.index_castui %integer : i32 to index
    memref.prefetch %x[%j], read, locality<3>, data : memref<?xf64>
    %v = memref.load %x[%j] : memref<?xf64>
    memref.store %v, %y[%p] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
}
