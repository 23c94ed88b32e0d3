// RUN: tulle-opt %s --split-input-file --verify-diagnostics | FileCheck %s

#map = affine_map<(i) -> (i)>
// CHECK: tulle.schedule = #tulle.schedule<reorder = ["i"], strategy = {"i/4" = #tulle<strategy gallop>}, assemble = count>
func.func @all(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<?xf64>) outs(%y : tensor<?xf64>)
      attrs = {tulle.schedule = #tulle.schedule<reorder = ["i"], strategy = {"i/4" = #tulle<strategy gallop>}, assemble = count>} {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

// expected-error @+1 {{loop "i" stands twice in 'reorder'}}
#twice = #tulle.schedule<reorder = ["i", "i"]>
func.func private @f() attributes {x = #twice}

// -----

// expected-error @+1 {{expected names of loops in 'reorder', got 1 : i64}}
#number = #tulle.schedule<reorder = [1]>
func.func private @f() attributes {x = #number}

// -----

// expected-error @+1 {{expected a #tulle<strategy …> for loop "i", got "gallop"}}
#text = #tulle.schedule<strategy = {i = "gallop"}>
func.func private @f() attributes {x = #text}

// -----

// CHECK: #tulle.schedule<bound = {k = 16 : i64}, split = [#tulle.split<loop = "j", outer = "j0", inner = "j1", size = 4>, #tulle.split<loop = "j1", outer = "a", inner = "b", size = 2, divides = true>], loops = {b = #tulle.directives<jam = 3, prefetch = {A = 0 : i64}>}>
func.func private @tiles() attributes {x = #tulle.schedule<bound = {k = 16 : i64}, split = [#tulle.split<loop = "j", outer = "j0", inner = "j1", size = 4>, #tulle.split<loop = "j1", outer = "a", inner = "b", size = 2, divides = true>], loops = {b = #tulle.directives<jam = 3, prefetch = {A = 0 : i64}>}>}

// -----

// expected-error @+1 {{expected three names, got "j", "j0" and "j0"}}
#names = #tulle.split<loop = "j", outer = "j0", inner = "j0", size = 4>
func.func private @f() attributes {x = #names}

// -----

// expected-error @+1 {{expected a size of 1 or more, got 0}}
#size = #tulle.split<loop = "j", outer = "j0", inner = "j1", size = 0>
func.func private @f() attributes {x = #size}

// -----

// expected-error @+1 {{loop "j" is split twice}}
#again = #tulle.schedule<split = [#tulle.split<loop = "j", outer = "j0", inner = "j1", size = 4>, #tulle.split<loop = "j", outer = "a", inner = "b", size = 2>]>
func.func private @f() attributes {x = #again}

// -----

// expected-error @+1 {{expected an i64 of 1 or more for "k" in 'bound', got 0 : i64}}
#bound = #tulle.schedule<bound = {k = 0 : i64}>
func.func private @f() attributes {x = #bound}

// -----

// expected-error @+1 {{expected an i64 of 0 or more for "A" in 'prefetch', got "far"}}
#far = #tulle.directives<prefetch = {A = "far"}>
func.func private @f() attributes {x = #far}
