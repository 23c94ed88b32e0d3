// RUN: tulle-opt %s --tulle-align-loops | FileCheck %s
// RUN: sed '/indices = \["r"/s/tulle.indices/tulle.schedule = #tulle.schedule<reorder = ["r", "i", "j", "l"]>, tulle.indices/' %s | tulle-opt --tulle-align-loops | FileCheck %s --check-prefix=SCHEDULED

// T is stored, and made, by r, then i; Y, which reads it, begins with i. All levels that T's loops would leave have every coordinate: they begin
// with i, too. What a schedule orders stays.
#A = #tulle.encoding<{ map = (r, i, j) -> (r : dense, i : dense, j : compressed) }>
#sparse = #tulle.encoding<{ map = (r, i, j) -> (r : compressed, i : compressed, j : compressed) }>
// CHECK-LABEL: func.func @made
// CHECK: linalg.generic
// CHECK-SAME: tulle.schedule = #tulle.schedule<reorder = ["i", "r", "j", "l"]>
// SCHEDULED-LABEL: func.func @made
// SCHEDULED: tulle.schedule = #tulle.schedule<reorder = ["r", "i", "j", "l"]>
func.func @made(%a: tensor<?x?x?xf64, #A> {tulle.name = "A"}, %x: tensor<?x?xf64> {tulle.name = "X"}, %t: tensor<?x?x?xf64> {tulle.name = "T"}) -> (tensor<?x?x?xf64> {tulle.name = "T"}) {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"], tulle.indices = ["r", "i", "j", "l"]}
      ins(%a, %x : tensor<?x?x?xf64, #A>, tensor<?x?xf64>) outs(%t : tensor<?x?x?xf64>) {
  ^bb0(%p: f64, %q: f64, %s: f64):
    %m = arith.mulf %p, %q : f64
    %n = arith.addf %s, %m : f64
    linalg.yield %n : f64
  } -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @read
// CHECK-NOT: tulle.schedule
func.func @read(%t: tensor<?x?x?xf64> {tulle.name = "T"}, %w: tensor<?x?x?xf64> {tulle.name = "W"}, %y: tensor<?x?xf64> {tulle.name = "Y"}) -> (tensor<?x?xf64> {tulle.name = "Y"}) {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3)>],
      iterator_types = ["parallel", "reduction", "reduction", "parallel"], tulle.indices = ["i", "r", "l", "k"]}
      ins(%t, %w : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%y : tensor<?x?xf64>) {
  ^bb0(%p: f64, %q: f64, %s: f64):
    %m = arith.mulf %p, %q : f64
    %n = arith.addf %s, %m : f64
    linalg.yield %n : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// The loops of S follow what B stores: r stays outside.
// CHECK-LABEL: func.func @follows_entries
// CHECK-NOT: tulle.schedule
func.func @follows_entries(%b: tensor<?x?x?xf64, #sparse> {tulle.name = "B"}, %x: tensor<?x?xf64> {tulle.name = "X"}, %t: tensor<?x?x?xf64> {tulle.name = "S"}) -> (tensor<?x?x?xf64> {tulle.name = "S"}) {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%b, %x : tensor<?x?x?xf64, #sparse>, tensor<?x?xf64>) outs(%t : tensor<?x?x?xf64>) {
  ^bb0(%p: f64, %q: f64, %s: f64):
    %m = arith.mulf %p, %q : f64
    %n = arith.addf %s, %m : f64
    linalg.yield %n : f64
  } -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}
func.func @reads_entries(%t: tensor<?x?x?xf64> {tulle.name = "S"}, %w: tensor<?x?x?xf64> {tulle.name = "W"}, %y: tensor<?x?xf64> {tulle.name = "Z"}) -> (tensor<?x?xf64> {tulle.name = "Z"}) {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3)>],
      iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%t, %w : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%y : tensor<?x?xf64>) {
  ^bb0(%p: f64, %q: f64, %s: f64):
    %m = arith.mulf %p, %q : f64
    %n = arith.addf %s, %m : f64
    linalg.yield %n : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
