// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-lower,func.func(canonicalize,loop-invariant-code-motion,cse))' | FileCheck %s

// The rows of a chunk are the same in every diagonal of ELL: their bounds are computed before the loop over these, the division too,
// which is by one where there is one task.
#ELL = #tulle.encoding<{ map = (i, j) -> (#i : dense, i : dense, j : singleton(padded)), posWidth = 32, crdWidth = 32 }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: func.func @chunk_of_rows
// CHECK: tulle.parallel %{{.*}} of %[[TASKS:.*]] {
// CHECK-NOT: scf.for
// CHECK: arith.divui
// CHECK: scf.for
// CHECK-NOT: arith.divui
// CHECK: scf.for %{{.*}} = %[[BEGIN:.*]] to %[[END:.*]] step
func.func @chunk_of_rows(%a: tensor<?x?xf64, #ELL>, %y: tensor<?xf64, #D>, %tasks: index, %value: f64) -> tensor<?xf64, #D> {
  %slots = tulle.space %a level(0) : tensor<?x?xf64, #ELL> -> !tulle.space<#ELL, 0>
  %r = tulle.parallel %task of %tasks iter_args(%acc = %y) -> (tensor<?xf64, #D>) {
    %s = tulle.iterate %slot, %it in %slots : !tulle.space<#ELL, 0> iter_args(%now = %acc) -> (tensor<?xf64, #D>) loop = <reduction> {
      %rows = tulle.space %a level(1) under %it : !tulle.iterator<#ELL, 0> : tensor<?x?xf64, #ELL> -> !tulle.space<#ELL, 1>
      %some = tulle.partition %rows, %task of %tasks : !tulle.space<#ELL, 1>
      %t = tulle.iterate %i, %at in %some : !tulle.space<#ELL, 1> iter_args(%then = %now) -> (tensor<?xf64, #D>) loop = <parallel> {
        %to = tulle.locate %y level(0) at %i : tensor<?xf64, #D> -> !tulle.iterator<#D, 0>
        %old = tulle.load %then[%to : !tulle.iterator<#D, 0>] : tensor<?xf64, #D> -> f64
        %new = arith.addf %old, %value : f64
        %next = tulle.store %new, %then[%to : !tulle.iterator<#D, 0>] : f64, tensor<?xf64, #D>
        tulle.yield %next : tensor<?xf64, #D>
      }
      tulle.yield %t : tensor<?xf64, #D>
    }
    tulle.yield %s : tensor<?xf64, #D>
  }
  return %r : tensor<?xf64, #D>
}
