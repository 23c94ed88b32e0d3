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

// expected-error @+1 {{expected a 'compute_at' that is there if possible}}
#nowhere = #tulle.schedule<if_possible = unit>
func.func private @f() attributes {x = #nowhere}

// -----

// expected-error @+1 {{expected a 'compute_at' that is there if possible}}
#nowhere = #tulle.directives<if_possible = unit, unroll = 2>
func.func private @f() attributes {x = #nowhere}

// -----

// expected-error @+1 {{expected bitmap or hashed in 'workspace', got }}
#scatter = #tulle.schedule<workspace = #tulle<assembly scatter>>
func.func private @f() attributes {x = #scatter}

// -----

// expected-error @+1 {{expected names of loops in 'reorder', got 1 : i64}}
#number = #tulle.schedule<reorder = [1]>
func.func private @f() attributes {x = #number}

// -----

// expected-error @+1 {{expected a #tulle<strategy …> for loop "i", got "gallop"}}
#text = #tulle.schedule<strategy = {i = "gallop"}>
func.func private @f() attributes {x = #text}

// -----

// CHECK: #tulle.schedule<bound = {k = 16 : i64}, derived = [#tulle.split<loop = "j", outer = "j0", inner = "j1", size = 4>, #tulle.split<loop = "j1", outer = "a", inner = "b", size = 2, divides = true>], loops = {b = #tulle.directives<jam = 3, prefetch = {A = 0 : i64}, cache = {A = #tulle<cache_place registers>, B = #tulle<cache_place stack>}>}>
func.func private @tiles() attributes {x = #tulle.schedule<bound = {k = 16 : i64}, derived = [#tulle.split<loop = "j", outer = "j0", inner = "j1", size = 4>, #tulle.split<loop = "j1", outer = "a", inner = "b", size = 2, divides = true>], loops = {b = #tulle.directives<jam = 3, prefetch = {A = 0 : i64}, cache = {A = #tulle<cache_place registers>, B = #tulle<cache_place stack>}>}>}

// -----

// expected-error @+1 {{expected three names, got "j", "j0" and "j0"}}
#names = #tulle.split<loop = "j", outer = "j0", inner = "j0", size = 4>
func.func private @f() attributes {x = #names}

// -----

// expected-error @+1 {{expected a size of 1 or more, got 0}}
#size = #tulle.split<loop = "j", outer = "j0", inner = "j1", size = 0>
func.func private @f() attributes {x = #size}

// -----

// expected-error @+1 {{loop "j" has become others already}}
#again = #tulle.schedule<derived = [#tulle.split<loop = "j", outer = "j0", inner = "j1", size = 4>, #tulle.split<loop = "j", outer = "a", inner = "b", size = 2>]>
func.func private @f() attributes {x = #again}

// -----

// expected-error @+1 {{expected an i64 of 1 or more for "k" in 'bound', got 0 : i64}}
#bound = #tulle.schedule<bound = {k = 0 : i64}>
func.func private @f() attributes {x = #bound}

// -----

// expected-error @+1 {{expected an i64 of 0 or more for "A" in 'prefetch', got "far"}}
#far = #tulle.directives<prefetch = {A = "far"}>
func.func private @f() attributes {x = #far}

// -----

// CHECK: #tulle.schedule<derived = [#tulle.position<loop = "j", position = "p", operand = "A">, #tulle.split<loop = "p", outer = "p0", inner = "p1", size = 64>]>
func.func private @positions() attributes {x = #tulle.schedule<derived = [#tulle.position<loop = "j", position = "p", operand = "A">, #tulle.split<loop = "p", outer = "p0", inner = "p1", size = 64>]>}

// -----

// expected-error @+1 {{expected two names of loops, got "j" twice}}
#itself = #tulle.position<loop = "j", position = "j", operand = "A">
func.func private @f() attributes {x = #itself}

// -----

// expected-error @+1 {{loop "j" has become others already}}
#taken = #tulle.schedule<derived = [#tulle.split<loop = "j", outer = "j0", inner = "j1", size = 4>, #tulle.position<loop = "j", position = "p", operand = "A">]>
func.func private @f() attributes {x = #taken}

// -----

// expected-error @+1 {{expected a #tulle.split<…>, a #tulle.position<…> or a #tulle.fuse<…> in 'derived', got "j"}}
#other = #tulle.schedule<derived = ["j"]>
func.func private @f() attributes {x = #other}

// -----

// expected-error @+1 {{expected three names, got "i", "i" and "f"}}
#pair = #tulle.fuse<outer = "i", inner = "i", fused = "f">
func.func private @f() attributes {x = #pair}

// -----

// CHECK: #tulle.directives<unroll = 2, rfactor = "w">
func.func private @partial() attributes {x = #tulle.directives<unroll = 2, rfactor = "w">}

// -----

// expected-error @+1 {{expected a #tulle<cache_place …> for "A" in 'cache', got "heap"}}
#heap = #tulle.directives<cache = {A = "heap"}>
func.func private @f() attributes {x = #heap}
