// RUN: tulle-opt %s --allow-unregistered-dialect --canonicalize | FileCheck %s

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>

// CHECK-LABEL: @empty_set
func.func @empty_set(%a: !tulle.space<#SV, 0>, %x: f64) -> f64 {
  // CHECK-NEXT: return %arg1
  %r = tulle.coiterate %i in "a & ~a" (%a : !tulle.space<#SV, 0>) iter_args(%acc = %x) -> (f64)
  return %r : f64
}

// CHECK-LABEL: @one_space
func.func @one_space(%a: !tulle.space<#SV, 0>) {
  // CHECK-NEXT: tulle.iterate %[[I:.*]], %{{.*}} in %{{.*}} : !tulle.space
  // CHECK-NEXT: "use"(%[[I]])
  tulle.coiterate %i in "a" (%a : !tulle.space<#SV, 0>)
  case "a" (%x) { "use"(%i) : (index) -> () }
  return
}

// An intersection with a dense level is a loop over the other operand.
// CHECK-LABEL: @located
func.func @located(%a: !tulle.space<#SV, 0>, %d: tensor<?xf64>) {
  %s = tulle.space %d level(0) : tensor<?xf64> -> !tulle.space<#D, 0>
  // CHECK: tulle.iterate %[[I:[^ ]*]], %[[X:[^ ]*]] in %{{.*}} : !tulle.space
  // CHECK-NEXT: %[[Y:.*]] = tulle.locate %{{.*}} level(0) at %[[I]]
  // CHECK-NEXT: "use"(%[[X]], %[[Y]])
  tulle.coiterate %i in "a & b" (%a, %s : !tulle.space<#SV, 0>, !tulle.space<#D, 0>)
  case "a & b" (%x, %y) { "use"(%x, %y) : (!tulle.iterator<#SV, 0>, !tulle.iterator<#D, 0>) -> () }
  return
}

// A union with a dense level is a loop over the level's range.
// CHECK-LABEL: @iterated
func.func @iterated(%a: !tulle.space<#SV, 0>, %d: tensor<?xf64>) {
  %s = tulle.space %d level(0) : tensor<?xf64> -> !tulle.space<#D, 0>
  // CHECK: %[[N:.*]] = tulle.level_size %{{.*}} level(0)
  // CHECK: %[[R:.*]] = tulle.range %c0 to %[[N]]
  // CHECK: tulle.coiterate %[[I:[^ ]*]] in "1" (%{{.*}} : !tulle.space<{{.*}}>) range %[[R]]
  // CHECK: case "a" (%[[X:.*]]) {
  // CHECK: %[[Y:.*]] = tulle.locate %{{.*}} level(0) at %[[I]]
  // CHECK: "both"(%[[X]], %[[Y]])
  // CHECK: case "none" {
  // CHECK: %[[Y:.*]] = tulle.locate %{{.*}} level(0) at %[[I]]
  // CHECK: "dense"(%[[Y]])
  tulle.coiterate %i in "a | b" (%a, %s : !tulle.space<#SV, 0>, !tulle.space<#D, 0>)
  case "a" (%x) { "never"(%x) : (!tulle.iterator<#SV, 0>) -> () }
  case "a & b" (%x, %y) { "both"(%x, %y) : (!tulle.iterator<#SV, 0>, !tulle.iterator<#D, 0>) -> () }
  case "b" (%y) { "dense"(%y) : (!tulle.iterator<#D, 0>) -> () }
  return
}

// CHECK-LABEL: @unchanged
func.func @unchanged(%a: !tulle.space<#SV, 0>, %x: f64, %y: f64) -> (f64, f64) {
  // CHECK: %[[R:.*]] = tulle.iterate {{.*}} iter_args(%[[ACC:.*]] = %arg1) -> (f64)
  // CHECK-NEXT: arith.addf %[[ACC]], %arg2
  // CHECK: return %[[R]], %arg2
  %r:2 = tulle.iterate %i, %it in %a : !tulle.space<#SV, 0> iter_args(%acc = %x, %same = %y) -> (f64, f64) loop = <reduction> {
    %n = arith.addf %acc, %same : f64
    tulle.yield %n, %same : f64, f64
  }
  return %r#0, %r#1 : f64, f64
}

// CHECK-LABEL: @no_conversion
func.func @no_conversion(%a: tensor<?xf64, #SV>) -> tensor<?xf64, #SV> {
  // CHECK-NEXT: return %arg0
  %r = tulle.convert %a : tensor<?xf64, #SV> to tensor<?xf64, #SV>
  return %r : tensor<?xf64, #SV>
}

// A space that the set lies within has every coordinate that is visited.
// CHECK-LABEL: @required_flag
func.func @required_flag(%a: !tulle.space<#SV, 0>, %b: !tulle.space<#SV, 0>, %zero: i64) -> i64 {
  // CHECK: tulle.coiterate %{{.*}} in "a & (b | a)"
  // CHECK-NEXT: flags (%{{.*}} if %{{.*}}, %{{.*}} if %[[Q:.*]]) {
  // CHECK-NEXT: %[[BIT:.*]] = arith.extui %[[Q]] : i1 to i64
  // CHECK-NEXT: arith.addi %{{.*}}, %[[BIT]] : i64
  %r = tulle.coiterate %i in "a & (b | a)" (%a, %b : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>) iter_args(%acc = %zero) -> (i64) loop = <reduction>
  flags (%x if %p, %y if %q) {
    %both = arith.andi %p, %q : i1
    %bit = arith.extui %both : i1 to i64
    %s = arith.addi %acc, %bit : i64
    tulle.yield %s : i64
  }
  return %r : i64
}
