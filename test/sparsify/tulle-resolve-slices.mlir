// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-resolve-slices))' -split-input-file -verify-diagnostics | FileCheck %s

#ROWS = #tulle.encoding<{ map = (i : #tulle<slice(3, 4, 2)>, j) -> (i : dense, j : compressed) }>
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Row i is row 3 + 2 i of the whole.
// CHECK: #CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK-LABEL: func.func @total(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf64, #CSR> {tulle.name = "A", tulle.whole = #{{.*}}slice(3, 4, 2){{.*}}}
// CHECK: %[[COLUMNS:.*]] = tensor.dim %[[A]], %c1
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[A]][3, 0] [4, %[[COLUMNS]]] [2, 1] : tensor<?x?xf64, #CSR> to tensor<4x?xf64, #CSR>
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: linalg.generic {{.*}}ins(%[[PART]] :
// CHECK: return %{{.*}}, %[[FOUR]]
func.func @total(%A: tensor<?x?xf64, #ROWS> {tulle.name = "A"}, %s: tensor<f64> {tulle.name = "s"}) -> (tensor<f64>, index) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %A, %c0 : tensor<?x?xf64, #ROWS>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]
  } ins(%A : tensor<?x?xf64, #ROWS>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %sum = arith.addf %acc, %a : f64
    linalg.yield %sum : f64
  } -> tensor<f64>
  return %r, %rows : tensor<f64>, index
}

// -----

#COLUMNS = #tulle.encoding<{ map = (i, j : #tulle<slice(3, 4, 1)>) -> (i : dense, j : compressed) }>

// Neighbouring columns of the compressed level are an interval of each row.
// CHECK-LABEL: func.func @interval(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf64, #CSR> {tulle.name = "A", tulle.whole = #{{.*}}slice(3, 4, 1){{.*}}}
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[A]][0, 3] [%{{.*}}, 4] [1, 1] : tensor<?x?xf64, #CSR> to tensor<?x4xf64, #CSR>
// CHECK: linalg.generic {{.*}}ins(%[[PART]] :
func.func @interval(%A: tensor<?x?xf64, #COLUMNS> {tulle.name = "A"}, %y: tensor<?xf64> {tulle.name = "y"}) -> tensor<?xf64> {
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%A : tensor<?x?xf64, #COLUMNS>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %sum = arith.addf %acc, %a : f64
    linalg.yield %sum : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#COLUMNS = #tulle.encoding<{ map = (i, j : #tulle<slice(3, 4, 2)>) -> (i : dense, j : compressed) }>

// Every other column: the caller copies them.
// CHECK: #[[SLICED:.*]] = #tulle.encoding<{ map = (i, j : #tulle<slice(3, 4, 2)>)
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf64, #[[SLICED]]> {tulle.name = "A"}
// CHECK: %[[COPY:.*]] = tulle.convert %[[A]] : tensor<?x?xf64, #[[SLICED]]> to tensor<?x?xf64, #CSR>
// CHECK: linalg.generic {{.*}}ins(%[[COPY]] : tensor<?x?xf64, #CSR>)
func.func @rows(%A: tensor<?x?xf64, #COLUMNS> {tulle.name = "A"}, %y: tensor<?xf64> {tulle.name = "y"}) -> tensor<?xf64> {
  // expected-remark @below {{A is copied before the loops}}
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%A : tensor<?x?xf64, #COLUMNS>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %sum = arith.addf %acc, %a : f64
    linalg.yield %sum : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#BLOCKS = #tulle.encoding<{ map = (i, j : #tulle<slice(1, 4, 1)>) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>

// A copy in blocks would store coordinates that the slice does not.
// CHECK-LABEL: func.func @blocks(
// CHECK: tulle.convert {{.*}} to tensor<?x?xf64, #CSR>
func.func @blocks(%A: tensor<?x?xf64, #BLOCKS> {tulle.name = "A"}, %y: tensor<?xf64> {tulle.name = "y"}) -> tensor<?xf64> {
  // expected-remark @below {{A is copied before the loops}}
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%A : tensor<?x?xf64, #BLOCKS>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %sum = arith.addf %acc, %a : f64
    linalg.yield %sum : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#PART = #tulle.encoding<{ map = (i : #tulle<slice(0, 4, 1)>) -> (i : dense) }>

// expected-error @below {{a result is a slice}}
func.func @result(%x: tensor<4xf64, #PART>) -> tensor<4xf64, #PART> {
  return %x : tensor<4xf64, #PART>
}

// -----

#ANY = #tulle.encoding<{ map = (i : #tulle<slice(?, ?, ?)>, j : #tulle<slice(2, ?, 1)>) -> (i : dense, j : compressed) }>

// What only the caller knows is an argument behind the tensor.
// CHECK-LABEL: func.func @any(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf64, #CSR> {tulle.name = "A", tulle.whole = #tulle.encoding<{ map = (i : #tulle<slice(?, ?, ?)>, j : #tulle<slice(2, ?, 1)>) -> {{.*}} }>},
// CHECK-SAME: %[[FROM:[^:]*]]: index {tulle.name = "A.offset0", tulle.slice = #tulle.slice_number<tensor = "A", dim = 0, part = offset>},
// CHECK-SAME: %[[ROWS:[^:]*]]: index {tulle.name = "A.size0", tulle.slice = #tulle.slice_number<tensor = "A", dim = 0, part = size>},
// CHECK-SAME: %[[STEP:[^:]*]]: index {tulle.name = "A.stride0", tulle.slice = #tulle.slice_number<tensor = "A", dim = 0, part = stride>},
// CHECK-SAME: %[[COLUMNS:[^:]*]]: index {tulle.name = "A.size1", tulle.slice = #tulle.slice_number<tensor = "A", dim = 1, part = size>},
// CHECK-SAME: tensor<f64> {tulle.name = "s"}
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[A]][%[[FROM]], 2] [%[[ROWS]], %[[COLUMNS]]] [%[[STEP]], 1] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #CSR>
// CHECK: linalg.generic {{.*}}ins(%[[PART]] :
// CHECK: return %{{.*}}, %[[ROWS]]
func.func @any(%A: tensor<?x?xf64, #ANY> {tulle.name = "A"}, %s: tensor<f64> {tulle.name = "s"}) -> (tensor<f64>, index) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %A, %c0 : tensor<?x?xf64, #ANY>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]
  } ins(%A : tensor<?x?xf64, #ANY>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %sum = arith.addf %acc, %a : f64
    linalg.yield %sum : f64
  } -> tensor<f64>
  return %r, %rows : tensor<f64>, index
}

// -----

#STEP = #tulle.encoding<{ map = (i : #tulle<slice(0, 4, ?)>) -> (i : compressed) }>

// A step that may not be 1 is no interval.
// CHECK-LABEL: func.func @step(
// CHECK: tulle.convert
func.func @step(%x: tensor<4xf64, #STEP>, %s: tensor<f64>) -> tensor<f64> {
  // expected-remark @below {{operand 0 is copied before the loops}}
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]
  } ins(%x : tensor<4xf64, #STEP>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %sum = arith.addf %acc, %a : f64
    linalg.yield %sum : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>

// A slice that the function makes is read in the whole too, or in a copy of the whole.
// CHECK-LABEL: func.func @starts(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf64, #CSR>, %[[B:.*]]: tensor<?x?xf64, #COO>
// CHECK: tensor.extract_slice %[[A]][0, 0] [4, 4] [1, 1]
// CHECK: %[[COPY:.*]] = tulle.convert %[[B]] : tensor<?x?xf64, #COO> to tensor<?x?xf64, #CSR>
// CHECK: tensor.extract_slice %[[COPY]][0, 0] [4, 4] [1, 1] : tensor<?x?xf64, #CSR> to tensor<4x4xf64, #CSR>
func.func @starts(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #COO>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %a = tensor.extract_slice %A[0, 0] [4, 4] [1, 1] : tensor<?x?xf64, #CSR> to tensor<4x4xf64, #CSR>
  %b = tensor.extract_slice %B[0, 0] [4, 4] [1, 1] : tensor<?x?xf64, #COO> to tensor<4x4xf64, #COO>
  // expected-remark @below {{operand 1 is copied before the loops}}
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%a, %b : tensor<4x4xf64, #CSR>, tensor<4x4xf64, #COO>) outs(%y : tensor<4xf64>) {
  ^bb0(%u: f64, %v: f64, %acc: f64):
    %p = arith.mulf %u, %v : f64
    %sum = arith.addf %acc, %p : f64
    linalg.yield %sum : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}
