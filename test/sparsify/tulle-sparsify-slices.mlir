// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-sparsify,canonicalize,cse))' | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Rows of the slice are found by arithmetic, its columns are an interval of each row; both by numbers of the caller.
// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf64, #CSR>, %[[FROM:[^:]*]]: index, %[[ROWS:[^:]*]]: index, %[[STEP:[^:]*]]: index, %[[LEFT:[^:]*]]: index, %[[COLUMNS:[^:]*]]: index
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[ALL:.*]] = tulle.range %{{.*}} to %[[ROWS]]
// CHECK: tulle.iterate %[[I:.*]] in %[[ALL]]
// CHECK: %[[APART:.*]] = arith.muli %[[I]], %[[STEP]]
// CHECK: %[[ROW:.*]] = arith.addi %[[APART]], %[[FROM]]
// CHECK: %[[AT:.*]] = tulle.locate %[[A]] level(0) at %[[ROW]]
// CHECK: %[[ENTRIES:.*]] = tulle.space %[[A]] level(1) under %[[AT]]
// CHECK: %[[RIGHT:.*]] = arith.addi %[[LEFT]], %[[COLUMNS]]
// CHECK: %[[INTERVAL:.*]] = tulle.range %[[LEFT]] to %[[RIGHT]]
// CHECK: %[[PART:.*]] = tulle.restrict %[[ENTRIES]] to %[[INTERVAL]]
// CHECK: %[[OWN:.*]] = tulle.shift %[[PART]] by %[[LEFT]]
// CHECK: tulle.iterate %{{.*}}, %{{.*}} in %[[OWN]]
func.func @both(%A: tensor<?x?xf64, #CSR>, %from: index, %rows: index, %step: index, %left: index, %columns: index,
                %y: tensor<?xf64>) -> tensor<?xf64> {
  %part = tensor.extract_slice %A[%from, %left] [%rows, %columns] [%step, 1] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #CSR>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%part : tensor<?x?xf64, #CSR>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %sum = arith.addf %acc, %a : f64
    linalg.yield %sum : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// All of a dimension is no part of it.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: tulle.restrict
// CHECK: return
func.func @whole(%A: tensor<?x?xf64, #CSR>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %A, %c1 : tensor<?x?xf64, #CSR>
  %part = tensor.extract_slice %A[0, 0] [%m, %n] [1, 1] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #CSR>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%part : tensor<?x?xf64, #CSR>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %sum = arith.addf %acc, %a : f64
    linalg.yield %sum : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}
