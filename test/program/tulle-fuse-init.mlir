// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-fuse-init))' | FileCheck %s

#dense = #tulle.encoding<{ map = (i, j) -> (i : dense, j : dense) }>
#columns = #tulle.encoding<{ map = (i, j) -> (j : dense, i : dense) }>

// Each iteration updates its own row: it starts with the loop that sets the row.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<?xf64>, %[[C:[a-z0-9]*]]: tensor<?x?xf64
// CHECK-NOT: tulle.fill
// CHECK: tulle.iterate %[[I:[^ ]*]] in %{{.*}} iter_args(%[[ACC:.*]] = %[[C]])
// CHECK: %[[ROW:.*]] = tulle.locate %[[C]] level(0) at %[[I]]
// CHECK: %[[N:.*]] = tulle.level_size %[[C]] level(1)
// CHECK: %[[ALL:.*]] = tulle.range %{{.*}} to %[[N]]
// CHECK: %[[SET:.*]] = tulle.iterate %[[K:[^ ]*]] in %[[ALL]] : !tulle.range iter_args(%[[CARRIED:.*]] = %[[ACC]])
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
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
    %row = tulle.locate %c level(0) at %i : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %at = tulle.locate %c level(1) under %row : !tulle.iterator<#dense, 0> at %c0 : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 1>
    %old = tulle.load %acc[%at : !tulle.iterator<#dense, 1>] : tensor<?x?xf64, #dense> -> f64
    %new = arith.addf %old, %old : f64
    %next = tulle.store %new, %acc[%at : !tulle.iterator<#dense, 1>] : f64, tensor<?x?xf64, #dense>
    tulle.yield %next : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}

// Of tiles of rows, the loop inside sets each row; tiles that overlap keep the fill.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %[[C:[a-z0-9]*]]: tensor<?x?xf64
// CHECK-NOT: tulle.fill
// CHECK: tulle.iterate %{{.*}} in %{{.*}} iter_args(%[[OUTER:.*]] = %[[C]])
// CHECK: tulle.iterate %[[I:[^ ]*]] in %{{.*}} iter_args(%[[ACC:.*]] = %[[OUTER]])
// CHECK: tulle.locate %[[C]] level(0) at %[[I]]
// CHECK: %[[SET:.*]] = tulle.iterate %{{.*}} iter_args(%{{.*}} = %[[ACC]])
// CHECK: tulle.store %{{.*}}, %[[SET]]
func.func @tiles(%a: tensor<?xf64>, %c: tensor<?x?xf64, #dense>) -> tensor<?x?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #dense>
  %count = arith.ceildivui %m, %c8 : index
  %tiles = tulle.range %c0 to %count
  %r = tulle.iterate %t in %tiles : !tulle.range iter_args(%outer = %filled) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
    %first = arith.muli %t, %c8 : index
    %next = arith.addi %first, %c8 : index
    %end = arith.minui %m, %next : index
    %rows = tulle.range %first to %end
    %s = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %outer) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
      %row = tulle.locate %c level(0) at %i : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 0>
      %at = tulle.locate %c level(1) under %row : !tulle.iterator<#dense, 0> at %c0 : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 1>
      %new = tulle.store %zero, %acc[%at : !tulle.iterator<#dense, 1>] : f64, tensor<?x?xf64, #dense>
      tulle.yield %new : tensor<?x?xf64, #dense>
    }
    tulle.yield %s : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}

// CHECK-LABEL: func.func @overlapping_tiles
// CHECK: tulle.fill
// CHECK-NOT: tulle.level_size
func.func @overlapping_tiles(%a: tensor<?xf64>, %c: tensor<?x?xf64, #dense>) -> tensor<?x?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #dense>
  %count = arith.ceildivui %m, %c8 : index
  %tiles = tulle.range %c0 to %count
  %r = tulle.iterate %t in %tiles : !tulle.range iter_args(%outer = %filled) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
    %first = arith.muli %t, %c8 : index
    %next = arith.addi %first, %c9 : index
    %end = arith.minui %m, %next : index
    %rows = tulle.range %first to %end
    %s = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %outer) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
      %row = tulle.locate %c level(0) at %i : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 0>
      %at = tulle.locate %c level(1) under %row : !tulle.iterator<#dense, 0> at %c0 : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 1>
      %new = tulle.store %zero, %acc[%at : !tulle.iterator<#dense, 1>] : f64, tensor<?x?xf64, #dense>
      tulle.yield %new : tensor<?x?xf64, #dense>
    }
    tulle.yield %s : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}

// Iterations that update an element in every column, and iterations that do not visit every row, keep the fill.
// CHECK-LABEL: func.func @columns
// CHECK: tulle.fill
// CHECK-NOT: tulle.level_size
func.func @columns(%a: tensor<?xf64>, %c: tensor<?x?xf64, #columns>) -> tensor<?x?xf64, #columns> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #columns>
  %rows = tulle.range %c0 to %m
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #columns>) loop = <parallel> {
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
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
    %row = tulle.locate %c level(0) at %i : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %at = tulle.locate %c level(1) under %row : !tulle.iterator<#dense, 0> at %c0 : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 1>
    %next = tulle.store %zero, %acc[%at : !tulle.iterator<#dense, 1>] : f64, tensor<?x?xf64, #dense>
    tulle.yield %next : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}

#vector = #tulle.encoding<{ map = (i) -> (i : dense) }>

// Each iteration updates four rows, the last one those that are left: it starts with the loop that sets them.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<?xf64>, %[[Y:[a-z0-9]*]]: tensor<?xf64
// CHECK-NOT: tulle.fill
// CHECK: tulle.iterate %[[I:[^ ]*]] in %{{.*}} iter_args(%[[ACC:.*]] = %[[Y]])
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %[[FOUR:.*]] : index
// CHECK: %[[N:.*]] = tulle.level_size %[[Y]] level(0)
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[LEFT]], %[[FOUR]]
// CHECK: %[[ROWS:.*]] = tulle.range %{{.*}} to %[[COUNT]]
// CHECK: %[[SET:.*]] = tulle.iterate %[[R:[^ ]*]] in %[[ROWS]] : !tulle.range iter_args(%[[CARRIED:.*]] = %[[ACC]])
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[R]]
// CHECK: %[[AT:.*]] = tulle.locate %[[Y]] level(0) at %[[ROW]]
// CHECK: tulle.store %{{.*}}, %[[CARRIED]][%[[AT]]
// CHECK: tulle.iterate %{{.*}} iter_args(%{{.*}} = %[[SET]])
func.func @blocks(%a: tensor<?xf64>, %y: tensor<?xf64, #vector>) -> tensor<?xf64, #vector> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %y : f64, tensor<?xf64, #vector>
  %more = arith.addi %m, %c3 : index
  %iterations = arith.divui %more, %c4 : index
  %blocks = tulle.range %c0 to %iterations
  %r = tulle.iterate %i in %blocks : !tulle.range iter_args(%acc = %filled) -> (tensor<?xf64, #vector>) loop = <parallel> {
    %first = arith.muli %i, %c4 : index
    %left = arith.subi %m, %first : index
    %count = arith.minui %left, %c4 : index
    %rows = tulle.range %c0 to %count
    %done = tulle.iterate %o in %rows : !tulle.range iter_args(%inside = %acc) -> (tensor<?xf64, #vector>) loop = <parallel> {
      %row = arith.addi %first, %o : index
      %at = tulle.locate %y level(0) at %row : tensor<?xf64, #vector> -> !tulle.iterator<#vector, 0>
      %old = tulle.load %inside[%at : !tulle.iterator<#vector, 0>] : tensor<?xf64, #vector> -> f64
      %new = arith.addf %old, %old : f64
      %next = tulle.store %new, %inside[%at : !tulle.iterator<#vector, 0>] : f64, tensor<?xf64, #vector>
      tulle.yield %next : tensor<?xf64, #vector>
    }
    tulle.yield %done : tensor<?xf64, #vector>
  }
  return %r : tensor<?xf64, #vector>
}

// Rounds of blocks of three that update four rows write each other's: the fill stays before them.
// CHECK-LABEL: func.func @overlapping_blocks
// CHECK: tulle.fill
// CHECK-NOT: tulle.level_size
func.func @overlapping_blocks(%a: tensor<?xf64>, %y: tensor<?xf64, #vector>) -> tensor<?xf64, #vector> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %y : f64, tensor<?xf64, #vector>
  %more = arith.addi %m, %c2 : index
  %iterations = arith.divui %more, %c3 : index
  %blocks = tulle.range %c0 to %iterations
  %r = tulle.iterate %i in %blocks : !tulle.range iter_args(%acc = %filled) -> (tensor<?xf64, #vector>) loop = <parallel> {
    %first = arith.muli %i, %c3 : index
    %rows = tulle.range %c0 to %c4
    %done = tulle.iterate %o in %rows : !tulle.range iter_args(%inside = %acc) -> (tensor<?xf64, #vector>) loop = <parallel> {
      %row = arith.addi %first, %o : index
      %at = tulle.locate %y level(0) at %row : tensor<?xf64, #vector> -> !tulle.iterator<#vector, 0>
      %next = tulle.store %zero, %inside[%at : !tulle.iterator<#vector, 0>] : f64, tensor<?xf64, #vector>
      tulle.yield %next : tensor<?xf64, #vector>
    }
    tulle.yield %done : tensor<?xf64, #vector>
  }
  return %r : tensor<?xf64, #vector>
}

// Nothing says that the iterations of a loop that touches no row are the rows.
// CHECK-LABEL: func.func @untouched
// CHECK: tulle.fill
// CHECK-NOT: tulle.level_size
func.func @untouched(%a: tensor<?xf64>, %c: tensor<?x?xf64, #dense>) -> tensor<?x?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #dense>
  %others = tulle.range %c0 to %m
  %r = tulle.iterate %i in %others : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
    tulle.yield %acc : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}

// All iterations are in one row, which is located outside of the loop: its coordinates are those of columns.
// CHECK-LABEL: func.func @one_row
// CHECK: tulle.fill
// CHECK: tulle.iterate
func.func @one_row(%y: tensor<?x?xf64, #dense>, %row: index) -> tensor<?x?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %n = tensor.dim %y, %c1 : tensor<?x?xf64, #dense>
  %filled = tulle.fill %zero, %y : f64, tensor<?x?xf64, #dense>
  %at = tulle.locate %y level(0) at %row : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 0>
  %columns = tulle.range %c0 to %n
  %r = tulle.iterate %l in %columns : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
    %e = tulle.locate %y level(1) under %at : !tulle.iterator<#dense, 0> at %l : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 1>
    %s = tulle.store %one, %acc[%e : !tulle.iterator<#dense, 1>] : f64, tensor<?x?xf64, #dense>
    tulle.yield %s : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}

#bcsr = #tulle.encoding<{ map = (i, j) -> (i floordiv 4 : dense, j floordiv 4 : compressed, i mod 4 : dense, j mod 4 : dense) }>

// Blocks within the dimensions are assigned whole: the others, of which some elements are padding, get the start value first.
// CHECK-LABEL: func.func @stored_blocks
// CHECK-SAME: %{{.*}}: tensor<?x?xf64, #{{.*}}>, %[[C:[a-z0-9]*]]: tensor<?x?xf64
// CHECK-NOT: tulle.fill
// CHECK: tulle.iterate %{{.*}} in %{{.*}} iter_args(%[[OUTER:.*]] = %[[C]])
// CHECK: tulle.iterate %{{.*}}, %[[IT:[^ ]*]] in %{{.*}} iter_args(%[[ACC:.*]] = %[[OUTER]])
// CHECK-DAG: %[[ROWS:.*]] = arith.minui
// CHECK-DAG: arith.cmpi ne, %[[ROWS]], %{{.*}}
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
// CHECK: %[[RANGE:.*]] = tulle.range %{{.*}} to %[[COUNT]]
// CHECK: %[[SET:.*]] = tulle.iterate %{{.*}} in %[[RANGE]] : !tulle.range iter_args(%{{.*}} = %[[ACC]])
// CHECK: tulle.locate %[[C]] level(2) under %[[IT]]
// CHECK: tulle.iterate %{{.*}} iter_args(%{{.*}} = %[[SET]])
func.func @stored_blocks(%a: tensor<?x?xf64, #bcsr>, %c: tensor<?x?xf64, #bcsr>) -> tensor<?x?xf64, #bcsr> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #bcsr>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #bcsr>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #bcsr>
  %up = arith.addi %m, %c3 : index
  %count = arith.divui %up, %c4 : index
  %rows = tulle.range %c0 to %count
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #bcsr>) loop = <parallel> {
    %row = tulle.locate %a level(0) at %i : tensor<?x?xf64, #bcsr> -> !tulle.iterator<#bcsr, 0>
    %space = tulle.space %a level(1) under %row : !tulle.iterator<#bcsr, 0> : tensor<?x?xf64, #bcsr> -> !tulle.space<#bcsr, 1>
    %r1 = tulle.iterate %j, %it in %space : !tulle.space<#bcsr, 1> iter_args(%acc1 = %acc) -> (tensor<?x?xf64, #bcsr>) loop = <parallel> {
      %first = arith.muli %i, %c4 : index
      %left = arith.subi %m, %first : index
      %height = arith.minui %left, %c4 : index
      %inside = tulle.range %c0 to %height
      %r2 = tulle.iterate %ii in %inside : !tulle.range iter_args(%acc2 = %acc1) -> (tensor<?x?xf64, #bcsr>) loop = <parallel> {
        %at2 = tulle.locate %a level(2) under %it : !tulle.iterator<#bcsr, 1> at %ii : tensor<?x?xf64, #bcsr> -> !tulle.iterator<#bcsr, 2>
        %start = arith.muli %j, %c4 : index
        %rest = arith.subi %n, %start : index
        %width = arith.minui %rest, %c4 : index
        %across = tulle.range %c0 to %width
        %r3 = tulle.iterate %jj in %across : !tulle.range iter_args(%acc3 = %acc2) -> (tensor<?x?xf64, #bcsr>) loop = <parallel> {
          %at3 = tulle.locate %a level(3) under %at2 : !tulle.iterator<#bcsr, 2> at %jj : tensor<?x?xf64, #bcsr> -> !tulle.iterator<#bcsr, 3>
          %x = tulle.load %a[%at3 : !tulle.iterator<#bcsr, 3>] : tensor<?x?xf64, #bcsr> -> f64
          %y = arith.addf %x, %x : f64
          %next = tulle.store %y, %acc3[%at3 : !tulle.iterator<#bcsr, 3>] : f64, tensor<?x?xf64, #bcsr>
          tulle.yield %next : tensor<?x?xf64, #bcsr>
        }
        tulle.yield %r3 : tensor<?x?xf64, #bcsr>
      }
      tulle.yield %r2 : tensor<?x?xf64, #bcsr>
    }
    tulle.yield %r1 : tensor<?x?xf64, #bcsr>
  }
  return %r : tensor<?x?xf64, #bcsr>
}

// A loop that stores to the diagonals of blocks leaves the other elements as they are: the fill stays.
// CHECK-LABEL: func.func @some_of_a_block
// CHECK: tulle.fill
func.func @some_of_a_block(%a: tensor<?x?xf64, #bcsr>, %c: tensor<?x?xf64, #bcsr>) -> tensor<?x?xf64, #bcsr> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #bcsr>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #bcsr>
  %up = arith.addi %m, %c3 : index
  %count = arith.divui %up, %c4 : index
  %rows = tulle.range %c0 to %count
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #bcsr>) loop = <parallel> {
    %row = tulle.locate %a level(0) at %i : tensor<?x?xf64, #bcsr> -> !tulle.iterator<#bcsr, 0>
    %space = tulle.space %a level(1) under %row : !tulle.iterator<#bcsr, 0> : tensor<?x?xf64, #bcsr> -> !tulle.space<#bcsr, 1>
    %r1 = tulle.iterate %j, %it in %space : !tulle.space<#bcsr, 1> iter_args(%acc1 = %acc) -> (tensor<?x?xf64, #bcsr>) loop = <parallel> {
      %four = tulle.range %c0 to %c4
      %r2 = tulle.iterate %ii in %four : !tulle.range iter_args(%acc2 = %acc1) -> (tensor<?x?xf64, #bcsr>) loop = <parallel> {
        %at2 = tulle.locate %a level(2) under %it : !tulle.iterator<#bcsr, 1> at %ii : tensor<?x?xf64, #bcsr> -> !tulle.iterator<#bcsr, 2>
        %at3 = tulle.locate %a level(3) under %at2 : !tulle.iterator<#bcsr, 2> at %ii : tensor<?x?xf64, #bcsr> -> !tulle.iterator<#bcsr, 3>
        %next = tulle.store %zero, %acc2[%at3 : !tulle.iterator<#bcsr, 3>] : f64, tensor<?x?xf64, #bcsr>
        tulle.yield %next : tensor<?x?xf64, #bcsr>
      }
      tulle.yield %r2 : tensor<?x?xf64, #bcsr>
    }
    tulle.yield %r1 : tensor<?x?xf64, #bcsr>
  }
  return %r : tensor<?x?xf64, #bcsr>
}

// A loop over all rows of `a`, of which the result has more (a part of a concatenation): the others have the fill's value only.
// CHECK-LABEL: func.func @rows_of_a_part
// CHECK: tulle.fill
func.func @rows_of_a_part(%a: tensor<?xf64> {tulle.sizes = array<i64: 2>}, %c: tensor<?x?xf64, #dense> {tulle.sizes = array<i64: 0, 1>}) -> tensor<?x?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?xf64>
  %filled = tulle.fill %zero, %c : f64, tensor<?x?xf64, #dense>
  %rows = tulle.range %c0 to %m
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %filled) -> (tensor<?x?xf64, #dense>) loop = <parallel> {
    %row = tulle.locate %c level(0) at %i : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %at = tulle.locate %c level(1) under %row : !tulle.iterator<#dense, 0> at %c0 : tensor<?x?xf64, #dense> -> !tulle.iterator<#dense, 1>
    %next = tulle.store %zero, %acc[%at : !tulle.iterator<#dense, 1>] : f64, tensor<?x?xf64, #dense>
    tulle.yield %next : tensor<?x?xf64, #dense>
  }
  return %r : tensor<?x?xf64, #dense>
}
