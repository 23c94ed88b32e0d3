// RUN: tulle-opt %s --canonicalize | FileCheck %s

// What a loop over a space adds up entry by entry is the number of its entries.

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#ELL = #tulle.encoding<{ map = (i, j) -> (i : dense, j : fixed[2]), posWidth = 32, crdWidth = 32 }>

// CHECK-LABEL: @memory(
// CHECK: %[[SPACE:.*]] = tulle.space
// CHECK-NOT: tulle.iterate
// CHECK: %[[SIZE:.*]] = tulle.space_size %[[SPACE]]
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[SIZE]] : index to i32
// CHECK: %[[OLD:.*]] = memref.load %{{.*}}[%[[AT:.*]]]
// CHECK: %[[NEW:.*]] = arith.addi %[[OLD]], %[[WIDE]]
// CHECK: memref.store %[[NEW]], %{{.*}}[%[[AT]]]
func.func @memory(%A: tensor<?x?xf64, #CSR>, %p: !tulle.iterator<#CSR, 0>, %counts: memref<?xi32>, %i: index) {
  %one = arith.constant 1 : i32
  %c2 = arith.constant 2 : index
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
  tulle.iterate %j, %q in %s : !tulle.space<#CSR, 1> loop = <reduction> {
    %at = arith.addi %i, %c2 : index
    %old = memref.load %counts[%at] : memref<?xi32>
    %new = arith.addi %old, %one : i32
    memref.store %new, %counts[%at] : memref<?xi32>
  }
  return
}

// CHECK-LABEL: @carried(
// CHECK-NOT: tulle.iterate
// CHECK: %[[SIZE:.*]] = tulle.space_size
// CHECK: arith.addi %{{.*}}, %[[SIZE]] : index
func.func @carried(%A: tensor<?x?xf64, #CSR>, %p: !tulle.iterator<#CSR, 0>, %start: index) -> index {
  %one = arith.constant 1 : index
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
  %n = tulle.iterate %j, %q in %s : !tulle.space<#CSR, 1> iter_args(%k = %start) -> (index) loop = <reduction> {
    %next = arith.addi %k, %one : index
    tulle.yield %next : index
  }
  return %n : index
}

// Another place for each entry: nothing to sum up.
// CHECK-LABEL: @columns(
// CHECK: tulle.iterate
func.func @columns(%A: tensor<?x?xf64, #CSR>, %p: !tulle.iterator<#CSR, 0>, %counts: memref<?xi32>) {
  %one = arith.constant 1 : i32
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
  tulle.iterate %j, %q in %s : !tulle.space<#CSR, 1> loop = <reduction> {
    %old = memref.load %counts[%j] : memref<?xi32>
    %new = arith.addi %old, %one : i32
    memref.store %new, %counts[%j] : memref<?xi32>
  }
  return
}

// Some slots are empty, and only the loop sees which.
// CHECK-LABEL: @slots(
// CHECK: tulle.iterate
func.func @slots(%A: tensor<?x?xf64, #ELL>, %p: !tulle.iterator<#ELL, 0>, %start: index) -> index {
  %one = arith.constant 1 : index
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#ELL, 0> : tensor<?x?xf64, #ELL> -> !tulle.space<#ELL, 1>
  %n = tulle.iterate %j, %q in %s : !tulle.space<#ELL, 1> iter_args(%k = %start) -> (index) loop = <reduction> {
    %next = arith.addi %k, %one : index
    tulle.yield %next : index
  }
  return %n : index
}
