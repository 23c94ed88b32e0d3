// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s --check-prefixes=CHECK,BLOCKS
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-fuse-loops{always=true}))' | FileCheck %s --check-prefix=ALWAYS
// RUN: sed 's/math.exp/arith.negf/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s --check-prefixes=CHECK,MASKS
// RUN: sed 's/znver3/znver4/' %s | tulle-opt --pass-pipeline='builtin.module(func.func(tulle-fuse-loops))' | FileCheck %s --check-prefixes=CHECK,MASKS

// The second loop waits for the sum of a row: in blocks, both loops visit the same rows in turn. The iterations of one loop overlap, and the
// block is in the cache when the second loop reads it.
// CHECK-LABEL: func.func @scaled_rows
// CHECK-SAME: (%[[A:[^:]*]]: tensor<?x?xf64, #CSR>
// CHECK: %[[ROWS:.*]] = tulle.range
// CHECK: %[[WORK:.*]] = tulle.work %[[ROWS]] by %[[A]]
// CHECK: %[[SMALL:.*]] = arith.ceildivui %[[WORK]], %c4096
// CHECK: %[[SOME:.*]] = arith.minui %[[SMALL]], %c8
// CHECK: %[[LARGE:.*]] = arith.ceildivui %[[WORK]], %c16384
// CHECK: %[[COUNT:.*]] = arith.maxui %[[LARGE]], %[[SOME]]
// CHECK: %[[BLOCKS:.*]] = tulle.range %c0{{.*}} to %[[COUNT]]
// CHECK: tulle.iterate %[[K:[^ ]*]] in %[[BLOCKS]] : !tulle.range iter_args(%[[T:[^ ]*]] = %{{[^ ]*}}, %[[Y:[^ ]*]] = %{{[^ ]*}})
// CHECK-SAME: loop = <parallel, index = i_block, blocks>
// BLOCKS: %[[BLOCK:.*]] = tulle.partition %[[ROWS]], %[[K]] of %[[COUNT]] by %[[A]]
// BLOCKS: %[[SUMS:.*]] = tulle.iterate %i in %[[BLOCK]] : !tulle.range iter_args(%{{.*}} = %[[T]])
// BLOCKS: %[[SCALED:.*]] = tulle.iterate %i in %[[BLOCK]] : !tulle.range iter_args(%{{.*}} = %[[Y]])
// BLOCKS: tulle.load %[[SUMS]]
// BLOCKS: tulle.yield %[[SUMS]], %[[SCALED]]

// ALWAYS-LABEL: func.func @scaled_rows
// ALWAYS-NOT: i_block
// ALWAYS: tulle.iterate %i in
// ALWAYS-NOT: tulle.iterate %i

// Where masks are free, or little is done with each entry, short rows stay in registers from one loop to the other: both are in one loop over the rows of a block.
// MASKS: tulle.iterate %i in
// MASKS: tulle.iterate %j
// MASKS-NOT: tulle.iterate %i
// MASKS: tulle.iterate %j
// MASKS-NOT: tulle.iterate
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#dense = #tulle.encoding<{ map = (i) -> (i : dense) }>
!row = !tulle.iterator<#CSR, 0>
!entry = !tulle.iterator<#CSR, 1>
!at = !tulle.iterator<#dense, 0>
module attributes {tulle.cpu = #tulle.cpu<znver3>} {
func.func @scaled_rows(%a: tensor<?x?xf64, #CSR> {tulle.pattern = 0 : i64, tulle.sizes = array<i64: 0, 1>},
                       %t: tensor<?xf64, #dense> {tulle.statement = 0 : i64, tulle.sizes = array<i64: 0>},
                       %y: tensor<?x?xf64, #CSR> {tulle.statement = 1 : i64, tulle.pattern = 0 : i64, tulle.sizes = array<i64: 0, 1>})
    -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %sums = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %t) -> (tensor<?xf64, #dense>) loop = <parallel, index = i> {
    %row = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !row
    %entries = tulle.space %a level(1) under %row : !row : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %sum = tulle.iterate %j, %it in %entries : !tulle.space<#CSR, 1> iter_args(%s = %zero) -> (f64) loop = <reduction, index = j> {
      %x = tulle.load %a[%it : !entry] : tensor<?x?xf64, #CSR> -> f64
      %next = arith.addf %s, %x fastmath<reassoc> : f64
      tulle.yield %next : f64
    }
    %p = tulle.locate %t level(0) at %i : tensor<?xf64, #dense> -> !at
    %next = tulle.store %sum, %acc[%p : !at] : f64, tensor<?xf64, #dense>
    tulle.yield %next : tensor<?xf64, #dense>
  }
  %scaled = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %y) -> (tensor<?x?xf64, #CSR>) loop = <parallel, index = i> {
    %row = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !row
    %entries = tulle.space %a level(1) under %row : !row : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %p = tulle.locate %t level(0) at %i : tensor<?xf64, #dense> -> !at
    %sum = tulle.load %sums[%p : !at] : tensor<?xf64, #dense> -> f64
    %r = tulle.iterate %j, %it in %entries : !tulle.space<#CSR, 1> iter_args(%in = %acc) -> (tensor<?x?xf64, #CSR>) loop = <parallel, index = j> {
      %x = tulle.load %a[%it : !entry] : tensor<?x?xf64, #CSR> -> f64
      %q = arith.divf %x, %sum : f64
      %f = math.exp %q : f64
      %next = tulle.store %f, %in[%it : !entry] : f64, tensor<?x?xf64, #CSR>
      tulle.yield %next : tensor<?x?xf64, #CSR>
    }
    tulle.yield %r : tensor<?x?xf64, #CSR>
  }
  return %scaled : tensor<?x?xf64, #CSR>
}
}
