// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-vectorize))' | FileCheck %s

// Sums of a constant number of elements that lie together.
module attributes {tulle.cpu = #tulle.cpu<znver4>} {

// Seven of f32: one masked vector, no loop and no scalars.
// CHECK-LABEL: func.func @seven(
// CHECK-NOT: scf.for
// CHECK: vector.create_mask
// CHECK: vector.maskedload
// CHECK: vector.reduction
// CHECK-NOT: scf.for
// CHECK: return
func.func @seven(%a: memref<?xf32>, %b: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) {
    %x = memref.load %a[%k] : memref<?xf32>
    %y = memref.load %b[%k] : memref<?xf32>
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    scf.yield %s : f32
  } {tulle.loop = #tulle.loop<reduction>}
  return %sum : f32
}

// Twenty: two wide vectors, the second of four.
// CHECK-LABEL: func.func @twenty(
// CHECK-NOT: scf.for
// CHECK: vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: vector.maskedload {{.*}} vector<16xf32>
// CHECK: vector.reduction
// CHECK-NOT: scf.for
// CHECK: return
func.func @twenty(%a: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 20 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) {
    %x = memref.load %a[%k] : memref<?xf32>
    %s = arith.addf %acc, %x fastmath<reassoc,contract> : f32
    scf.yield %s : f32
  } {tulle.loop = #tulle.loop<reduction>}
  return %sum : f32
}

// Three are left to LLVM, as are stores of a few elements.
// CHECK-LABEL: func.func @three(
// CHECK-NOT: vector.
// CHECK: return
func.func @three(%a: memref<?xf32>, %c: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %seven = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) {
    %x = memref.load %a[%k] : memref<?xf32>
    %s = arith.addf %acc, %x fastmath<reassoc,contract> : f32
    scf.yield %s : f32
  } {tulle.loop = #tulle.loop<reduction>}
  scf.for %k = %c0 to %seven step %c1 {
    memref.store %sum, %c[%k] : memref<?xf32>
  } {tulle.loop = #tulle.loop<parallel>}
  return %sum : f32
}

}
