// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize-block-rows,canonicalize))' --split-input-file | FileCheck %s

// Rows first … last - 1 with blocks of 128 bytes: where they have more than 8 MiB of them, iteration t is row t / 2 of the first half, or
// of the second one.
// CHECK-LABEL: func.func @independent
// CHECK-SAME: %[[Y:[a-z0-9]*]]: memref<?xf64>, %[[POS:[a-z0-9]*]]: memref<?xi32>, %[[FIRST:[a-z0-9]*]]: index, %[[LAST:[a-z0-9]*]]: index)
// CHECK: %[[COUNT:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK: %[[MORE:.*]] = arith.addi %[[COUNT]], %c1
// CHECK: %[[HALF:.*]] = arith.shrui %[[MORE]], %c1
// CHECK: %[[LARGE:.*]] = scf.if
// CHECK:   memref.load %[[POS]][%[[FIRST]]]
// CHECK:   %[[BLOCKS:.*]] = arith.subi
// CHECK:   arith.cmpi sgt, %[[BLOCKS]], %c65536
// CHECK: scf.for %[[T:.*]] = %c0 to %[[COUNT]]
// CHECK:   %[[PAIR:.*]] = arith.shrui %[[T]], %c1
// CHECK:   %[[ODD:.*]] = arith.remui %[[T]], %c2
// CHECK:   %[[SECOND:.*]] = arith.cmpi ne, %[[ODD]], %c0
// CHECK:   %[[BASE:.*]] = arith.select %[[SECOND]], %[[HALF]], %c0
// CHECK:   %[[INTERLEAVED:.*]] = arith.addi %[[PAIR]], %[[BASE]]
// CHECK:   %[[AT:.*]] = arith.select %[[LARGE]], %[[INTERLEAVED]], %[[T]]
// CHECK:   %[[ROW:.*]] = arith.addi %[[FIRST]], %[[AT]]
// CHECK:   tulle.segment %[[POS]][%[[ROW]]]
// CHECK:   -> (vector<4xf64>, vector<4xf64>, vector<4xf64>, vector<4xf64>)
func.func @independent(%val: memref<?xf64>, %crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %pos: memref<?xi32>, %first: index, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %b = %first to %last step %c1 {
    %lo, %hi = tulle.segment %pos[%b] : memref<?xi32>
    %row = arith.muli %b, %c4 : index
    scf.for %p = %lo to %hi step %c1 {
      %j32 = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %start = arith.muli %p, %c4 : index
      %column = arith.muli %j, %c4 : index
      scf.for %r = %c0 to %c4 step %c1 {
        %pr = arith.addi %start, %r : index
        %i = arith.addi %row, %r : index
        %old = memref.load %y[%i] : memref<?xf64>
        %base = arith.muli %pr, %c4 : index
        %sum = scf.for %c = %c0 to %c4 step %c1 iter_args(%acc = %old) -> (f64) {
          %q = arith.addi %base, %c : index
          %a = memref.load %val[%q] : memref<?xf64>
          %k = arith.addi %column, %c : index
          %xv = memref.load %x[%k] : memref<?xf64>
          %m = arith.mulf %a, %xv fastmath<reassoc,contract> : f64
          %t = arith.addf %acc, %m fastmath<reassoc,contract> : f64
          scf.yield %t : f64
        } {tulle.loop = #tulle.loop<reduction>}
        memref.store %sum, %y[%i] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}

// -----

// Rows that accumulate into the same elements keep their order.
// CHECK-LABEL: func.func @ordered
// CHECK-NOT: arith.remui
func.func @ordered(%val: memref<?xf64>, %crd: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>, %pos: memref<?xi32>, %first: index, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %b = %first to %last step %c1 {
    %lo, %hi = tulle.segment %pos[%b] : memref<?xi32>
    %row = arith.muli %c0, %c4 : index
    scf.for %p = %lo to %hi step %c1 {
      %j32 = memref.load %crd[%p] : memref<?xi32>
      %j = arith.index_castui %j32 : i32 to index
      %start = arith.muli %p, %c4 : index
      %column = arith.muli %j, %c4 : index
      scf.for %r = %c0 to %c4 step %c1 {
        %pr = arith.addi %start, %r : index
        %i = arith.addi %row, %r : index
        %old = memref.load %y[%i] : memref<?xf64>
        %base = arith.muli %pr, %c4 : index
        %sum = scf.for %c = %c0 to %c4 step %c1 iter_args(%acc = %old) -> (f64) {
          %q = arith.addi %base, %c : index
          %a = memref.load %val[%q] : memref<?xf64>
          %k = arith.addi %column, %c : index
          %xv = memref.load %x[%k] : memref<?xf64>
          %m = arith.mulf %a, %xv fastmath<reassoc,contract> : f64
          %t = arith.addf %acc, %m fastmath<reassoc,contract> : f64
          scf.yield %t : f64
        } {tulle.loop = #tulle.loop<reduction>}
        memref.store %sum, %y[%i] : memref<?xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
