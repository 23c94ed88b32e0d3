// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-index-operands --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// The mask's row is met for every k: it is in a table before the loop over k, and the row of B is iterated alone, unless it is
// much longer. The table is made once, before the loop over rows, and given back behind it. 64 columns are known to be
// profitable.
// CHECK-LABEL: @masked
// CHECK: %[[SIZE:.*]] = tulle.level_size %arg2 level(1)
// CHECK: %[[TAKEN:.*]] = arith.minui %[[SIZE]], %c288230376151711744
// CHECK: %[[TABLE:.*]] = memref.alloc(%[[TAKEN]]) : memref<?xi32>
// CHECK: scf.for %[[C:.*]] = %{{.*}} to %[[SIZE]]
// CHECK-NEXT: memref.store %c-1_i32, %[[TABLE]][%[[C]]]
// CHECK: tulle.loop = #tulle.loop<parallel>
// CHECK: tulle.iterate %[[I:[^ ]*]] in
// CHECK: %[[ROW:.*]] = tulle.locate %arg2 level(0) at %[[I]]
// CHECK: %[[MASK:.*]] = tulle.space %arg2 level(1) under %[[ROW]]
// CHECK-NEXT: tulle.position_table %[[MASK]] in %[[TABLE]]
// CHECK-NEXT: tulle.iterate %[[K:.*]], %{{.*}} in
// CHECK: %[[B:.*]] = tulle.space %arg1 level(1)
// CHECK: %[[MASKED:.*]] = tulle.space_size %[[MASK]]
// CHECK: %[[LENGTH:.*]] = tulle.space_size %[[B]]
// CHECK: %[[MOST:.*]] = arith.muli %[[MASKED]], %c32
// CHECK: %[[SHORT:.*]] = arith.cmpi ule, %[[LENGTH]], %[[MOST]]
// CHECK: scf.if %[[SHORT]] {
// CHECK-NEXT: tulle.iterate %[[J:[^ ]*]], %[[AT:[^ ]*]] in %[[B]]
// CHECK-NEXT: %[[FOUND:.*]], %[[IS:.*]] = tulle.lookup %[[J]] of %[[MASK]] in %[[TABLE]]
// CHECK-NEXT: scf.if %[[IS]] {
// CHECK-NEXT: "entry"(%[[J]], %[[AT]], %[[FOUND]])
// CHECK-NEXT: } else {
// CHECK-NEXT: }
// CHECK: } else {
// CHECK-NEXT: tulle.coiterate {{.*}} strategy = gallop
// CHECK: memref.dealloc %[[TABLE]]
// CHECK-NEXT: return
func.func @masked(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x64xf64, #CSR>, %M: tensor<?x64xf64, #CSR>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %all = tulle.range %c0 to %rows
  tulle.iterate %i in %all : !tulle.range {
    %ai = tulle.locate %A level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %mi = tulle.locate %M level(0) at %i : tensor<?x64xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %sa = tulle.space %A level(1) under %ai : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    tulle.iterate %k, %ak in %sa : !tulle.space<#CSR, 1> loop = <reduction> {
      %bk = tulle.locate %B level(0) at %k : tensor<?x64xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %sb = tulle.space %B level(1) under %bk : !tulle.iterator<#CSR, 0> : tensor<?x64xf64, #CSR> -> !tulle.space<#CSR, 1>
      %sm = tulle.space %M level(1) under %mi : !tulle.iterator<#CSR, 0> : tensor<?x64xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.coiterate %j in "a & b" (%sb, %sm : !tulle.space<#CSR, 1>, !tulle.space<#CSR, 1>) loop = <reduction> strategy = auto
      case "a & b" (%x, %y) {
        "entry"(%j, %x, %y) : (index, !tulle.iterator<#CSR, 1>, !tulle.iterator<#CSR, 1>) -> ()
      }
    }
  }
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// Two rows are read from tables, one of which must not have the coordinate. How many columns there are is known when the code
// runs: a table of far more of them than there are entries is not made, and the rows are merged.
// CHECK-LABEL: @difference
// CHECK-DAG: %[[MENTRIES:.*]] = tulle.stored_count %arg1
// CHECK-DAG: %[[MMOST:.*]] = arith.muli %[[MENTRIES]], %c16
// CHECK: %[[MWORTH:.*]] = arith.cmpi ule
// CHECK: arith.select %[[MWORTH]]
// CHECK: memref.alloc
// CHECK: %[[NWORTH:.*]] = arith.cmpi ule
// CHECK: memref.alloc
// CHECK: tulle.iterate
// CHECK: scf.if %[[MWORTH]] {
// CHECK-NEXT: tulle.position_table
// CHECK: scf.if %[[NWORTH]] {
// CHECK-NEXT: tulle.position_table
// CHECK: tulle.iterate
// CHECK: %[[BOTH:.*]] = arith.andi %[[MWORTH]], %[[NWORTH]]
// CHECK: scf.if %[[BOTH]] {
// CHECK-NEXT: tulle.iterate
// CHECK: %[[AT:.*]], %[[INM:.*]] = tulle.lookup
// CHECK: %{{.*}}, %[[INN:.*]] = tulle.lookup
// CHECK: %[[NOTN:.*]] = arith.xori %[[INN]], %true
// CHECK: %[[CASE:.*]] = arith.andi %[[INM]], %[[NOTN]]
// CHECK: scf.if %[[CASE]] {
// CHECK-NEXT: "entry"(%{{.*}}, %{{.*}}, %[[AT]])
// CHECK-NEXT: } else {
// CHECK-NEXT: }
// CHECK: } else {
// CHECK-NEXT: tulle.coiterate
// CHECK: memref.dealloc
// CHECK: memref.dealloc
func.func @difference(%B: tensor<?x?xf64, #CSR>, %M: tensor<?x?xf64, #CSR>, %N: tensor<?x?xf64, #CSR>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %B, %c0 : tensor<?x?xf64, #CSR>
  %all = tulle.range %c0 to %rows
  tulle.iterate %i in %all : !tulle.range {
    %mi = tulle.locate %M level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %ni = tulle.locate %N level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    tulle.iterate %k in %all : !tulle.range loop = <reduction> {
      %bk = tulle.locate %B level(0) at %k : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %sb = tulle.space %B level(1) under %bk : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      %sm = tulle.space %M level(1) under %mi : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      %sn = tulle.space %N level(1) under %ni : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.coiterate %j in "a & b \\ c" (%sb, %sm, %sn : !tulle.space<#CSR, 1>, !tulle.space<#CSR, 1>, !tulle.space<#CSR, 1>) loop = <reduction> strategy = auto
      case "a & b" (%x, %y) {
        "entry"(%j, %x, %y) : (index, !tulle.iterator<#CSR, 1>, !tulle.iterator<#CSR, 1>) -> ()
      }
    }
  }
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>

// Met once: a table would be written for one traversal.
// CHECK-LABEL: @once
// CHECK-NOT: tulle.position_table
// CHECK: tulle.coiterate
func.func @once(%a: tensor<8xf64, #SV>, %b: tensor<8xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<8xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<8xf64, #SV> -> !tulle.space<#SV, 0>
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>) loop = <reduction> strategy = auto
  case "a & b" (%x, %y) {
    "entry"(%i) : (index) -> ()
  }
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>

// What only one of them has is visited, too: all are iterated.
// CHECK-LABEL: @either
// CHECK-NOT: tulle.position_table
// CHECK: tulle.coiterate
func.func @either(%A: tensor<?x8xf64, #CSR>, %b: tensor<8xf64, #SV>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %A, %c0 : tensor<?x8xf64, #CSR>
  %all = tulle.range %c0 to %rows
  tulle.iterate %i in %all : !tulle.range {
    %ai = tulle.locate %A level(0) at %i : tensor<?x8xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %sa = tulle.space %A level(1) under %ai : !tulle.iterator<#CSR, 0> : tensor<?x8xf64, #CSR> -> !tulle.space<#CSR, 1>
    %sb = tulle.space %b level(0) : tensor<8xf64, #SV> -> !tulle.space<#SV, 0>
    tulle.coiterate %j in "a | b" (%sa, %sb : !tulle.space<#CSR, 1>, !tulle.space<#SV, 0>) loop = <reduction> strategy = auto
    case "a & b" (%x, %y) {
      "entry"(%j) : (index) -> ()
    }
    case "a" (%x) {
      "entry"(%j) : (index) -> ()
    }
    case "b" (%y) {
      "entry"(%j) : (index) -> ()
    }
  }
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed), posWidth = 32, crdWidth = 32 }>

// Which rows B has is the same for all rows of A: their table is written once, before all loops. The sum travels through the
// cases.
// CHECK-LABEL: @rows_of_b
// CHECK: %[[TABLE:.*]] = memref.alloc
// CHECK: %[[ROWS:.*]] = tulle.space %arg1 level(0)
// CHECK-NEXT: tulle.position_table %[[ROWS]] in %[[TABLE]]
// CHECK-NEXT: tulle.iterate %[[I:[^ ]*]] in
// CHECK: scf.if %{{.*}} -> (f64) {
// CHECK-NEXT: tulle.iterate %[[K:.*]], %{{.*}} in %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f64)
// CHECK-NEXT: %[[AT:.*]], %[[FOUND:.*]] = tulle.lookup %[[K]] of %[[ROWS]] in %[[TABLE]]
// CHECK-NEXT: scf.if %[[FOUND]] -> (f64) {
// CHECK: tulle.space %arg1 level(1) under %[[AT]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[SUM]] : f64
// CHECK: tulle.coiterate
func.func @rows_of_b(%A: tensor<?x64xf64, #CSR>, %B: tensor<64x?xf64, #DCSR>, %zero: f64) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %A, %c0 : tensor<?x64xf64, #CSR>
  %all = tulle.range %c0 to %rows
  tulle.iterate %i in %all : !tulle.range {
    %ai = tulle.locate %A level(0) at %i : tensor<?x64xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %sa = tulle.space %A level(1) under %ai : !tulle.iterator<#CSR, 0> : tensor<?x64xf64, #CSR> -> !tulle.space<#CSR, 1>
    %sb = tulle.space %B level(0) : tensor<64x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
    %r = tulle.coiterate %k in "a & b" (%sa, %sb : !tulle.space<#CSR, 1>, !tulle.space<#DCSR, 0>) iter_args(%acc = %zero) -> (f64) loop = <reduction> strategy = auto
    case "a & b" (%x, %y) {
      %row = tulle.space %B level(1) under %y : !tulle.iterator<#DCSR, 0> : tensor<64x?xf64, #DCSR> -> !tulle.space<#DCSR, 1>
      %s = tulle.iterate %j, %at in %row : !tulle.space<#DCSR, 1> iter_args(%t = %acc) -> (f64) loop = <reduction> {
        %v = tulle.load %B[%at : !tulle.iterator<#DCSR, 1>] : tensor<64x?xf64, #DCSR> -> f64
        %u = arith.addf %t, %v : f64
        tulle.yield %u : f64
      }
      tulle.yield %s : f64
    }
    "sum"(%r) : (f64) -> ()
  }
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>

// A sum without a loop inside: blocks of coordinates are compared.
// CHECK-LABEL: @dot
// CHECK-NOT: tulle.position_table
// CHECK: tulle.coiterate
func.func @dot(%A: tensor<?x8xf64, #CSR>, %b: tensor<8xf64, #SV>, %zero: f64) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %A, %c0 : tensor<?x8xf64, #CSR>
  %all = tulle.range %c0 to %rows
  tulle.iterate %i in %all : !tulle.range {
    %ai = tulle.locate %A level(0) at %i : tensor<?x8xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %sa = tulle.space %A level(1) under %ai : !tulle.iterator<#CSR, 0> : tensor<?x8xf64, #CSR> -> !tulle.space<#CSR, 1>
    %sb = tulle.space %b level(0) : tensor<8xf64, #SV> -> !tulle.space<#SV, 0>
    %r = tulle.coiterate %k in "a & b" (%sa, %sb : !tulle.space<#CSR, 1>, !tulle.space<#SV, 0>) iter_args(%acc = %zero) -> (f64) loop = <reduction> strategy = auto
    case "a & b" (%x, %y) {
      %v = tulle.load %A[%x : !tulle.iterator<#CSR, 1>] : tensor<?x8xf64, #CSR> -> f64
      %u = arith.addf %acc, %v : f64
      tulle.yield %u : f64
    }
    "sum"(%r) : (f64) -> ()
  }
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#R = #tulle.encoding<{ map = (i, j) -> (i : dense, j : ragged), posWidth = 32, crdWidth = 32 }>

// The coordinates of a ragged row are at addresses: no table is needed, and no loop around.
// CHECK-LABEL: @addressed
// CHECK-NOT: memref.alloc
// CHECK: %[[A:.*]] = tulle.space %arg0 level(1)
// CHECK: tulle.iterate %[[J:[^ ]*]], %[[AT:[^ ]*]] in %[[A]] : !tulle.space<#{{.*}}, 1> iter_args(%[[ACC:.*]] = %
// CHECK-NEXT: %[[ROW:.*]], %[[FOUND:.*]] = tulle.search %arg1 level(1) under %{{.*}} at %[[J]]
// CHECK: scf.if %{{.*}} -> (f64) {
// CHECK: tulle.load %arg0[%[[AT]]
// CHECK: tulle.load %arg1[%[[ROW]]
// CHECK-NOT: tulle.coiterate
func.func @addressed(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #R>, %i: index) -> f64 {
  %zero = arith.constant 0.0 : f64
  %ai = tulle.locate %A level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
  %bi = tulle.locate %B level(0) at %i : tensor<?x?xf64, #R> -> !tulle.iterator<#R, 0>
  %sa = tulle.space %A level(1) under %ai : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
  %sb = tulle.space %B level(1) under %bi : !tulle.iterator<#R, 0> : tensor<?x?xf64, #R> -> !tulle.space<#R, 1>
  %r = tulle.coiterate %j in "a & b" (%sa, %sb : !tulle.space<#CSR, 1>, !tulle.space<#R, 1>) iter_args(%acc = %zero) -> (f64) loop = <reduction> strategy = auto
  case "a & b" (%x, %y) {
    %u = tulle.load %A[%x : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
    %v = tulle.load %B[%y : !tulle.iterator<#R, 1>] : tensor<?x?xf64, #R> -> f64
    %p = arith.mulf %u, %v : f64
    %n = arith.addf %acc, %p : f64
    tulle.yield %n : f64
  }
  return %r : f64
}
