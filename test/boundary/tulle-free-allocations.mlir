// RUN: tulle-opt %s --tulle-free-allocations | FileCheck %s

// Two buffers that a loop exchanges, and a view: each is freed once, behind all uses.
// CHECK-LABEL: @exchanged
// CHECK: %[[A:.*]] = memref.alloc(
// CHECK: %[[B:.*]] = memref.alloc(
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK: memref.load %[[R]]#0
// CHECK: memref.load
// CHECK: memref.dealloc %[[A]]
// CHECK-NEXT: memref.dealloc %[[B]]
// CHECK-NEXT: return
func.func @exchanged(%n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf64>
  %b = memref.alloc(%n) : memref<?xf64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<?xf64>, memref<?xf64>) {
    scf.yield %y, %x : memref<?xf64>, memref<?xf64>
  }
  %v = memref.load %r#0[%c0] : memref<?xf64>
  %s = memref.subview %b[%c1] [%n] [1] : memref<?xf64> to memref<?xf64, strided<[1], offset: ?>>
  %w = memref.load %s[%c0] : memref<?xf64, strided<[1], offset: ?>>
  %z = arith.addf %v, %w : f64
  return %z : f64
}

// What is returned, freed, or taken over by a loop that frees it stays.
// CHECK-LABEL: @kept
// CHECK-COUNT-2: memref.dealloc
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @kept(%n: index, %small: i1) -> memref<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf64>
  %b = memref.alloc(%n) : memref<?xf64>
  %c = memref.alloc(%n) : memref<?xf64>
  memref.dealloc %b : memref<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c) -> memref<?xf64> {
    %y = memref.alloc(%i) : memref<?xf64>
    memref.dealloc %x : memref<?xf64>
    scf.yield %y : memref<?xf64>
  }
  %t = scf.if %small -> memref<?xf64> {
    scf.yield %a : memref<?xf64>
  } else {
    scf.yield %r : memref<?xf64>
  }
  return %t : memref<?xf64>
}
