// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-contract-assemblies))' --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#dense = #tulle.encoding<{ map = (i) -> (i : dense) }>
!row = !tulle.iterator<#CSR, 0>
!entry = !tulle.iterator<#CSR, 1>
!at = !tulle.iterator<#dense, 0>

// A row in each iteration, whose entries need no order in a hash table; the function makes nothing any more.
// CHECK: #[[ROW:[^ ]*]] = #tulle.encoding<{ map = (i) -> (i : compressed(nonordered)), posWidth = 64, crdWidth = 32 }>
// CHECK-LABEL: func.func @sums
// CHECK-SAME: -> (tensor<?xf64, #{{.*}}> {tulle.name = "y"})
// CHECK-NOT: tulle_making
// CHECK: %[[N:.*]] = tensor.dim %{{.*}}, %c1
// CHECK: tulle.iterate %[[I:[^ ]*]] in {{.*}} of = ["w", "y"]
// CHECK: %[[W:.*]] = tulle.assemble(%[[N]]) attributes {strategy = #tulle<assembly hashed>}
// CHECK: tulle.locate %{{.*}} level(0) at %[[I]]
// CHECK: tulle.insert %{{.*}} at(%{{[^,]*}}) : f64
// CHECK: } : tensor<?xf64, #[[ROW]]>
// CHECK: %[[S:.*]] = tulle.space %[[W]] level(0) : tensor<?xf64, #[[ROW]]>
// CHECK: tulle.iterate %{{.*}}, %[[IT:[^ ]*]] in %[[S]] : !tulle.space<#[[ROW]], 0>
// CHECK: tulle.load %[[W]][%[[IT]] : !tulle.iterator<#[[ROW]], 0>]
func.func @sums(%a: tensor<?x?xf64, #CSR>, %y: tensor<?xf64, #dense>) -> (tensor<?xf64, #dense> {tulle.name = "y"}, tensor<?x?xf64, #CSR> {tulle.name = "w", tulle.intermediate}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %c0_i64 = arith.constant 0 : i64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %w = tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> (i)>, strategy = #tulle<assembly hashed>} {
    %rows = tulle.range %c0 to %m
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["i"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !row
      %s = tulle.space %a level(1) under %it : !row : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #CSR>
  %m2 = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m2
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %y) -> (tensor<?xf64, #dense>) loop = <parallel, index = i, of = ["y"]> {
    %it = tulle.locate %w level(0) at %i : tensor<?x?xf64, #CSR> -> !row
    %s = tulle.space %w level(1) under %it : !row : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %sum = tulle.iterate %k, %p in %s : !tulle.space<#CSR, 1> iter_args(%x = %zero) -> (f64) loop = <reduction, index = k> {
      %v = tulle.load %w[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
      %z = arith.addf %x, %v : f64
      tulle.yield %z : f64
    }
    %to = tulle.locate %y level(0) at %i : tensor<?xf64, #dense> -> !at
    %z = tulle.store %sum, %acc[%to : !at] : f64, tensor<?xf64, #dense>
    tulle.yield %z : tensor<?xf64, #dense>
  }
  return %r, %w : tensor<?xf64, #dense>, tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
!row = !tulle.iterator<#CSR, 0>
!entry = !tulle.iterator<#CSR, 1>

// What merges entries has them in order; those that come once each, in order, stay so. The consumer may assemble, too: the number
// of a tensor that a call makes is that of the results that are left, and what is not known yet bounds nothing.
// CHECK: #[[ORDER:[^ ]*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @merged
// CHECK: call @tulle_making(%c0_i64{{.*}})
// CHECK-NOT: tulle_making
// CHECK: tulle.assemble(%{{.*}}, %{{.*}}) attributes {order = #{{.*}}} {
// CHECK: %[[W:.*]] = tulle.assemble(%{{.*}}) attributes {order = #[[ORDER]], strategy = #tulle<assembly hashed>, unique}
// CHECK: } : tensor<?xf64, #[[ROW:[^ ]*]]>
// CHECK: tulle.coiterate %{{.*}} in "a | b" (%{{.*}} : !tulle.space<#[[ROW]], 0>, !tulle.space<#CSR, 1>)
// CHECK: case "a & b" (%[[BOTH:.*]], %{{.*}}) {
// CHECK: tulle.load %[[W]][%[[BOTH]] : !tulle.iterator<#[[ROW]], 0>]
// CHECK: case "a" (%[[ONE:.*]]) {
// CHECK: tulle.load %[[W]][%[[ONE]] : !tulle.iterator<#[[ROW]], 0>]
func.func private @tulle_making(i64)
func.func @merged(%a: tensor<?x?xf64, #CSR>) -> (tensor<?x?xf64, #CSR> {tulle.name = "w", tulle.intermediate}, tensor<?x?xf64, #CSR> {tulle.name = "d"}, tensor<?x?xf64, #CSR> {tulle.name = "e"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = arith.constant 0 : i64
  %second = arith.constant 1 : i64
  %third = arith.constant 2 : i64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  func.call @tulle_making(%first) : (i64) -> ()
  %w = tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> (i, j)>, unique, strategy = #tulle<assembly hashed>} {
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["i"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !row
      %s = tulle.space %a level(1) under %it : !row : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #CSR>
  func.call @tulle_making(%second) : (i64) -> ()
  %bound = tulle.stored_count %w : tensor<?x?xf64, #CSR>
  %d = tulle.assemble (%m, %n) bound %bound attributes {order = affine_map<(i, j) -> (i, j)>} {
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["d"]> {
      %own = tulle.locate %w level(0) at %i : tensor<?x?xf64, #CSR> -> !row
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !row
      %s = tulle.space %w level(1) under %own : !row : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      %t = tulle.space %a level(1) under %it : !row : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.coiterate %j in "a | b" (%s, %t : !tulle.space<#CSR, 1>, !tulle.space<#CSR, 1>)
        case "a & b" (%p, %q) {
          %v = tulle.load %w[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
          tulle.insert %v at (%i, %j) : f64
        }
        case "a" (%p) {
          %v = tulle.load %w[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
          tulle.insert %v at (%i, %j) : f64
        }
        case "b" (%q) {
          %v = tulle.load %a[%q : !entry] : tensor<?x?xf64, #CSR> -> f64
          tulle.insert %v at (%i, %j) : f64
        }
    }
  } : tensor<?x?xf64, #CSR>
  return %w, %d, %d : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>
}
