// RUN: sed s/LENGTH/4/ %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s --check-prefix=SHORT
// RUN: sed s/LENGTH/16/ %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s --check-prefix=LONG
// RUN: sed 's/LENGTH/4/; s/znver5/znver4/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s --check-prefix=SHORT
// RUN: sed 's/LENGTH/8/; s/znver5/znver4/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s --check-prefix=LONG
// RUN: sed 's/, tulle.segment_length = LENGTH : i64//; s/znver5/znver4/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s --check-prefix=LONG

// Where inactive lanes cost something (no masks), functions of rows that are shorter than a vector run over a block; rows as long as
// a vector of eight are done one after the other, and what they pass on stays in registers. With masks, so are rows of which it is not
// known that they are shorter.
// SHORT: tulle.iterate %i_block
// SHORT: tulle.iterate %i,
// SHORT: math.exp
// SHORT: tulle.iterate %i,
// SHORT: tulle.store
// LONG: tulle.iterate %i_block
// LONG: tulle.iterate %i,
// LONG: math.exp
// LONG-NOT: tulle.iterate %i,
// LONG: tulle.store
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
module attributes {tulle.cpu = #tulle.cpu<znver5>} {
  func.func @exp_sums(%A: tensor<?x?xf64, #CSR> {tulle.name = "A", tulle.segment_length = LENGTH : i64}, %E: tensor<?x?xf64, #CSR> {tulle.name = "E"},
                      %P: tensor<?x?xf64, #CSR> {tulle.name = "P"}) -> (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) {
    %zero = arith.constant 0.0 : f64
    %rows = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
    %e = tulle.iterate %i, %row in %rows : !tulle.space<#CSR, 0> iter_args(%e0 = %E) -> (tensor<?x?xf64, #CSR>) loop = <parallel, index = i, of = ["E"]> {
      %js = tulle.space %A level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      %e1 = tulle.iterate %j, %at in %js : !tulle.space<#CSR, 1> iter_args(%e2 = %e0) -> (tensor<?x?xf64, #CSR>) loop = <parallel, index = j, of = ["E"]> {
        %a = tulle.load %A[%at : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        %x = math.exp %a : f64
        %e3 = tulle.store %x, %e2[%at : !tulle.iterator<#CSR, 1>] : f64, tensor<?x?xf64, #CSR>
        tulle.yield %e3 : tensor<?x?xf64, #CSR>
      }
      tulle.yield %e1 : tensor<?x?xf64, #CSR>
    }
    %p = tulle.iterate %i, %row in %rows : !tulle.space<#CSR, 0> iter_args(%p0 = %P) -> (tensor<?x?xf64, #CSR>) loop = <parallel, index = i, of = ["P"]> {
      %js = tulle.space %A level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      %p1 = tulle.iterate %j, %at in %js : !tulle.space<#CSR, 1> iter_args(%p2 = %p0) -> (tensor<?x?xf64, #CSR>) loop = <parallel, index = j, of = ["P"]> {
        %x = tulle.load %e[%at : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        %a = tulle.load %A[%at : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        %y = arith.mulf %x, %a : f64
        %p3 = tulle.store %y, %p2[%at : !tulle.iterator<#CSR, 1>] : f64, tensor<?x?xf64, #CSR>
        tulle.yield %p3 : tensor<?x?xf64, #CSR>
      }
      tulle.yield %p1 : tensor<?x?xf64, #CSR>
    }
    return %e, %p : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>
  }
}
