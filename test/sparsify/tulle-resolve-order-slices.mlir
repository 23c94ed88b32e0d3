// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-resolve-slices,tulle-resolve-order,tulle-hoist-convert))' 2>/dev/null | FileCheck %s

#A = #tulle.encoding<{ map = (i : #tulle<slice(0, 8, 1)>, j) -> (i : dense, j : compressed) }>
#B = #tulle.encoding<{ map = (i : #tulle<slice(3, 9, 2)>, j) -> (i : dense, j : compressed) }>

// Rows of a dense level are read in the whole, but what is converted is the slice that the caller has: a compressed level of the
// whole has coordinates beyond it, and does not say how far the index runs.
// CHECK-DAG: #[[PLAIN:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[TRANSPOSED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @products(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?x?xf64, #CSR> {tulle.name = "A", tulle.whole = {{[^>]*}}slice(0, 8, 1)
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<?x?xf64, #CSC> {tulle.name = "B", tulle.source = {{[^>]*}}slice(3, 9, 2)
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[A]][0, 0] [8, %{{.*}}] [1, 1]
// CHECK-NOT: tensor.extract_slice
// CHECK: linalg.generic {indexing_maps = [#[[PLAIN]], #[[TRANSPOSED]],
// CHECK-SAME: ins(%[[ROWS]], %[[B]] :
func.func @products(%A: tensor<?x?xf64, #A> {tulle.name = "A"}, %B: tensor<?x?xf64, #B> {tulle.name = "B"}, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%A, %B : tensor<?x?xf64, #A>, tensor<?x?xf64, #B>) outs(%y : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

#ANY = #tulle.encoding<{ map = (i : #tulle<slice(3, ?, ?)>, j) -> (i : dense, j : compressed) }>

// The caller says how many rows its slice has, where that is asked for, though it is the caller who converts it.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: tulle.name = "B", tulle.source = {{[^>]*}}slice(3, ?, ?)
// CHECK-SAME: %[[ROWS:[^:]*]]: index {tulle.name = "B.size0", tulle.slice = #tulle.slice_number<tensor = "B", dim = 0, part = size>}
// CHECK-NOT: part = stride
// CHECK: return %{{.*}}, %[[ROWS]]
func.func @rows(%A: tensor<?x?xf64, #A> {tulle.name = "A"}, %B: tensor<?x?xf64, #ANY> {tulle.name = "B"}, %y: tensor<?x?xf64>) -> (tensor<?x?xf64>, index) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %B, %c0 : tensor<?x?xf64, #ANY>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%A, %B : tensor<?x?xf64, #A>, tensor<?x?xf64, #ANY>) outs(%y : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<?x?xf64>
  return %r, %rows : tensor<?x?xf64>, index
}
