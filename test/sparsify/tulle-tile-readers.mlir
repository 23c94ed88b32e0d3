// RUN: tulle-opt %s --split-input-file --tulle-tile-readers | FileCheck %s
// RUN: tulle-opt %s --split-input-file --tulle-tile-readers --tulle-align-loops | FileCheck %s
// RUN: sed 's/tulle.intermediate, //' %s | tulle-opt --split-input-file --tulle-tile-readers | FileCheck %s --check-prefix=NONE
// RUN: sed 's/tulle.bytes = 67108864 : i64, //' %s | tulle-opt --split-input-file --tulle-tile-readers | FileCheck %s --check-prefix=NONE
// RUN: sed 's/f64/f16/g' %s | tulle-opt --split-input-file --tulle-tile-readers | FileCheck %s --check-prefix=NONE
// RUN: sed 's/tulle.indices = \["i"/tulle.schedule = #tulle.schedule<reorder = ["i", "r", "l", "k"]>, &/' %s | tulle-opt --split-input-file --tulle-tile-readers | FileCheck %s --check-prefix=NONE
// NONE-NOT: tulle.split

// Y sums over r, then l; all of its rows read the same W: these have tiles, of which each r has a T of its own. Not where T is wanted, may be
// small, or is summed in wider numbers, or the schedule says something. That T is computed there is no demand.
#A = #tulle.encoding<{ map = (r, i, j) -> (r : dense, i : dense, j : compressed) }>
// CHECK-LABEL: func.func @made
// CHECK: linalg.generic
// CHECK-SAME: tulle.schedule = #tulle.schedule<compute_at = ["r"], if_possible = unit>
func.func @made(%a: tensor<?x?x?xf64, #A> {tulle.name = "A"}, %x: tensor<?x?xf64> {tulle.name = "X"}, %t: tensor<?x?x?xf64> {tulle.name = "T", tulle.statement = 0 : i64}) -> (tensor<?x?x?xf64> {tulle.intermediate, tulle.name = "T"}) {
  %zero = arith.constant 0.0 : f64
  %e = tulle.fill %zero, %t : f64, tensor<?x?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"], tulle.indices = ["r", "i", "j", "l"]}
      ins(%a, %x : tensor<?x?x?xf64, #A>, tensor<?x?xf64>) outs(%e : tensor<?x?x?xf64>) {
  ^bb0(%p: f64, %q: f64, %s: f64):
    %m = arith.mulf %p, %q : f64
    %n = arith.addf %s, %m : f64
    linalg.yield %n : f64
  } -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @read
// CHECK-SAME: tulle.splits = [#tulle.split<loop = "i", outer = "i_tile", inner = "i_row", size = 32>]
// CHECK: linalg.generic
// CHECK-SAME: tulle.schedule = #tulle.schedule<derived = [#tulle.split<loop = "i", outer = "i_tile", inner = "i_row", size = 32>], reorder = ["i_tile", "r", "i_row", "l", "k"]>
func.func @read(%t: tensor<?x?x?xf64> {tulle.bytes = 67108864 : i64, tulle.name = "T"}, %w: tensor<?x?x?xf64> {tulle.name = "W"}, %y: tensor<?x?xf64> {tulle.name = "Y", tulle.statement = 1 : i64}) -> (tensor<?x?xf64> {tulle.name = "Y"}) {
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

// -----

// One reduction: a row of the result would be read and written for each of its iterations.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: tulle.split
func.func @sums(%a: tensor<?x?xf64> {tulle.name = "A"}, %x: tensor<?xf64> {tulle.name = "X"}, %t: tensor<?x?xf64> {tulle.name = "T", tulle.statement = 0 : i64}) -> (tensor<?x?xf64> {tulle.intermediate, tulle.name = "T"}) {
  %zero = arith.constant 0.0 : f64
  %e = tulle.fill %zero, %t : f64, tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"], tulle.indices = ["r", "i"]} ins(%a, %x : tensor<?x?xf64>, tensor<?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%p: f64, %q: f64, %s: f64):
    %m = arith.mulf %p, %q : f64
    linalg.yield %m : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
func.func @one_reduction(%t: tensor<?x?xf64> {tulle.bytes = 67108864 : i64, tulle.name = "T"}, %w: tensor<?x?xf64> {tulle.name = "W"}, %y: tensor<?x?xf64> {tulle.name = "Y", tulle.statement = 1 : i64}) -> (tensor<?x?xf64> {tulle.name = "Y"}) {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>],
      iterator_types = ["parallel", "reduction", "parallel"], tulle.indices = ["i", "r", "k"]} ins(%t, %w : tensor<?x?xf64>, tensor<?x?xf64>) outs(%y : tensor<?x?xf64>) {
  ^bb0(%p: f64, %q: f64, %s: f64):
    %m = arith.mulf %p, %q : f64
    %n = arith.addf %s, %m : f64
    linalg.yield %n : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
