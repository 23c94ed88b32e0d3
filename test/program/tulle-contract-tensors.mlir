// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-contract-tensors))' | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#dense = #tulle.encoding<{ map = (i) -> (i : dense) }>
!row = !tulle.iterator<#CSR, 0>
!entry = !tulle.iterator<#CSR, 1>
!at = !tulle.iterator<#dense, 0>

// What lives within a block has memory for a block: %t by its size, %e with the pattern of %a. The result stays.
// CHECK-LABEL: func.func @within_a_block
// CHECK-SAME: (%[[A:[^:]*]]: tensor<?x?xf64, #CSR> {{.*}}, %[[T:[^:]*]]: tensor<?xf64, #dense> {{.*}}, %[[E:[^:]*]]: tensor<?x?xf64, #CSR> {{.*}}, %[[Y:[^:]*]]: tensor<?xf64, #dense> {{.*}})
// CHECK: %[[R:.*]] = tulle.iterate %[[K:[^ ]*]] in %{{.*}} iter_args(%[[ACC:[^ ]*]] = %[[Y]])
// CHECK: %[[BLOCK:.*]] = tulle.partition
// CHECK: %[[ROWS:.*]] = tensor.dim %[[A]], %c0
// CHECK: %[[COLUMNS:.*]] = tensor.dim %[[A]], %c1
// CHECK: %[[BLOCKE:.*]] = tulle.empty(%[[ROWS]], %[[COLUMNS]]) like %[[A]] : tensor<?x?xf64, #CSR> at %[[BLOCK]] : !tulle.range -> tensor<?x?xf64, #CSR>
// CHECK: %[[M:.*]] = tensor.dim %[[A]], %c0
// CHECK: %[[BLOCKT:.*]] = tulle.empty(%[[M]]) at %[[BLOCK]] : !tulle.range -> tensor<?xf64, #dense>
// CHECK: %[[FILLED:.*]] = tulle.fill %{{.*}}, %[[BLOCKT]]
// CHECK: tulle.iterate %{{[^ ]*}} in %[[BLOCK]] : !tulle.range iter_args(%{{[^ ]*}} = %[[FILLED]], %{{[^ ]*}} = %[[BLOCKE]], %{{[^ ]*}} = %[[ACC]])
// CHECK-NOT: %[[T]]
// CHECK-NOT: %[[E]]
// CHECK: return %[[R]]
func.func @within_a_block(%a: tensor<?x?xf64, #CSR> {tulle.pattern = 0 : i64, tulle.sizes = array<i64: 0, 1>},
                          %t: tensor<?xf64, #dense> {tulle.statement = 0 : i64, tulle.sizes = array<i64: 0>},
                          %e: tensor<?x?xf64, #CSR> {tulle.statement = 1 : i64, tulle.pattern = 0 : i64, tulle.sizes = array<i64: 0, 1>},
                          %y: tensor<?xf64, #dense> {tulle.statement = 2 : i64, tulle.sizes = array<i64: 0>}) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %blocks = tulle.range %c0 to %c2
  %t0 = tulle.fill %one, %t : f64, tensor<?xf64, #dense>
  %r:3 = tulle.iterate %k in %blocks : !tulle.range iter_args(%t1 = %t0, %e1 = %e, %y1 = %y) -> (tensor<?xf64, #dense>, tensor<?x?xf64, #CSR>, tensor<?xf64, #dense>) {
    %block = tulle.partition %rows, %k of %c2 by %a : tensor<?x?xf64, #CSR> : !tulle.range
    %s:3 = tulle.iterate %i in %block : !tulle.range iter_args(%t2 = %t1, %e2 = %e1, %y2 = %y1) -> (tensor<?xf64, #dense>, tensor<?x?xf64, #CSR>, tensor<?xf64, #dense>) {
      %p = tulle.locate %t level(0) at %i : tensor<?xf64, #dense> -> !at
      %x = tulle.load %t2[%p : !at] : tensor<?xf64, #dense> -> f64
      %t3 = tulle.store %x, %t2[%p : !at] : f64, tensor<?xf64, #dense>
      %row = tulle.locate %e level(0) at %i : tensor<?x?xf64, #CSR> -> !row
      %entries = tulle.space %e level(1) under %row : !row : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      %e3 = tulle.iterate %j, %it in %entries : !tulle.space<#CSR, 1> iter_args(%e4 = %e2) -> (tensor<?x?xf64, #CSR>) {
        %e5 = tulle.store %x, %e4[%it : !entry] : f64, tensor<?x?xf64, #CSR>
        tulle.yield %e5 : tensor<?x?xf64, #CSR>
      }
      %q = tulle.locate %y level(0) at %i : tensor<?xf64, #dense> -> !at
      %y3 = tulle.store %x, %y2[%q : !at] : f64, tensor<?xf64, #dense>
      tulle.yield %t3, %e3, %y3 : tensor<?xf64, #dense>, tensor<?x?xf64, #CSR>, tensor<?xf64, #dense>
    }
    tulle.yield %s#0, %s#1, %s#2 : tensor<?xf64, #dense>, tensor<?x?xf64, #CSR>, tensor<?xf64, #dense>
  }
  return %r#2 : tensor<?xf64, #dense>
}

// Every block reads the first value of %t, which is none of its own.
// CHECK-LABEL: func.func @elsewhere
// CHECK-NOT: tulle.empty
func.func @elsewhere(%n: index, %a: tensor<?xf64, #dense> {tulle.sizes = array<i64: 0>},
                     %t: tensor<?xf64, #dense> {tulle.statement = 0 : i64, tulle.sizes = array<i64: 0>},
                     %y: tensor<?xf64, #dense> {tulle.statement = 1 : i64, tulle.sizes = array<i64: 0>}) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f64
  %rows = tulle.range %c0 to %n
  %blocks = tulle.range %c0 to %c2
  %r:2 = tulle.iterate %k in %blocks : !tulle.range iter_args(%t1 = %t, %y1 = %y) -> (tensor<?xf64, #dense>, tensor<?xf64, #dense>) {
    %block = tulle.partition %rows, %k of %c2 : !tulle.range
    %s:2 = tulle.iterate %i in %block : !tulle.range iter_args(%t2 = %t1, %y2 = %y1) -> (tensor<?xf64, #dense>, tensor<?xf64, #dense>) {
      %first = tulle.locate %t level(0) at %c0 : tensor<?xf64, #dense> -> !at
      %x = tulle.load %t2[%first : !at] : tensor<?xf64, #dense> -> f64
      %p = tulle.locate %t level(0) at %i : tensor<?xf64, #dense> -> !at
      %t3 = tulle.store %one, %t2[%p : !at] : f64, tensor<?xf64, #dense>
      %y3 = tulle.store %x, %y2[%p : !at] : f64, tensor<?xf64, #dense>
      tulle.yield %t3, %y3 : tensor<?xf64, #dense>, tensor<?xf64, #dense>
    }
    tulle.yield %s#0, %s#1 : tensor<?xf64, #dense>, tensor<?xf64, #dense>
  }
  return %r#1 : tensor<?xf64, #dense>
}
