// RUN: tulle-opt %s --allow-unregistered-dialect --loop-invariant-code-motion | FileCheck %s

// What may run where its loop would not: reads at an iterator that is that of an entry.

#SV = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed), posWidth = 32, crdWidth = 32 }>

// CHECK-LABEL: @entries
func.func @entries(%a: tensor<?xf64, #SV>, %n: index) {
  %zero = arith.constant 0 : index
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %all = tulle.range %zero to %n
  // CHECK: tulle.iterate %{{.*}}, %[[AT:[^ ]*]] in
  // CHECK-NEXT: tulle.load %arg0[%[[AT]]
  // CHECK-NEXT: tulle.iterate
  tulle.iterate %i, %x in %sa : !tulle.space<#SV, 0> {
    tulle.iterate %j in %all : !tulle.range {
      %v = tulle.load %a[%x : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
      "body"(%v) : (f64) -> ()
    }
  }
  return
}

// An iterator of a merge by presence flags is that of no entry where the flag is not set, and the loop below it runs
// only where it is.
// CHECK-LABEL: @flags
func.func @flags(%a: tensor<?xf64, #SV>, %d: tensor<?x?xf64, #DCSR>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sd = tulle.space %d level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  // CHECK: flags (%[[X:.*]] if %{{.*}}, %[[Y:.*]] if %[[Q:.*]]) {
  // CHECK-NEXT: tulle.space %arg1 level(1) under %[[Y]] : !tulle.iterator<#DCSR, 0> if %[[Q]]
  // CHECK-NEXT: tulle.iterate
  // CHECK-NEXT: tulle.load %arg0[%[[X]]
  tulle.coiterate %i in "a & b" (%sa, %sd : !tulle.space<#SV, 0>, !tulle.space<#DCSR, 0>)
  flags (%x if %p, %y if %q) {
    %row = tulle.space %d level(1) under %y : !tulle.iterator<#DCSR, 0> if %q : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 1>
    tulle.iterate %j, %e in %row : !tulle.space<#DCSR, 1> {
      %v = tulle.load %a[%x : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
      "body"(%v) : (f64) -> ()
    }
  }
  return
}
