// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s
// RUN: sed 's/znver4/znver3/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s --check-prefix=NOMASKS

// A row's segment goes elsewhere: masked vectors, where masks cost nothing, as many lanes as a line has of the widest element.
// CHECK-LABEL: func.func @moved_rows
// CHECK: scf.for
// CHECK: scf.for %[[P:.*]] = %[[BEGIN:.*]] to %[[END:.*]] step %{{.*}} {
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[P]]
// CHECK: %[[SOME:.*]] = arith.minsi %[[LEFT]], %c8
// CHECK: %[[MASK:.*]] = vector.create_mask %[[SOME]] : vector<8xi1>
// CHECK: vector.maskedload %{{.*}}[%[[P]]], %[[MASK]]{{.*}} vector<8xi32>
// CHECK: vector.maskedload %{{.*}}[%[[P]]], %[[MASK]]{{.*}} vector<8xf64>
// CHECK: vector.maskedstore %{{.*}}, %[[MASK]]
// CHECK: vector.maskedstore %{{.*}}, %[[MASK]]
// CHECK-NOT: memref.store

// NOMASKS-LABEL: func.func @moved_rows
// NOMASKS-NOT: vector.
// NOMASKS-LABEL: func.func @one_segment
module attributes {tulle.cpu = #tulle.cpu<znver4>} {
func.func @moved_rows(%pos: memref<?xi32>, %crd: memref<?xi32>, %val: memref<?xf64>, %crd2: memref<?xi32>, %val2: memref<?xf64>, %m: index, %by: index) attributes {tulle.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    %lo32 = memref.load %pos[%i] : memref<?xi32>
    %lo = arith.index_castui %lo32 : i32 to index
    %next = arith.addi %i, %c1 : index
    %hi32 = memref.load %pos[%next] : memref<?xi32>
    %hi = arith.index_castui %hi32 : i32 to index
    scf.for %p = %lo to %hi step %c1 {
      %j = memref.load %crd[%p] : memref<?xi32>
      %v = memref.load %val[%p] : memref<?xf64>
      %to = arith.addi %p, %by : index
      memref.store %j, %crd2[%to] : memref<?xi32>
      memref.store %v, %val2[%to] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}

// One segment in all, and one that stays where it is, are LLVM's.
// CHECK-LABEL: func.func @one_segment
// CHECK-NOT: vector.
func.func @one_segment(%pos: memref<?xi32>, %val: memref<?xf64>, %val2: memref<?xf64>, %m: index, %by: index) attributes {tulle.noalias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lo32 = memref.load %pos[%c0] : memref<?xi32>
  %lo = arith.index_castui %lo32 : i32 to index
  %hi32 = memref.load %pos[%c1] : memref<?xi32>
  %hi = arith.index_castui %hi32 : i32 to index
  scf.for %p = %lo to %hi step %c1 {
    %v = memref.load %val[%p] : memref<?xf64>
    %to = arith.addi %p, %by : index
    memref.store %v, %val2[%to] : memref<?xf64>
  } {tulle.loop = #tulle.loop<parallel>}
  scf.for %i = %c0 to %m step %c1 {
    scf.for %p = %lo to %hi step %c1 {
      %v = memref.load %val[%p] : memref<?xf64>
      memref.store %v, %val2[%p] : memref<?xf64>
    } {tulle.loop = #tulle.loop<parallel>}
  } {tulle.loop = #tulle.loop<reduction>}
  return
}
}
