// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-lower --canonicalize --cse | FileCheck %s

// A merge whose body stands once; that it visits the right coordinates is tested by running (tulle-lower-sets.test).

#SV = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed), posWidth = 32, crdWidth = 32 }>

// A step takes the smallest coordinate; who has it is present, and advances by that bit.
// CHECK-LABEL: @merge
func.func @merge(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: scf.while (%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
  // CHECK: %[[ANY:.*]] = arith.ori
  // CHECK: scf.condition(%[[ANY]])
  // CHECK: %[[LEAST:.*]] = arith.minui %[[X:.*]], %[[Y:.*]] : index
  // CHECK: %[[HASX:.*]] = arith.cmpi eq, %[[X]], %[[LEAST]]
  // CHECK: %[[STEP:.*]] = arith.index_castui %[[HASX]]
  // CHECK: arith.addi %{{.*}}, %[[STEP]]
  // CHECK: %[[HASY:.*]] = arith.cmpi eq, %[[Y]], %[[LEAST]]
  // CHECK-NOT: scf.if
  // CHECK: "body"(%[[LEAST]], %[[HASX]], %[[HASY]])
  // CHECK-NOT: "body"
  // CHECK: return
  tulle.coiterate %i in "a | b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  flags (%x if %p, %y if %q) { "body"(%i, %p, %q) : (index, i1, i1) -> () }
  return
}

// The loop ends with the operand that the set lies within, whose coordinates need no bounds check; the set is evaluated.
// CHECK-LABEL: @within
func.func @within(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: scf.while
  // CHECK: %[[MORE:.*]] = arith.cmpi ult
  // CHECK: scf.condition(%[[MORE]])
  // CHECK: arith.minui
  // CHECK: %[[HAS:.*]] = arith.cmpi eq
  // CHECK: scf.if %[[HAS]] {
  // CHECK-NEXT: "body"
  tulle.coiterate %i in "a" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  flags (%x if %p, %y if %q) { "body"(%i, %p, %q) : (index, i1, i1) -> () }
  return
}

// With a range every coordinate is visited, present or not.
// CHECK-LABEL: @all
func.func @all(%a: tensor<?xf64, #SV>, %n: index) {
  %zero = arith.constant 0 : index
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %range = tulle.range %zero to %n
  // CHECK: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[P:.*]] =
  // CHECK: "body"(%[[I]], %{{.*}})
  tulle.coiterate %i in "1" (%sa : !tulle.space<#SV, 0>) range %range
  flags (%x if %p) { "body"(%i, %p) : (index, i1) -> () }
  return
}

// Nothing is read below a parent that is no entry.
// CHECK-LABEL: @below
func.func @below(%a: tensor<?x?xf64, #DCSR>, %b: tensor<?x?xf64, #DCSR>) {
  %sa = tulle.space %a level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  %sb = tulle.space %b level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  // CHECK: %[[HAS:.*]] = arith.cmpi eq
  // CHECK: %[[BOUNDS:.*]]:2 = scf.if %{{.*}} -> (index, index) {
  // CHECK: memref.load
  // CHECK: memref.load
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %c0, %c0
  // CHECK: scf.for %{{.*}} = %[[BOUNDS]]#0 to %[[BOUNDS]]#1
  tulle.coiterate %i in "a | b" (%sa, %sb : !tulle.space<#DCSR, 0>, !tulle.space<#DCSR, 0>)
  flags (%x if %p, %y if %q) {
    %row = tulle.space %a level(1) under %x : !tulle.iterator<#DCSR, 0> if %p : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 1>
    tulle.iterate %j, %e in %row : !tulle.space<#DCSR, 1> { "body"(%i, %j) : (index, index) -> () }
  }
  return
}
