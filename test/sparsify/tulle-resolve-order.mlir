// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-resolve-order))' 2>&1 | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-resolve-order,tulle-hoist-convert))' 2>/dev/null | FileCheck %s --check-prefix=HOIST

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// CHECK: remark: B is converted from CSC to CSR before the loops
// CHECK: remark: A is converted from CSR to CSC before the loops: each coordinate without an entry would be visited for each element of the result
// CHECK-NOT: remark: A
// CHECK-LABEL: func.func @matmul
// CHECK: %[[B:.*]] = tulle.convert %arg1 : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[B]]

// HOIST-LABEL: func.func @matmul(
// HOIST-SAME: %[[A:.*]]: tensor<?x?xf64, #CSR> {tulle.name = "A"}
// HOIST-SAME: %[[B:.*]]: tensor<?x?xf64, #CSR> {tulle.name = "B", tulle.source = #CSC}
// HOIST-NOT: tulle.convert
// HOIST: linalg.generic {{.*}} ins(%[[A]], %[[B]]
func.func @matmul(%A: tensor<?x?xf64, #CSR> {tulle.name = "A"}, %B: tensor<?x?xf64, #CSC> {tulle.name = "B"},
                  %C: tensor<?x?xf64> {tulle.name = "C"}) -> tensor<?x?xf64> {
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %C : f64, tensor<?x?xf64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSC>) outs(%init : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// What the function has computed is in no argument, and stays: the other operand is converted.
// CHECK-LABEL: func.func @computed
// CHECK: %[[SUMS:.*]] = linalg.generic
// CHECK: %[[Y:.*]] = tulle.convert %arg1 : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
// CHECK: linalg.generic {{.*}} ins(%[[Y]], %[[SUMS]]
// HOIST-LABEL: func.func @computed(
func.func @computed(%A: tensor<?x?xf64, #CSR> {tulle.name = "A"}, %y: tensor<?x?xf64, #CSC> {tulle.name = "y"}, %n: index) -> tensor<?x?xf64, #CSC> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%n, %n) : tensor<?x?xf64, #CSR>
  %init = tulle.fill %zero, %empty : f64, tensor<?x?xf64, #CSR>
  %sums = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } ins(%A : tensor<?x?xf64, #CSR>) outs(%init : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %a, %a : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSR>
  %next = tensor.empty(%n, %n) : tensor<?x?xf64, #CSC>
  %start = tulle.fill %zero, %next : f64, tensor<?x?xf64, #CSC>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } ins(%y, %sums : tensor<?x?xf64, #CSC>, tensor<?x?xf64, #CSR>) outs(%start : tensor<?x?xf64, #CSC>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSC>
  return %r : tensor<?x?xf64, #CSC>
}

// Maxima of columns: a row of A has gaps, which would be visited for each column. A stored by columns counts them.
// CHECK-LABEL: func.func @column_maxima
// CHECK: %[[A:.*]] = tulle.convert %arg0 : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #CSC>
// CHECK: linalg.generic {{.*}} ins(%[[A]]
// HOIST-LABEL: func.func @column_maxima(
func.func @column_maxima(%A: tensor<?x?xf64, #CSR> {tulle.name = "A"}, %y: tensor<?xf64>) -> tensor<?xf64> {
  %least = arith.constant 0xFFF0000000000000 : f64
  %init = tulle.fill %least, %y : f64, tensor<?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<?x?xf64, #CSR>) outs(%init : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %m = arith.maximumf %acc, %a : f64
    linalg.yield %m : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// Those of rows are as they are stored, and sums have nothing to add at gaps.
// CHECK-LABEL: func.func @row_maxima_and_column_sums
// CHECK-NOT: tulle.convert
// CHECK: return
// HOIST-LABEL: func.func @row_maxima_and_column_sums(
func.func @row_maxima_and_column_sums(%A: tensor<?x?xf64, #CSR> {tulle.name = "A"}, %y: tensor<?xf64>, %z: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %least = arith.constant 0xFFF0000000000000 : f64
  %init = tulle.fill %least, %y : f64, tensor<?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<?x?xf64, #CSR>) outs(%init : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %m = arith.maximumf %acc, %a : f64
    linalg.yield %m : f64
  } -> tensor<?xf64>
  %zero = arith.constant 0.0 : f64
  %start = tulle.fill %zero, %z : f64, tensor<?xf64>
  %s = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%A : tensor<?x?xf64, #CSR>) outs(%start : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %m = arith.addf %acc, %a : f64
    linalg.yield %m : f64
  } -> tensor<?xf64>
  return %r, %s : tensor<?xf64>, tensor<?xf64>
}

// Nothing has to be converted: the loop over columns of the result leaves its place inside of the one that is reduced.
// CHECK-LABEL: func.func @maxima_of_products
// CHECK-NOT: tulle.convert
// CHECK: linalg.generic {{.*}} attrs = {{.*}}reorder = ["d0", "d1", "d2"]
// HOIST-LABEL: func.func @maxima_of_products(
func.func @maxima_of_products(%A: tensor<?x?xf64, #CSR> {tulle.name = "A"}, %B: tensor<?x?xf64>, %C: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %least = arith.constant 0xFFF0000000000000 : f64
  %init = tulle.fill %least, %C : f64, tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k, j) -> (i, j)>, affine_map<(i, k, j) -> (j, k)>, affine_map<(i, k, j) -> (i, k)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    %m = arith.maximumf %acc, %p : f64
    linalg.yield %m : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
