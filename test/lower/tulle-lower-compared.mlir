// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-lower --canonicalize --cse | FileCheck %s
// RUN: tulle-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tulle-lower,convert-vector-to-llvm{enable-x86vector=true})' | FileCheck %s --check-prefix=LLVM

#SV = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>
#wide = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 64 }>

module attributes {tulle.cpu = #tulle.cpu<x86-64-v4, intersects = true>} {

// Where one instruction compares two blocks of sixteen coordinates it gives the lanes of both, which meet in their order. What is
// left fills blocks of eight, which are compared by rotations. Only much longer lists are leapt through.
// CHECK-LABEL: @compared
// LLVM-LABEL: @compared
func.func @compared(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: arith.muli %{{.*}}, %c20
  // CHECK: scf.while
  // CHECK: %[[K1:.*]], %[[K2:.*]] = x86vector.avx512.vp2intersect %{{.*}}, %{{.*}} : vector<16xi32>
  // CHECK-NOT: vector.shuffle
  // CHECK: %[[B1:.*]] = vector.bitcast %[[K1]] : vector<16xi1> to vector<1xi16>
  // CHECK: %[[B2:.*]] = vector.bitcast %[[K2]] : vector<16xi1> to vector<1xi16>
  // CHECK: scf.while (%[[L1:.*]] = %{{.*}}, %[[L2:.*]] = %{{.*}}) : (i64, i64) -> (i64, i64)
  // CHECK: ^bb0(%[[N1:.*]]: i64, %[[N2:.*]]: i64)
  // CHECK: math.cttz %[[N1]]
  // CHECK: math.cttz %[[N2]]
  // CHECK: "both"
  // CHECK: vector.load {{.*}} vector<8xi32>
  // CHECK: vector.load {{.*}} vector<8xi32>
  // CHECK-COUNT-7: vector.shuffle
  // CHECK: "both"
  // LLVM: llvm.call_intrinsic "llvm.x86.avx512.vp2intersect.d.512"
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  case "a & b" (%x, %y) {
    %v = tulle.load %a[%x : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %w = tulle.load %b[%y : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    "both"(%i, %v, %w) : (index, f64, f64) -> ()
  }
  return
}

// The last coordinates of both are read for themselves, before the blocks: the next ones wait for no vector.
// CHECK-LABEL: @never_leapt
func.func @never_leapt(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: scf.while
  // CHECK: arith.addi %{{.*}}, %c15
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: arith.index_castui
  // CHECK-NEXT: arith.addi %{{.*}}, %c15
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: arith.index_castui
  // CHECK-NEXT: vector.load {{.*}} vector<16xi32>
  // CHECK-NEXT: vector.load {{.*}} vector<16xi32>
  // CHECK-NEXT: x86vector.avx512.vp2intersect
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>) strategy = blocks
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  return
}

// The instruction has no form for sixteen coordinates of 64 bits.
// CHECK-LABEL: @rotated
func.func @rotated(%a: tensor<?xf64, #wide>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #wide> -> !tulle.space<#wide, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK-NOT: vp2intersect
  // CHECK: vector.load {{.*}} vector<16xi64>
  // CHECK-COUNT-15: vector.shuffle
  // CHECK: return
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#wide, 0>, !tulle.space<#SV, 0>)
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  return
}
}
