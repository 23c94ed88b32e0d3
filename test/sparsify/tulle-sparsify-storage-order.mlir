// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-resolve-order,tulle-sparsify,canonicalize))' 2>&1 | FileCheck %s

// Operands that no loop over a dimension follows: traversed as they are stored where that is enough, else converted.

#DIA = #tulle.encoding<{ map = (i, j) -> (j - i : squeezed, i : dense, j : offset), posWidth = 32, crdWidth = 32 }>
#ELL = #tulle.encoding<{ map = (i, j) -> (#i : dense, i : dense, j : singleton(padded)), posWidth = 32, crdWidth = 32 }>
#DOK = #tulle.encoding<{ map = (i, j) -> (i : hashed, j : hashed), posWidth = 32, crdWidth = 16 }>
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#A = affine_map<(i, j) -> (i, j)>
#X = affine_map<(i, j) -> (j)>
#Y = affine_map<(i, j) -> (i)>

// CHECK: remark: operand 0 is converted from DIA to CSR before the loops
// CHECK: remark: operand 0 is converted from DOK to CSR before the loops
// CHECK-NOT: remark

// Diagonals add to the same rows; the rows of one do not meet.
// CHECK-LABEL: func.func @spmv(
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<?x?xf64, #DIA>, %[[V:[a-z0-9]+]]: tensor<?xf64>, %[[R:[a-z0-9]+]]: tensor<?xf64>
// CHECK: tulle.fill %{{.*}}, %[[R]]
// CHECK: tulle.iterate {{.*}} loop = <reduction>
// CHECK: tulle.iterate %[[I:.*]], %{{.*}} in {{.*}} loop = <parallel, index = {{.*}}>
// CHECK: tulle.iterate %[[J:.*]], %[[Q:[^ ]*]] in
// CHECK: %{{.*}}, %[[INSIDE:.*]] = tulle.coordinates %[[M]][%[[Q]]
// CHECK: scf.if %[[INSIDE]]
// CHECK-DAG: tulle.locate %[[V]] level(0) at %[[J]]
// CHECK-DAG: tulle.locate %{{.*}} level(0) at %[[I]]
// CHECK: tulle.store
func.func @spmv(%A: tensor<?x?xf64, #DIA>, %x: tensor<?xf64>, %y : tensor<?xf64>) -> tensor<?xf64> {
  %z = arith.constant 0.0 : f64
  %0 = tulle.fill %z, %y : f64, tensor<?xf64>
  %r = linalg.generic {indexing_maps = [#A, #X, #Y], iterator_types = ["parallel", "reduction"]} ins(%A, %x : tensor<?x?xf64, #DIA>, tensor<?xf64>) outs(%0 : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// A row of the result is finished before the next one begins: the loop over rows stands around the one over the columns of entries.
// CHECK-LABEL: func.func @spmm(
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<?x?xf64, #ELL>
// CHECK: %[[ENTRIES:.*]] = tulle.space %[[M]] level(0)
// CHECK: %[[SIZE:.*]] = tulle.level_size %[[M]] level(1)
// CHECK: %[[ROWS:.*]] = tulle.range %{{.*}} to %[[SIZE]]
// CHECK: tulle.iterate %[[I:.*]] in %[[ROWS]] {{.*}} loop = <parallel, index = {{.*}}>
// CHECK: tulle.iterate %{{.*}}, %[[E:.*]] in %[[ENTRIES]] {{.*}} loop = <reduction>
// CHECK: %[[AT:.*]] = tulle.locate %[[M]] level(1) under %[[E]] : !tulle.iterator<#ELL, 0> at %[[I]]
// CHECK: tulle.space %[[M]] level(2) under %[[AT]]
// CHECK: tulle.coordinates %[[M]]
// CHECK: scf.if
// CHECK: tulle.locate %{{.*}} level(0) at %[[I]]
// CHECK: tulle.iterate {{.*}} !tulle.range {{.*}} loop = <parallel, index = {{.*}}>
func.func @spmm(%A: tensor<?x?xf64, #ELL>, %B: tensor<?x?xf64>, %C: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %z = arith.constant 0.0 : f64
  %0 = tulle.fill %z, %C : f64, tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k, j) -> (i, j)>, affine_map<(i, k, j) -> (j, k)>, affine_map<(i, k, j) -> (i, k)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : tensor<?x?xf64, #ELL>, tensor<?x?xf64>) outs(%0 : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// The transposed product adds to rows that the entries select: the loops stand as A is stored.
// CHECK-LABEL: func.func @transposed(
// CHECK: tulle.iterate {{.*}} !tulle.space<#ELL, 0> {{.*}} loop = <reduction>
// CHECK: tulle.iterate {{.*}} !tulle.space<#ELL, 1> {{.*}} loop = <reduction, index = {{.*}}>
// CHECK: tulle.iterate {{.*}} !tulle.space<#ELL, 2>
func.func @transposed(%A: tensor<?x?xf64, #ELL>, %B: tensor<?x?xf64>, %C: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %z = arith.constant 0.0 : f64
  %0 = tulle.fill %z, %C : f64, tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k, j) -> (j, i)>, affine_map<(i, k, j) -> (j, k)>, affine_map<(i, k, j) -> (i, k)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B : tensor<?x?xf64, #ELL>, tensor<?x?xf64>) outs(%0 : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// Something happens where the operand stores nothing.
// CHECK-LABEL: func.func @plus_dense(
// CHECK: tulle.convert %{{.*}} to tensor<?x?xf64, #CSR>
// CHECK-NOT: tulle.coordinates
// CHECK: return
func.func @plus_dense(%A: tensor<?x?xf64, #DIA>, %B: tensor<?x?xf64>, %C: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.generic {indexing_maps = [#A, #A, #A], iterator_types = ["parallel", "parallel"]} ins(%A, %B : tensor<?x?xf64, #DIA>, tensor<?x?xf64>) outs(%C : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// Two sparse operands are merged, for which both need an order.
// CHECK-LABEL: func.func @times_sparse(
// CHECK: tulle.convert %{{.*}} to tensor<?x?xf64, #CSR>
// CHECK: tulle.coiterate
func.func @times_sparse(%A: tensor<?x?xf64, #DOK>, %B: tensor<?x?xf64, #CSR>, %C: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %z = arith.constant 0.0 : f64
  %0 = tulle.fill %z, %C : f64, tensor<?x?xf64>
  %r = linalg.generic {indexing_maps = [#A, #A, #A], iterator_types = ["parallel", "parallel"]} ins(%A, %B : tensor<?x?xf64, #DOK>, tensor<?x?xf64, #CSR>) outs(%0 : tensor<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %s = arith.mulf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// The pattern stays; the other one is searched at its entries.
// CHECK-LABEL: func.func @masked(
// CHECK: tulle.iterate
// CHECK: tulle.iterate
// CHECK: tulle.coordinates %arg0
// CHECK: tulle.search %arg1 level(1)
// CHECK: tulle.store %{{.*}}, %{{.*}} : f64, tensor<?x?xf64, #DOK>
func.func @masked(%A: tensor<?x?xf64, #DOK>, %B: tensor<?x?xf64, #CSR>, %C: tensor<?x?xf64, #DOK>) -> tensor<?x?xf64, #DOK> {
  %z = arith.constant 0.0 : f64
  %like = tulle.like %C, %A : tensor<?x?xf64, #DOK>, tensor<?x?xf64, #DOK>
  %0 = tulle.fill %z, %like : f64, tensor<?x?xf64, #DOK>
  %r = linalg.generic {indexing_maps = [#A, #A, #A], iterator_types = ["parallel", "parallel"]} ins(%A, %B : tensor<?x?xf64, #DOK>, tensor<?x?xf64, #CSR>) outs(%0 : tensor<?x?xf64, #DOK>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %s = arith.mulf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #DOK>
  return %r : tensor<?x?xf64, #DOK>
}
