// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-lower --canonicalize --cse | FileCheck %s

// One loop per strategy; that they visit the right coordinates is tested by running them (tulle-lower-sets.test).

#SV = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>
#repeated = #tulle.encoding<{ map = (i) -> (i : compressed(nonunique)), posWidth = 32, crdWidth = 32 }>
#bitmap = #tulle.encoding<{ map = (i) -> (i : bitmap), posWidth = 32, crdWidth = 32 }>

// Two fingers: no branch but the case itself, and both advance by a comparison.
// CHECK-LABEL: @intersection
func.func @intersection(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: scf.while (%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
  // CHECK: %[[LP:.*]] = arith.cmpi ult, %[[P]]
  // CHECK: %[[LQ:.*]] = arith.cmpi ult, %[[Q]]
  // CHECK: %[[BOTH:.*]] = arith.andi %[[LP]], %[[LQ]]
  // CHECK: scf.condition(%[[BOTH]])
  // CHECK: memref.load
  // CHECK: memref.load
  // CHECK: arith.minui
  // CHECK: scf.if
  // CHECK-NEXT: "both"
  // CHECK-NOT: scf.if
  // CHECK: scf.yield
  // CHECK-NOT: scf.for
  // CHECK: return
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>) strategy = merge
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  return
}

// Left to itself, an intersection gallops through the operand that is twice as long or longer, compares blocks otherwise, and
// merges what is left of them.
// CHECK-LABEL: @ratio
func.func @ratio(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: %[[TWICE:.*]] = arith.muli %{{.*}}, %c2
  // CHECK: arith.cmpi ule, %[[TWICE]], %{{.*}}
  // CHECK: vector.load {{.*}} vector<16xi32>
  // CHECK: "both"
  // CHECK: vector.load {{.*}} vector<16xi32>
  // CHECK: "both"
  // CHECK: vector.load {{.*}} vector<8xi32>
  // CHECK: vector.load {{.*}} vector<8xi32>
  // CHECK-COUNT-7: vector.shuffle
  // CHECK: math.cttz
  // CHECK: "both"
  // CHECK: arith.minui
  // CHECK: "both"
  // CHECK-NOT: "both"
  // CHECK: return
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  return
}

// Bitmaps meet word by word, and each bit that both have is a step.
// CHECK-LABEL: @words
func.func @words(%a: tensor<?xf64, #bitmap>, %b: tensor<?xf64, #bitmap>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #bitmap> -> !tulle.space<#bitmap, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #bitmap> -> !tulle.space<#bitmap, 0>
  // CHECK: vector.load {{.*}} vector<8xi8>
  // CHECK: vector.load {{.*}} vector<8xi8>
  // CHECK: arith.andi
  // CHECK: math.cttz
  // CHECK: "both"
  // CHECK-NOT: "both"
  // CHECK: return
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#bitmap, 0>, !tulle.space<#bitmap, 0>)
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  return
}

// A union is the merge of what both have, and a counted loop for what is left of either.
// CHECK-LABEL: @union
func.func @union(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // Each branch advances its own operands: a branch that is guessed right does not wait for the coordinates.
  // CHECK: %[[AT:.*]]:2 = scf.while
  // CHECK: ^bb0(%[[P:.*]]: index, %[[Q:.*]]: index):
  // CHECK: "both"
  // CHECK: scf.yield %{{.*}}, %{{.*}} : index, index
  // CHECK: "left"
  // CHECK: scf.yield %{{.*}}, %[[Q]] : index, index
  // CHECK: "right"
  // CHECK: scf.yield %[[P]], %{{.*}} : index, index
  // CHECK: scf.for %{{.*}} = %[[AT]]#0
  // CHECK: "left"
  // CHECK: tulle.loop = #tulle.loop<parallel>
  // CHECK: scf.for %{{.*}} = %[[AT]]#1
  // CHECK: "right"
  // CHECK: tulle.loop = #tulle.loop<parallel>
  tulle.coiterate %i in "a | b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  case "a" (%x) { "left"(%i) : (index) -> () }
  case "b" (%y) { "right"(%i) : (index) -> () }
  return
}

// A difference needs no tail of what is taken away.
// CHECK-LABEL: @difference
func.func @difference(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: scf.while
  // CHECK: "left"
  // CHECK: scf.for
  // CHECK: "left"
  // CHECK-NOT: scf.for
  // CHECK: return
  tulle.coiterate %i in "a \\ b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  case "a" (%x) { "left"(%i) : (index) -> () }
  return
}

// Three operands: one loop, whose operands read as beyond all coordinates when they have ended; the loop runs while a case
// can still occur.
// CHECK-LABEL: @three
func.func @three(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>, %c: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sc = tulle.space %c level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK-DAG: %[[BEYOND:.*]] = arith.constant 9223372036854775807 : index
  // CHECK: scf.while
  // CHECK: arith.andi
  // CHECK: arith.andi
  // CHECK: arith.ori
  // CHECK: scf.condition
  // CHECK: memref.load
  // CHECK: scf.if
  // CHECK: memref.load
  // CHECK: else
  // CHECK: scf.yield %[[BEYOND]]
  // CHECK: scf.if
  // CHECK: memref.load
  // CHECK: else
  // CHECK: scf.yield %[[BEYOND]]
  tulle.coiterate %i in "a & (b | c)" (%sa, %sb, %sc : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
  case "a & b" (%x, %y) { "ab"(%i) : (index) -> () }
  case "a & c" (%x, %z) { "ac"(%i) : (index) -> () }
  case "a & b & c" (%x, %y, %z) { "abc"(%i) : (index) -> () }
  return
}

// Over a range: the coordinates between two stored ones are a loop of their own, without a branch.
// CHECK-LABEL: @gaps
func.func @gaps(%a: tensor<?xf64, #SV>) {
  %c0 = arith.constant 0 : index
  %n = tulle.level_size %a level(0) : tensor<?xf64, #SV>
  %r = tulle.range %c0 to %n
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: %[[LAST:.*]] = scf.for %[[P:.*]] = {{.*}} iter_args(%[[NEXT:.*]] = %c0)
  // CHECK: %[[C:.*]] = arith.index_castui
  // CHECK: %[[AFTER:.*]] = arith.addi %[[C]], %c1
  // CHECK: scf.for %[[GAP:.*]] = %[[NEXT]] to %[[C]]
  // CHECK-NEXT: "none"(%[[GAP]])
  // CHECK-NEXT: tulle.loop = #tulle.loop<parallel>
  // CHECK: "stored"(%[[C]])
  // CHECK: scf.yield %[[AFTER]]
  // CHECK: scf.for %[[GAP:.*]] = %[[LAST]]
  // CHECK-NEXT: "none"(%[[GAP]])
  tulle.coiterate %i in "1" (%sa : !tulle.space<#SV, 0>) range %r
  case "a" (%x) { "stored"(%i) : (index) -> () }
  case "none" { "none"(%i) : (index) -> () }
  return
}

// Gallop: what the shorter operand has is looked for in the other one, by doubling steps of whole blocks, by halving them, and
// with a vector.
// CHECK-LABEL: @gallop
func.func @gallop(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: %[[SHORTER:.*]] = arith.cmpi ule
  // CHECK: scf.if %[[SHORTER]]
  // CHECK: scf.while (%{{.*}} = %{{.*}}, %[[STEP:.*]] = %c16)
  // CHECK: arith.addi %[[STEP:.*]], %[[STEP]]
  // CHECK: arith.minui
  // CHECK: scf.while
  // CHECK: arith.shrui
  // CHECK: vector.load {{.*}} vector<16xi32>
  // CHECK: "both"
  // CHECK: return
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>) strategy = gallop
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  return
}

// Few copies of the body: one gallops, one merges, and none compares vectors of coordinates.
// CHECK-LABEL: @merge_or_gallop
func.func @merge_or_gallop(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK-NOT: vector.load
  // CHECK: scf.if
  // CHECK-COUNT-2: "both"
  // CHECK-NOT: "both"
  // CHECK: return
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>) strategy = merge_or_gallop
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  return
}

// Where coordinates repeat, who is behind gallops by doubling steps, then by halving them.
// CHECK-LABEL: @gallop_repeated
func.func @gallop_repeated(%a: tensor<?xf64, #repeated>, %b: tensor<?xf64, #repeated>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #repeated> -> !tulle.space<#repeated, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #repeated> -> !tulle.space<#repeated, 0>
  // CHECK: scf.while
  // CHECK: arith.maxui
  // CHECK: scf.if
  // CHECK: "both"
  // CHECK: else
  // CHECK: %[[FROM:.*]]:2 = scf.while (%{{.*}} = %{{.*}}, %[[STEP:.*]] = %c1)
  // CHECK: arith.addi %[[STEP:.*]], %[[STEP]]
  // CHECK: arith.minui
  // CHECK: scf.while
  // CHECK: arith.shrui
  tulle.coiterate %i in "a & b" (%sa, %sb : !tulle.space<#repeated, 0>, !tulle.space<#repeated, 0>) strategy = gallop
  case "a & b" (%x, %y) { "both"(%i) : (index) -> () }
  return
}
