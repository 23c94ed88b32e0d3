// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s
// RUN: sed 's/znver4/znver3/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s --check-prefix=NOMASKS

// Both loops traverse the segment of a row. One or two vectors of it have versions without loops, in which what the first loop stores
// stays in a register for the second one.
// CHECK-LABEL: func.func @scaled_rows
// CHECK-SAME: (%{{[^:]*}}: memref<?xi32>, %{{[^:]*}}: memref<?xf64>, %[[BUFFER:[^:]*]]: memref<?xf64>
// CHECK: scf.for %[[I:[^ ]*]] = %c0 to
// CHECK: %[[LENGTH:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[ONE:.*]] = arith.cmpi sle, %[[LENGTH]], %c8{{.*}} : index
// CHECK: scf.if %[[ONE]] {
// CHECK-NOT: scf.for
// CHECK: %[[E:.*]] = arith.mulf %{{.*}} : vector<8xf64>
// CHECK: vector.maskedstore %[[BUFFER]][%{{.*}}], %[[MASK:.*]], %[[E]]
// CHECK: vector.reduction <add>
// CHECK-NOT: vector.maskedload %[[BUFFER]]
// CHECK: %[[KEPT:.*]] = arith.select %[[MASK]], %[[E]]
// CHECK: arith.divf %[[KEPT]]
// CHECK: } else {
// CHECK: %[[TWO:.*]] = arith.cmpi sle, %[[LENGTH]], %c16{{.*}} : index
// CHECK: scf.if %[[TWO]] {
// CHECK-NOT: scf.for
// CHECK: vector.store %[[WHOLE:.*]], %[[BUFFER]]
// CHECK: vector.maskedstore %[[BUFFER]]
// CHECK-NOT: vector.load %[[BUFFER]]
// CHECK: arith.divf %[[WHOLE]]
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for

// NOMASKS-LABEL: func.func @scaled_rows
// NOMASKS-NOT: scf.if
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @scaled_rows(%pos: memref<?xi32>, %a: memref<?xf64>, %e: memref<?xf64>, %y: memref<?xf64>, %m: index) attributes {tulle.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %m step %c1 {
    %lo32 = memref.load %pos[%i] : memref<?xi32>
    %lo = arith.index_castui %lo32 : i32 to index
    %i1 = arith.addi %i, %c1 : index
    %hi32 = memref.load %pos[%i1] : memref<?xi32>
    %hi = arith.index_castui %hi32 : i32 to index
    %sum = scf.for %k = %lo to %hi step %c1 iter_args(%s = %zero) -> f64 {
      %x = memref.load %a[%k] : memref<?xf64>
      %square = arith.mulf %x, %x fastmath<reassoc> : f64
      memref.store %square, %e[%k] : memref<?xf64>
      %next = arith.addf %s, %square fastmath<reassoc> : f64
      scf.yield %next : f64
    } {tulle.loop = #tulle.loop<reduction>}
    scf.for %k = %lo to %hi step %c1 {
      %x = memref.load %e[%k] : memref<?xf64>
      %q = arith.divf %x, %sum : f64
      memref.store %q, %y[%k] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  return
}
}
