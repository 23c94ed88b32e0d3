// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-sparsify))' | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// The matrix leads: its rows are all there, its columns are iterated, the vector is located. Every row stores its sum, so y is
// not filled first.
// CHECK-LABEL: func.func @spmv
// CHECK-NOT: tulle.fill
// CHECK: %[[ROWS:.*]] = tulle.range
// CHECK: tulle.iterate %[[I:[^ ]*]] in %[[ROWS]]
// CHECK: %[[ROW:.*]] = tulle.locate %arg0 level(0) at %[[I]]
// CHECK: %[[COLS:.*]] = tulle.space %arg0 level(1) under %[[ROW]]
// CHECK: tulle.iterate %[[J:[^ ]*]], %[[IT:[^ ]*]] in %[[COLS]] {{.*}} loop = <reduction, index = {{.*}}>
// CHECK-DAG: tulle.load %arg0[%[[IT]]
// CHECK-DAG: tulle.locate %arg1 level(0) at %[[J]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: tulle.store
func.func @spmv(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %y : f64, tensor<?xf64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%init : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#V = #tulle.encoding<{ map = (i) -> (i : compressed) }>

// Both absent leaves the filled zero: the union is visited, not the dimension. Each case holds what is left of the sum.
// CHECK-LABEL: func.func @union
// CHECK: tulle.fill
// CHECK: tulle.coiterate %{{.*}} in "a | b"
// CHECK: case "a" (
// CHECK-NOT: arith.addf
// CHECK: case "b" (
// CHECK-NOT: arith.addf
// CHECK: case "a & b" (
// CHECK: arith.addf
func.func @union(%A: tensor<?xf64, #V>, %B: tensor<?xf64, #V>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %y : f64, tensor<?xf64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%A, %B : tensor<?xf64, #V>, tensor<?xf64, #V>) outs(%init : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#V = #tulle.encoding<{ map = (i) -> (i : compressed) }>

// CHECK-LABEL: func.func @intersection
// CHECK: tulle.coiterate %{{.*}} in "a & b"
// CHECK: case "a & b" (
// CHECK-NOT: case
// CHECK: return
func.func @intersection(%A: tensor<?xf64, #V>, %B: tensor<?xf64, #V>, %y: tensor<f64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %y : f64, tensor<f64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%A, %B : tensor<?xf64, #V>, tensor<?xf64, #V>) outs(%init : tensor<f64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// -----

#V = #tulle.encoding<{ map = (i) -> (i : compressed) }>

// `where A & ~B`: the difference; B's values are never read.
// CHECK-LABEL: func.func @difference
// CHECK: tulle.coiterate %{{.*}} in "a \\ b"
// CHECK: case "a" (
// CHECK: tulle.load %arg0
// CHECK-NOT: tulle.load %arg1
// CHECK: return
func.func @difference(%A: tensor<?xf64, #V>, %B: tensor<?xf64, #V>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %y : f64, tensor<?xf64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%A, %B : tensor<?xf64, #V>, tensor<?xf64, #V>) outs(%init : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %true = arith.constant true
    %hasA = tulle.stored %a : f64
    %hasB = tulle.stored %b : f64
    %noB = arith.xori %hasB, %true : i1
    %here = arith.andi %hasA, %noB : i1
    %s = arith.select %here, %a, %acc : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#V = #tulle.encoding<{ map = (i) -> (i : compressed) }>

// One absent operand and a dense one: every coordinate is visited, peeking at the sparse operand.
// CHECK-LABEL: func.func @dense_union
// CHECK-NOT: tulle.fill
// CHECK: tulle.coiterate %{{.*}} in "1"
// CHECK: case "none" {
// CHECK: case "a" (
func.func @dense_union(%A: tensor<?xf64, #V>, %b: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %y : f64, tensor<?xf64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%A, %b : tensor<?xf64, #V>, tensor<?xf64>) outs(%init : tensor<?xf64>) {
  ^bb0(%a: f64, %c: f64, %acc: f64):
    %s = arith.addf %a, %c : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#V = #tulle.encoding<{ map = (i) -> (i : compressed) }>

// A maximum meets the implicit zeros once, if there are any: stored entries are counted, each as one (so that
// tulle-normalize-loops finds their number), the dimension is not iterated.
// CHECK-LABEL: func.func @maximum
// CHECK-NOT: tulle.range
// CHECK: %[[R:.*]]:2 = tulle.iterate {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %{{.*}})
// CHECK: arith.maximumf
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[COUNT]], %[[ONE]] : index
// CHECK-NEXT: tulle.yield %{{.*}}, %[[NEXT]]
// CHECK: arith.cmpi ult, %[[R]]#1
// CHECK: arith.maximumf %[[R]]#0
// CHECK: arith.select
func.func @maximum(%A: tensor<?xf64, #V>, %y: tensor<f64>) -> tensor<f64> {
  %low = arith.constant 0xFFF0000000000000 : f64
  %init = tulle.fill %low, %y : f64, tensor<f64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%A : tensor<?xf64, #V>) outs(%init : tensor<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.maximumf %acc, %a : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// -----

#V = #tulle.encoding<{ map = (i) -> (i : compressed) }>

// A product over a vector with a gap meets 0 once: it is 0, or nan if it was infinite.
// CHECK-LABEL: func.func @product
// CHECK-NOT: tulle.range
// CHECK: %[[R:.*]]:2 = tulle.iterate
// CHECK: %[[GAP:.*]] = arith.cmpi ult, %[[R]]#1
// CHECK: %[[ZERO:.*]] = arith.mulf %[[R]]#0
// CHECK: arith.select %[[GAP]], %[[ZERO]], %[[R]]#0
func.func @product(%A: tensor<?xf64, #V>, %y: tensor<f64>) -> tensor<f64> {
  %one = arith.constant 1.0 : f64
  %init = tulle.fill %one, %y : f64, tensor<f64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%A : tensor<?xf64, #V>) outs(%init : tensor<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.mulf %acc, %a : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Read off the iterated coordinates, a sparse operand is searched; where nothing is found nothing is added.
// CHECK-LABEL: func.func @trace
// CHECK: tulle.iterate %[[I:[^ ]*]] in
// CHECK: %[[ROW:.*]] = tulle.locate %arg0 level(0) at %[[I]]
// CHECK: %[[IT:.*]], %[[FOUND:.*]] = tulle.search %arg0 level(1) under %[[ROW]] {{.*}} at %[[I]]
// CHECK: scf.if %[[FOUND]]
// CHECK: tulle.load %arg0[%[[IT]]
// CHECK: else
// CHECK-NEXT: scf.yield
func.func @trace(%A: tensor<?x?xf64, #CSR>, %y: tensor<f64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %y : f64, tensor<f64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%A : tensor<?x?xf64, #CSR>) outs(%init : tensor<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %acc, %a : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// -----

#BCSR = #tulle.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense) }>

// Loops run over digits; the last block stops at the end of the dimension, so that padding meets no coordinate.
// CHECK-LABEL: func.func @blocks
// CHECK: tulle.iterate {{.*}} loop = <parallel, index = {{.*}}>
// CHECK: tulle.iterate {{.*}} loop = <reduction, index = {{.*}}>
// CHECK: arith.minui %{{.*}}, %{{.*}} : index
// CHECK: tulle.iterate {{.*}} loop = <parallel, index = {{.*}}>
// CHECK: arith.minui
// CHECK: tulle.iterate {{.*}} loop = <reduction, index = {{.*}}>
func.func @blocks(%A: tensor<?x?xf64, #BCSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %zero = arith.constant 0.0 : f64
  %init = tulle.fill %zero, %y : f64, tensor<?xf64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%A, %x : tensor<?x?xf64, #BCSR>, tensor<?xf64>) outs(%init : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>

// `y(i,j) min= A(i,j) where ~B(i,j)`: where B is stored the result keeps its start, so it is filled first.
// CHECK-LABEL: func.func @masked_start
// CHECK: tulle.fill
func.func @masked_start(%A: tensor<?x?xf64>, %B: tensor<?x?xf64, #COO>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %inf = arith.constant 0x7FF0000000000000 : f64
  %true = arith.constant true
  %init = tulle.fill %inf, %y : f64, tensor<?x?xf64>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%A, %B : tensor<?x?xf64>, tensor<?x?xf64, #COO>) outs(%init : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %m = arith.minimumf %acc, %a : f64
    %has = tulle.stored %b : f64
    %not = arith.xori %has, %true : i1
    %s = arith.select %not, %m, %acc : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// min(a, a) is 0 where a is: only stored entries are visited.
// CHECK-LABEL: func.func @min_of_itself
// CHECK: tulle.space %arg0 level(1)
// CHECK-NOT: tulle.coiterate
func.func @min_of_itself(%A: tensor<?x?xf64, #CSR>, %C: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %zero = arith.constant 0.0 : f64
  %like = tulle.like %C, %A : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>
  %init = tulle.fill %zero, %like : f64, tensor<?x?xf64, #CSR>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%A : tensor<?x?xf64, #CSR>) outs(%init : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %acc: f64):
    %m = arith.minimumf %a, %a : f64
    linalg.yield %m : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}
