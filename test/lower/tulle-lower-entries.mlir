// RUN: tulle-opt %s --tulle-lower --canonicalize --split-input-file | FileCheck %s

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), posWidth = 32, crdWidth = 32 }>

// Nothing asks which entries have one row: they are counted, and no coordinate is read.
// CHECK-LABEL: func.func @sum(
// CHECK: scf.for
// CHECK-NOT: scf.while
// CHECK: memref.load
// CHECK-NEXT: arith.addf
// CHECK: return
func.func @sum(%A: tensor<?x?xf64, #COO> {tulle.name = "A"}) -> f64 {
  %zero = arith.constant 0.0 : f64
  %rows = tulle.space %A level(0) : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 0>
  %sum = tulle.iterate %i, %row in %rows : !tulle.space<#COO, 0> iter_args(%a = %zero) -> (f64) loop = <reduction, index = i> {
    %entries = tulle.space %A level(1) under %row : !tulle.iterator<#COO, 0> : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 1>
    %part = tulle.iterate %j, %entry in %entries : !tulle.space<#COO, 1> iter_args(%b = %a) -> (f64) loop = <reduction, index = j> {
      %v = tulle.load %A[%entry : !tulle.iterator<#COO, 1>] : tensor<?x?xf64, #COO> -> f64
      %s = arith.addf %b, %v : f64
      tulle.yield %s : f64
    }
    tulle.yield %part : f64
  }
  return %sum : f64
}

// -----

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), posWidth = 32, crdWidth = 32 }>

// The number of rows that store something: entries of one row are one.
// CHECK-LABEL: func.func @rows(
// CHECK: scf.while
func.func @rows(%A: tensor<?x?xf64, #COO> {tulle.name = "A"}) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = tulle.space %A level(0) : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 0>
  %count = tulle.iterate %i, %row in %rows : !tulle.space<#COO, 0> iter_args(%a = %zero) -> (index) loop = <reduction, index = i> {
    %next = arith.addi %a, %one : index
    tulle.yield %next : index
  }
  return %count : index
}

// -----

#COO3 = #tulle.encoding<{ map = (i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton), posWidth = 32, crdWidth = 32 }>

// The loop over the rows only iterates over what is below, but that counts the fibers, of which each has its entries.
// CHECK-LABEL: func.func @fibers(
// CHECK: scf.while
// CHECK: scf.while
func.func @fibers(%A: tensor<?x?x?xf64, #COO3> {tulle.name = "A"}) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = tulle.space %A level(0) : tensor<?x?x?xf64, #COO3> -> !tulle.space<#COO3, 0>
  %count = tulle.iterate %i, %row in %rows : !tulle.space<#COO3, 0> iter_args(%a = %zero) -> (index) loop = <reduction, index = i> {
    %fibers = tulle.space %A level(1) under %row : !tulle.iterator<#COO3, 0> : tensor<?x?x?xf64, #COO3> -> !tulle.space<#COO3, 1>
    %part = tulle.iterate %j, %fiber in %fibers : !tulle.space<#COO3, 1> iter_args(%b = %a) -> (index) loop = <reduction, index = j> {
      %next = arith.addi %b, %one : index
      tulle.yield %next : index
    }
    tulle.yield %part : index
  }
  return %count : index
}
