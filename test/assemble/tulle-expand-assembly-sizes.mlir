// Sizes that the region computes outside of its loops are asked before it, where work is shared: MLIR's loop-invariant code motion leaves them there.
// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-choose-assembly,tulle-expand-assembly{parallel=true},tulle-lower-build-levels,tulle-lower-collect,tulle-lower-sort,tulle-lower-append,tulle-lower-sort-segments,tulle-lower-unique,tulle-lower-histogram,tulle-lower-scan,tulle-lower-scatter-entries,tulle-lower-chained-scan,tulle-inline-entries)' | FileCheck %s
// CHECK-LABEL: @sizes_inside
// CHECK: %[[HALF:.*]] = arith.divui
// CHECK: %[[LENGTH:.*]] = arith.subi %[[HALF]],
// CHECK: tulle.threads
#D = #tulle.encoding<{ map = (i, j) -> (i : dense, j : dense) }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @sizes_inside(%a: tensor<?x?xf64, #D>) -> tensor<?xf64, #SV> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #D>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #D>
  %y = tulle.assemble (%m) bound %m attributes {order = affine_map<(i) -> (i)>, unique} {
    %rows = tulle.range %c0 to %m
    %half = arith.divui %n, %c4 : index
    %columns = tulle.range %c0 to %half
    tulle.iterate %i in %rows : !tulle.range loop = <parallel> {
      %ai = tulle.locate %a level(0) at %i : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 0>
      %s = tulle.iterate %j in %columns : !tulle.range iter_args(%t = %zero) -> (f64) loop = <reduction> {
        %aj = tulle.locate %a level(1) under %ai : !tulle.iterator<#D, 0> at %j : tensor<?x?xf64, #D> -> !tulle.iterator<#D, 1>
        %v = tulle.load %a[%aj : !tulle.iterator<#D, 1>] : tensor<?x?xf64, #D> -> f64
        %u = arith.addf %t, %v : f64
        tulle.yield %u : f64
      }
      tulle.insert %s at (%i) : f64
    }
  } : tensor<?xf64, #SV>
  return %y : tensor<?xf64, #SV>
}
