// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-sink-fill))' | FileCheck %s

#dense = #tulle.encoding<{ map = (i, j) -> (i : dense, j : dense) }>
#columns = #tulle.encoding<{ map = (i, j) -> (j : dense, i : dense) }>

// Each round updates its own row: it starts with the loop that sets the row.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<?xf64>, %[[C:[a-z0-9]*]]: tensor<?x?xf64
// CHECK-NOT: tulle.fill
// CHECK: tulle.iterate %[[I:.*]] in %{{.*}} iter_args(%[[ACC:.*]] = %[[C]])
// CHECK: %[[ROW:.*]] = tulle.locate %[[C]] level(0) at %[[I]]
// CHECK: %[[N:.*]] = tulle.level_size %[[C]] level(1)
// CHECK: %[[ALL:.*]] = tulle.range %{{.*}} to %[[N]]
// CHECK: %[[SET:.*]] = tulle.iterate %[[K:.*]] in %[[ALL]] : !tulle.range iter_args(%[[CARRIED:.*]] = %[[ACC]])
// CHECK: %[[AT:.*]] = tulle.locate %[[C]] level(1) under %[[ROW]] : {{.*}} at %[[K]]
// CHECK: tulle.store %{{.*}}, %[[CARRIED]][%[[AT]]
// CHECK: tulle.load %[[SET]]
// CHECK: tulle.store %{{.*}}, %[[SET]]
func.func @rows(%a: tensor<?xf64>, %c: tensor<?x?xf64, #dense>) -> tensor<?x?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #dense>
  %rows = tulle.range %c0 to %m
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #dense>) kind = parallel {
    %row = tulle.locate %c level(0) at %i : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %at = tulle.locate %c level(1) under %row : !tulle.iterator<#dense, 0> at %c0 : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 1>
    %old = tulle.load %acc[%at : !tulle.iterator<#dense, 1>] : tensor<?x?xf64, #dense> -> f64
    %new = arith.addf %old, %old : f64
    %next = tulle.store %new, %acc[%at : !tulle.iterator<#dense, 1>] : f64, tensor<?x?xf64, #dense>
    tulle.yield %next : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}

// Rounds that update a place in every column, and rounds that do not visit every row, keep the fill.
// CHECK-LABEL: func.func @columns
// CHECK: tulle.fill
// CHECK-NOT: tulle.level_size
func.func @columns(%a: tensor<?xf64>, %c: tensor<?x?xf64, #columns>) -> tensor<?x?xf64, #columns> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #columns>
  %rows = tulle.range %c0 to %m
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #columns>) kind = parallel {
    %column = tulle.locate %c level(0) at %c0 : tensor<?x?xf64, #columns> -> !tulle.iterator<#columns, 0>
    %at = tulle.locate %c level(1) under %column : !tulle.iterator<#columns, 0> at %i : tensor<?x?xf64, #columns> -> !tulle.iterator<#columns, 1>
    %next = tulle.store %zero, %acc[%at : !tulle.iterator<#columns, 1>] : f64, tensor<?x?xf64, #columns>
    tulle.yield %next : tensor<?x?xf64, #columns>
  }
  return %r : tensor<?x?xf64, #columns>
}

// CHECK-LABEL: func.func @some_rows
// CHECK: tulle.fill
// CHECK-NOT: tulle.level_size
func.func @some_rows(%n: index, %c: tensor<?x?xf64, #dense>) -> tensor<?x?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #dense>
  %rows = tulle.range %c0 to %n
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #dense>) kind = parallel {
    %row = tulle.locate %c level(0) at %i : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %at = tulle.locate %c level(1) under %row : !tulle.iterator<#dense, 0> at %c0 : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 1>
    %next = tulle.store %zero, %acc[%at : !tulle.iterator<#dense, 1>] : f64, tensor<?x?xf64, #dense>
    tulle.yield %next : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}
