// RUN: tulle-opt %s --tulle-hoist-allocations --split-input-file | FileCheck %s

// Out of both loops, and the branch between them.
// CHECK-LABEL: func.func @row
// CHECK: %[[ROW:.*]] = memref.alloc(%arg1)
// CHECK-NEXT: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NEXT: memref.store %{{.*}}, %[[ROW]]
// CHECK-NOT: memref.dealloc
// CHECK: memref.dealloc %[[ROW]]
// CHECK-NEXT: return
func.func @row(%rows: index, %n: index, %some: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    scf.if %some {
      scf.for %j = %c0 to %n step %c1 {
        %row = memref.alloc(%n) : memref<?xf32>
        memref.store %x, %row[%j] : memref<?xf32>
        memref.dealloc %row : memref<?xf32>
      }
    }
  }
  return
}

// -----

// The size varies in the loop.
// CHECK-LABEL: func.func @triangle
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: memref.alloc(%[[I]])
func.func @triangle(%rows: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %row = memref.alloc(%i) : memref<?xf32>
    memref.store %x, %row[%c0] : memref<?xf32>
    memref.dealloc %row : memref<?xf32>
  }
  return
}

// -----

// No deallocation in its block: the memory may be in use beyond the iteration.
// CHECK-LABEL: func.func @kept
// CHECK: scf.for
// CHECK-NEXT: memref.alloc
func.func @kept(%rows: index, %n: index, %some: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %row = memref.alloc(%n) : memref<?xf32>
    scf.if %some {
      memref.dealloc %row : memref<?xf32>
    }
  }
  return
}

// -----

// A workspace that comes back filled is one for all iterations.
// CHECK-LABEL: func.func @filled
// CHECK: %[[WORKSPACE:.*]] = tulle.filled_buffer
// CHECK: scf.for
// CHECK-NOT: tulle.return_filled_buffer
// CHECK: }
// CHECK-NEXT: tulle.return_filled_buffer %[[WORKSPACE]]
func.func @filled(%rows: index, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %rows step %c1 {
    %row = tulle.filled_buffer %n, %zero : memref<?xf32>
    memref.store %x, %row[%c0] : memref<?xf32>
    memref.store %zero, %row[%c0] : memref<?xf32>
    tulle.return_filled_buffer %row, %zero : memref<?xf32>
  }
  return
}
