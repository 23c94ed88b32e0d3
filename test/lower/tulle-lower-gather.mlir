// RUN: tulle-opt %s --tulle-lower-gather --canonicalize | FileCheck %s

// CHECK-LABEL: @gather
// CHECK-SAME: (%[[X:.*]]: memref<2x3x4xf32>, %[[P:.*]]: memref<?x1xi32>, %[[Y:.*]]: memref<?x2x4xf32>)
func.func @gather(%x: memref<2x3x4xf32>, %p: memref<?x1xi32>, %y: memref<?x2x4xf32>) {
  // CHECK: %[[N:.*]] = memref.dim %[[P]], %c0
  // CHECK: scf.for %[[B:.*]] = %c0 to %[[N]]
  // CHECK-NEXT: %[[I:.*]] = memref.load %[[P]][%[[B]], %c0]
  // CHECK-NEXT: %[[J:.*]] = arith.index_cast %[[I]] : i32 to index
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ult, %[[J]], %c3
  // CHECK-NEXT: cf.assert %[[INSIDE]], "an integer of the indices is no coordinate of dimension 1"
  // CHECK-NEXT: scf.for %[[S:.*]] = %c0 to %c2
  // CHECK-NEXT: scf.for %[[T:.*]] = %c0 to %c4
  // CHECK-NEXT: %[[V:.*]] = memref.load %[[X]][%[[S]], %[[J]], %[[T]]]
  // CHECK-NEXT: memref.store %[[V]], %[[Y]][%[[B]], %[[S]], %[[T]]]
  tulle.gather %x[%p] coordinates = [1] into %y : memref<2x3x4xf32>[memref<?x1xi32>] into memref<?x2x4xf32>
  return
}

// CHECK-LABEL: @dropped
func.func @dropped(%y: memref<5xf32>, %z: memref<4x4xf32>, %p: memref<5x2xindex>) {
  // CHECK: scf.for
  // CHECK: %[[BOTH:.*]] = arith.andi
  // CHECK-NEXT: scf.if %[[BOTH]] {
  // CHECK-NEXT: memref.load %arg0
  // CHECK-NEXT: memref.store %{{.*}}, %arg1
  tulle.scatter %y into %z[%p] outside nothing : memref<5xf32> into memref<4x4xf32>[memref<5x2xindex>]
  return
}

// A flag for each pair of coordinates: given twice, it is set already.
// CHECK-LABEL: @unique
func.func @unique(%y: memref<5x3xf32>, %z: memref<4x3x6xf32>, %p: memref<5x2xindex>) {
  // CHECK: %[[MET:.*]] = memref.alloc(){{.*}} : memref<4x6xi1>
  // CHECK: memref.store %false, %[[MET]]
  // CHECK: cf.assert %{{.*}}, "an integer of the indices is no coordinate of dimension 0"
  // CHECK: cf.assert %{{.*}}, "an integer of the indices is no coordinate of dimension 2"
  // CHECK-NEXT: %[[BEFORE:.*]] = memref.load %[[MET]][%[[I:.*]], %[[K:.*]]]
  // CHECK-NEXT: %[[NEW:.*]] = arith.xori %[[BEFORE]], %true
  // CHECK-NEXT: cf.assert %[[NEW]], "the indices give a coordinate twice, which `unique` says they do not"
  // CHECK-NEXT: memref.store %true, %[[MET]][%[[I]], %[[K]]]
  // CHECK-NEXT: scf.for
  // CHECK: memref.dealloc %[[MET]]
  tulle.scatter unique %y into %z[%p] coordinates = [0, 2] : memref<5x3xf32> into memref<4x3x6xf32>[memref<5x2xindex>]
  return
}

// CHECK-LABEL: @nearest
func.func @nearest(%x: memref<4xf32>, %p: memref<5x1xindex>, %y: memref<5xf32>) {
  // CHECK: %[[LOW:.*]] = arith.minsi %{{.*}}, %c3
  // CHECK: arith.maxsi %[[LOW]], %c0
  tulle.gather %x[%p] outside nearest into %y : memref<4xf32>[memref<5x1xindex>] into memref<5xf32>
  return
}

// CHECK-LABEL: @view
func.func @view(%x: memref<4x?xf32>, %p: memref<?x1xindex>, %rows: memref<?xmemref<?xf32, strided<[1], offset: ?>>>) {
  // CHECK: scf.for %[[B:.*]] =
  // CHECK: %[[ROW:.*]] = memref.subview %arg0[%{{.*}}, 0] [1, %{{.*}}] [1, 1] : memref<4x?xf32> to memref<?xf32, strided<[1], offset: ?>>
  // CHECK-NEXT: memref.store %[[ROW]], %arg2[%[[B]]]
  tulle.gather view %x[%p] coordinates = [0] into %rows : memref<4x?xf32>[memref<?x1xindex>] into memref<?xmemref<?xf32, strided<[1], offset: ?>>>
  return
}
