// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-register-tiles))' | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-tile-rows,tulle-register-tiles))' | FileCheck %s --check-prefix=ROWS

// The loop behind a row's sums takes them from registers: nothing of C is in memory, which is not allocated.
// CHECK-LABEL: func.func @use(
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[V:[a-z0-9]*]]: memref<?xf64>
// CHECK-NOT: memref.alloc
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c64
// CHECK-NOT: vector.store
// CHECK: %[[SUMS:.*]]:4 = scf.for
// CHECK: scf.yield
// CHECK: %[[OF:.*]] = arith.addi %[[ROW]], %{{.*}}
// CHECK: %[[AT:.*]] = arith.addi %[[OF]], %c0
// CHECK: %[[X0:.*]] = vector.load %[[X]][%[[AT]]] : memref<?xf64>, vector<8xf64>
// CHECK: %[[V0:.*]] = arith.subf %[[SUMS]]#0, %[[X0]]
// CHECK: vector.store %[[V0]], %[[V]][%[[AT]]]
// CHECK-COUNT-3: vector.store %{{.*}}, %[[V]]
// CHECK-NOT: memref.load %[[X]]
// CHECK-NOT: memref.dealloc

// Several rows at a time, each with what it uses.
// ROWS-LABEL: func.func @use(
// ROWS-SAME: %[[A:[a-z0-9]*]]: memref<?xf64>, %[[B:[a-z0-9]*]]: memref<?xf64>, %[[X:[a-z0-9]*]]: memref<?xf64>, %[[V:[a-z0-9]*]]: memref<?xf64>
// ROWS-NOT: memref.alloc
// ROWS: %[[SUMS:.*]]:{{.*}} = scf.for
// ROWS: arith.subf %[[SUMS]]#0, %{{.*}} : vector<{{[48]}}xf64>
// ROWS: vector.store %{{.*}}, %[[V]]
// ROWS-LABEL: func.func @used_twice
func.func @use(%a: memref<?xf64>, %b: memref<?xf64>, %x: memref<?xf64>, %v: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f64
  %c = memref.alloc() : memref<64xf64>
  scf.for %i = %c0 to %n step %c1 {
    %of = arith.muli %i, %c32 : index
    scf.for %j = %c0 to %c64 step %c1 {
      memref.store %zero, %c[%j] : memref<64xf64>
    } {tulle.loop = #tulle.loop<parallel>}
    scf.for %k = %c0 to %c32 step %c1 {
      %ai = arith.addi %of, %k : index
      %av = memref.load %a[%ai] : memref<?xf64>
      %br = arith.muli %k, %c64 : index
      scf.for %j = %c0 to %c64 step %c1 {
        %bi = arith.addi %br, %j : index
        %bv = memref.load %b[%bi] : memref<?xf64>
        %cv = memref.load %c[%j] : memref<64xf64>
        %m = arith.mulf %av, %bv : f64
        %s = arith.addf %cv, %m : f64
        memref.store %s, %c[%j] : memref<64xf64>
      } {tulle.loop = #tulle.loop<parallel>}
    } {tulle.loop = #tulle.loop<reduction>}
    %row = arith.muli %i, %c64 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %cv = memref.load %c[%j] : memref<64xf64>
      %at = arith.addi %row, %j : index
      %xv = memref.load %x[%at] : memref<?xf64>
      %d = arith.subf %cv, %xv : f64
      memref.store %d, %v[%at] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<parallel>}
  memref.dealloc %c : memref<64xf64>
  return
}

// What something else reads, too, is stored.
// CHECK-LABEL: func.func @used_twice
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: vector.store %{{.*}}, %[[C]]
// CHECK: memref.load %[[C]]
// CHECK: memref.dealloc %[[C]]
func.func @used_twice(%a: memref<?xf64>, %b: memref<?xf64>, %v: memref<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f64
  %c = memref.alloc() : memref<64xf64>
  scf.for %j = %c0 to %c64 step %c1 {
    memref.store %zero, %c[%j] : memref<64xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %k = %c0 to %c32 step %c1 {
    %av = memref.load %a[%k] : memref<?xf64>
    %br = arith.muli %k, %c64 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %bi = arith.addi %br, %j : index
      %bv = memref.load %b[%bi] : memref<?xf64>
      %cv = memref.load %c[%j] : memref<64xf64>
      %m = arith.mulf %av, %bv : f64
      %s = arith.addf %cv, %m : f64
      memref.store %s, %c[%j] : memref<64xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  scf.for %j = %c0 to %c64 step %c1 {
    %cv = memref.load %c[%j] : memref<64xf64>
    %d = arith.mulf %cv, %cv : f64
    memref.store %d, %v[%j] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  %first = memref.load %c[%c0] : memref<64xf64>
  memref.dealloc %c : memref<64xf64>
  return %first : f64
}

// A tile that is stored early would change what the next one reads: the loop writes an operand of the sums.
// CHECK-LABEL: func.func @writes_an_operand
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: vector.store %{{.*}}, %[[C]]
func.func @writes_an_operand(%a: memref<?xf64>, %b: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f64
  %c = memref.alloc() : memref<64xf64>
  scf.for %j = %c0 to %c64 step %c1 {
    memref.store %zero, %c[%j] : memref<64xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %k = %c0 to %c32 step %c1 {
    %av = memref.load %a[%k] : memref<?xf64>
    %br = arith.muli %k, %c64 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %bi = arith.addi %br, %j : index
      %bv = memref.load %b[%bi] : memref<?xf64>
      %cv = memref.load %c[%j] : memref<64xf64>
      %m = arith.mulf %av, %bv : f64
      %s = arith.addf %cv, %m : f64
      memref.store %s, %c[%j] : memref<64xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  scf.for %j = %c0 to %c64 step %c1 {
    %cv = memref.load %c[%j] : memref<64xf64>
    memref.store %cv, %b[%j] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  memref.dealloc %c : memref<64xf64>
  return
}
