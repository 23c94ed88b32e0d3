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

// Blocks of i, which is the second level of %t: a block has a tensor of its own, with as many i as the block. Where a loop of the block asks
// for the size of that level, the tensor stays whole.
// CHECK-LABEL: func.func @below_others
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x?xf64> {{.*}}, %[[T:[^:]*]]: tensor<?x?xf64> {{.*}}, %[[Y:[^:]*]]: tensor<?xf64, #dense> {{.*}})
// CHECK: tulle.iterate %{{[^ ]*}} in %{{.*}} iter_args(%{{[^ ]*}} = %[[Y]])
// CHECK: %[[BLOCK:.*]] = tulle.partition
// CHECK: %[[BEGIN:.*]], %[[END:.*]] = tulle.bounds %[[BLOCK]]
// CHECK: %[[OWN:.*]] = arith.subi %{{.*}}, %[[BEGIN]]
// CHECK: %[[OUTER:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[MEMORY:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[BLOCKT:.*]] = tulle.storage(%[[MEMORY]]) sizes(%[[OUTER]], %[[OWN]])
// CHECK: tulle.iterate %[[I:[^ ]*]] in %[[BLOCK]]
// CHECK: tulle.iterate %[[R:[^ ]*]] in
// CHECK: %[[ROW:.*]] = tulle.locate %[[BLOCKT]] level(0) at %[[R]]
// CHECK: %[[INSIDE:.*]] = arith.subi %[[I]], %[[BEGIN]]
// CHECK: tulle.locate %[[BLOCKT]] level(1) under %[[ROW]] {{.*}} at %[[INSIDE]]
// CHECK-NOT: %[[T]]
// CHECK: memref.dealloc %[[MEMORY]]
// CHECK-LABEL: func.func @asks_for_the_size
// CHECK-NOT: memref.alloc
// CHECK: tulle.level_size
#matrix = #tulle.encoding<{ map = (i, j) -> (i : dense, j : dense) }>
!outer = !tulle.iterator<#matrix, 0>
!inner = !tulle.iterator<#matrix, 1>
func.func @below_others(%x: tensor<?x?xf64> {tulle.sizes = array<i64: 0, 1>}, %t: tensor<?x?xf64> {tulle.statement = 0 : i64, tulle.sizes = array<i64: 0, 1>},
                        %y: tensor<?xf64, #dense> {tulle.statement = 1 : i64, tulle.sizes = array<i64: 1>}) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?x?xf64>
  %m = tensor.dim %x, %c1 : tensor<?x?xf64>
  %is = tulle.range %c0 to %m
  %rs = tulle.range %c0 to %n
  %blocks = tulle.range %c0 to %c2
  %r:2 = tulle.iterate %k in %blocks : !tulle.range iter_args(%t1 = %t, %y1 = %y) -> (tensor<?x?xf64>, tensor<?xf64, #dense>) {
    %block = tulle.partition %is, %k of %c2 : !tulle.range
    %s:2 = tulle.iterate %i in %block : !tulle.range iter_args(%t2 = %t1, %y2 = %y1) -> (tensor<?x?xf64>, tensor<?xf64, #dense>) {
      %u = tulle.iterate %r0 in %rs : !tulle.range iter_args(%t3 = %t2) -> (tensor<?x?xf64>) {
        %p = tulle.locate %t level(0) at %r0 : tensor<?x?xf64> -> !outer
        %q = tulle.locate %t level(1) under %p : !outer at %i : tensor<?x?xf64> -> !inner
        %t4 = tulle.store %one, %t3[%q : !inner] : f64, tensor<?x?xf64>
        tulle.yield %t4 : tensor<?x?xf64>
      }
      %p = tulle.locate %t level(0) at %c0 : tensor<?x?xf64> -> !outer
      %q = tulle.locate %t level(1) under %p : !outer at %i : tensor<?x?xf64> -> !inner
      %v = tulle.load %u[%q : !inner] : tensor<?x?xf64> -> f64
      %w = tulle.locate %y level(0) at %i : tensor<?xf64, #dense> -> !at
      %y3 = tulle.store %v, %y2[%w : !at] : f64, tensor<?xf64, #dense>
      tulle.yield %u, %y3 : tensor<?x?xf64>, tensor<?xf64, #dense>
    }
    tulle.yield %s#0, %s#1 : tensor<?x?xf64>, tensor<?xf64, #dense>
  }
  return %r#1 : tensor<?xf64, #dense>
}

func.func @asks_for_the_size(%x: tensor<?x?xf64> {tulle.sizes = array<i64: 0, 1>}, %t: tensor<?x?xf64> {tulle.statement = 0 : i64, tulle.sizes = array<i64: 0, 1>},
                             %y: tensor<?xindex, #dense> {tulle.statement = 1 : i64, tulle.sizes = array<i64: 1>}) -> tensor<?xindex, #dense> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f64
  %m = tensor.dim %x, %c1 : tensor<?x?xf64>
  %is = tulle.range %c0 to %m
  %blocks = tulle.range %c0 to %c2
  %r:2 = tulle.iterate %k in %blocks : !tulle.range iter_args(%t1 = %t, %y1 = %y) -> (tensor<?x?xf64>, tensor<?xindex, #dense>) {
    %block = tulle.partition %is, %k of %c2 : !tulle.range
    %s:2 = tulle.iterate %i in %block : !tulle.range iter_args(%t2 = %t1, %y2 = %y1) -> (tensor<?x?xf64>, tensor<?xindex, #dense>) {
      %p = tulle.locate %t level(0) at %c0 : tensor<?x?xf64> -> !outer
      %q = tulle.locate %t level(1) under %p : !outer at %i : tensor<?x?xf64> -> !inner
      %t3 = tulle.store %one, %t2[%q : !inner] : f64, tensor<?x?xf64>
      %size = tulle.level_size %t level(1) : tensor<?x?xf64>
      %w = tulle.locate %y level(0) at %i : tensor<?xindex, #dense> -> !at
      %y3 = tulle.store %size, %y2[%w : !at] : index, tensor<?xindex, #dense>
      tulle.yield %t3, %y3 : tensor<?x?xf64>, tensor<?xindex, #dense>
    }
    tulle.yield %s#0, %s#1 : tensor<?x?xf64>, tensor<?xindex, #dense>
  }
  return %r#1 : tensor<?xindex, #dense>
}

// Without blocks an iteration has a row of its own, whose size is known before the loop. A vector stays: its elements are values.
// CHECK-LABEL: func.func @row_by_row
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x?xf64> {{.*}}, %[[T:[^:]*]]: tensor<?x?xf64> {{.*}}, %[[E:[^:]*]]: tensor<?xf64, #dense> {{.*}}, %[[Y:[^:]*]]: tensor<?xf64, #dense> {{.*}})
// CHECK: tensor.dim %[[X]], %c1
// CHECK: %[[COLUMNS:.*]] = tensor.dim %[[X]], %c1
// CHECK: %[[SIZE:.*]] = arith.select %{{.*}}, %[[COLUMNS]], %{{.*}} : index
// CHECK: tulle.iterate %[[I:[^ ]*]] in %{{.*}} iter_args(%{{[^ ]*}} = %[[E]], %{{[^ ]*}} = %[[Y]])
// CHECK: %[[COUNT:.*]] = arith.minui %[[SIZE]]
// CHECK: %[[MEMORY:.*]] = memref.alloc(%[[COUNT]]) : memref<?xf64>
// CHECK: %[[ROW:.*]] = tulle.storage(%[[MEMORY]]) sizes(%{{.*}}, %[[COLUMNS]])
// CHECK: tulle.locate %[[ROW]] level(0) at %c0
// CHECK: tulle.iterate %{{[^ ]*}} in %{{.*}} iter_args(%{{[^ ]*}} = %[[ROW]])
// CHECK-NOT: %[[T]]
// CHECK: memref.dealloc %[[MEMORY]]
func.func @row_by_row(%x: tensor<?x?xf64> {tulle.sizes = array<i64: 0, 1>}, %t: tensor<?x?xf64> {tulle.statement = 0 : i64, tulle.sizes = array<i64: 0, 1>},
                      %e: tensor<?xf64, #dense> {tulle.statement = 1 : i64, tulle.sizes = array<i64: 0>},
                      %y: tensor<?xf64, #dense> {tulle.statement = 2 : i64, tulle.sizes = array<i64: 0>}) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?x?xf64>
  %m = tensor.dim %x, %c1 : tensor<?x?xf64>
  %rows = tulle.range %c0 to %n
  %columns = tulle.range %c0 to %m
  %r:3 = tulle.iterate %i in %rows : !tulle.range iter_args(%t1 = %t, %e1 = %e, %y1 = %y) -> (tensor<?x?xf64>, tensor<?xf64, #dense>, tensor<?xf64, #dense>) {
    %row = tulle.locate %t level(0) at %i : tensor<?x?xf64> -> !outer
    %u = tulle.iterate %j in %columns : !tulle.range iter_args(%t2 = %t1) -> (tensor<?x?xf64>) {
      %q = tulle.locate %t level(1) under %row : !outer at %j : tensor<?x?xf64> -> !inner
      %t3 = tulle.store %one, %t2[%q : !inner] : f64, tensor<?x?xf64>
      tulle.yield %t3 : tensor<?x?xf64>
    }
    %q = tulle.locate %t level(1) under %row : !outer at %c0 : tensor<?x?xf64> -> !inner
    %v = tulle.load %u[%q : !inner] : tensor<?x?xf64> -> f64
    %p = tulle.locate %e level(0) at %i : tensor<?xf64, #dense> -> !at
    %e2 = tulle.store %v, %e1[%p : !at] : f64, tensor<?xf64, #dense>
    %w = tulle.locate %y level(0) at %i : tensor<?xf64, #dense> -> !at
    %y2 = tulle.store %v, %y1[%w : !at] : f64, tensor<?xf64, #dense>
    tulle.yield %u, %e2, %y2 : tensor<?x?xf64>, tensor<?xf64, #dense>, tensor<?xf64, #dense>
  }
  return %r#2 : tensor<?xf64, #dense>
}
