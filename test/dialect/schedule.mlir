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
