// RUN: tulle-opt %s --tulle-parallelize | FileCheck %s
// RUN: tulle-opt %s --tulle-parallelize=deterministic | FileCheck --check-prefix=SAME %s

#dense = #tulle.encoding<{ map = (i) -> (i : dense) }>
#rows = #tulle.encoding<{ map = (i, j) -> (i : dense, j : dense) }>
#selection = #tulle.encoding<{ map = (i, j) -> (i : dense, j : singleton(padded)), posWidth = 32, crdWidth = 32 }>
!row = !tulle.iterator<#rows, 0>
!element = !tulle.iterator<#rows, 1>

// Integers select the rows: a small result has copies, of a large one tasks have ranges of rows. A task samples how often rows are selected, lists the
// iterations that select its own, and runs them.
// CHECK-LABEL: func.func @scatter
// CHECK: scf.if
// CHECK: memref.alloc
// CHECK: } else {
// CHECK: tulle.parallel %[[TASK:.*]] of %{{.*}} iter_args(%[[OWN:.*]] = %{{.*}})
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[BEGIN:.*]] = %{{.*}}, %[[END:.*]] = %{{.*}})
// CHECK: %[[LIST:.*]] = memref.alloc
// CHECK: %[[SELECTED:.*]] = memref.alloc
// CHECK: tulle.iterate %{{.*}} iter_args(%[[BLOCK:.*]] = %[[OWN]])
// CHECK: %[[COUNT:.*]] = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[NEXT:.*]] = %{{.*}})
// CHECK: tulle.locate %{{.*}} level(0) at %[[I]]
// CHECK: %{{.*}}, %[[COORDINATE:.*]], %{{.*}} = tulle.at
// CHECK: memref.store %[[I]], %[[LIST]][%[[NEXT]]]
// CHECK: memref.store %[[COORDINATE]], %[[SELECTED]][%[[NEXT]]]
// CHECK: %[[RANGE:.*]] = tulle.range %{{.*}} to %[[COUNT]]
// CHECK: tulle.iterate %[[AT:[^ ]*]] in %[[RANGE]] : !tulle.range iter_args(%{{.*}} = %[[BLOCK]])
// CHECK-SAME: parallelize = destination
// CHECK-DAG: %[[ITERATION:.*]] = memref.load %[[LIST]][%[[AT]]]
// CHECK-DAG: %[[ROW:.*]] = memref.load %[[SELECTED]][%[[AT]]]
// CHECK-DAG: tulle.locate %{{.*}} level(0) at %[[ITERATION]]
// CHECK-DAG: tulle.locate %{{.*}} level(0) at %[[ROW]]

// For the same bits, copies are no way. The number of tasks is that of the threads.
// SAME-LABEL: func.func @scatter
// SAME-NOT: fixed
// SAME: scf.if
// SAME-NEXT: tulle.parallel
func.func @scatter(%y: tensor<?x?xf32, #rows>, %p: tensor<?x?xi32, #selection>, %z: tensor<?x?xf32, #rows>) -> tensor<?x?xf32, #rows> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %y, %c0 : tensor<?x?xf32, #rows>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32, #rows>
  %is = tulle.range %c0 to %m
  %r = tulle.iterate %i in %is : !tulle.range iter_args(%acc = %z) -> (tensor<?x?xf32, #rows>) loop = <reduction, index = i> {
    %from = tulle.locate %y level(0) at %i : tensor<?x?xf32, #rows> -> !row
    %integer = tulle.locate %p level(0) at %i : tensor<?x?xi32, #selection> -> !tulle.iterator<#selection, 0>
    %one = tulle.space %p level(1) under %integer : !tulle.iterator<#selection, 0> : tensor<?x?xi32, #selection> -> !tulle.space<#selection, 1>
    %begin, %end = tulle.bounds %one : !tulle.space<#selection, 1>
    %it, %u, %entry = tulle.at %one[%begin] : !tulle.space<#selection, 1>
    %to = tulle.locate %z level(0) at %u : tensor<?x?xf32, #rows> -> !row
    %ks = tulle.range %c0 to %n
    %row = tulle.iterate %k in %ks : !tulle.range iter_args(%in = %acc) -> (tensor<?x?xf32, #rows>) loop = <parallel, index = k> {
      %a = tulle.locate %y level(1) under %from : !row at %k : tensor<?x?xf32, #rows> -> !element
      %x = tulle.load %y[%a : !element] : tensor<?x?xf32, #rows> -> f32
      %b = tulle.locate %z level(1) under %to : !row at %k : tensor<?x?xf32, #rows> -> !element
      %old = tulle.load %in[%b : !element] : tensor<?x?xf32, #rows> -> f32
      %sum = arith.addf %old, %x fastmath<reassoc> : f32
      %out = tulle.store %sum, %in[%b : !element] : f32, tensor<?x?xf32, #rows>
      tulle.yield %out : tensor<?x?xf32, #rows>
    }
    tulle.yield %row : tensor<?x?xf32, #rows>
  }
  return %r : tensor<?x?xf32, #rows>
}

// Two rows of an iteration are in two ranges.
// CHECK-LABEL: func.func @two_rows
// CHECK-NOT: parallelize = destination
// SAME-LABEL: func.func @two_rows
func.func @two_rows(%y: tensor<?x?xf32, #rows>, %p: tensor<?x?xi32, #selection>, %z: tensor<?x?xf32, #rows>) -> tensor<?x?xf32, #rows> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %y, %c0 : tensor<?x?xf32, #rows>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32, #rows>
  %is = tulle.range %c0 to %m
  %r = tulle.iterate %i in %is : !tulle.range iter_args(%acc = %z) -> (tensor<?x?xf32, #rows>) loop = <reduction, index = i> {
    %integer = tulle.locate %p level(0) at %i : tensor<?x?xi32, #selection> -> !tulle.iterator<#selection, 0>
    %one = tulle.space %p level(1) under %integer : !tulle.iterator<#selection, 0> : tensor<?x?xi32, #selection> -> !tulle.space<#selection, 1>
    %begin, %end = tulle.bounds %one : !tulle.space<#selection, 1>
    %it, %u, %entry = tulle.at %one[%begin] : !tulle.space<#selection, 1>
    %from = tulle.locate %z level(0) at %c1 : tensor<?x?xf32, #rows> -> !row
    %to = tulle.locate %z level(0) at %u : tensor<?x?xf32, #rows> -> !row
    %ks = tulle.range %c0 to %n
    %row = tulle.iterate %k in %ks : !tulle.range iter_args(%in = %acc) -> (tensor<?x?xf32, #rows>) loop = <parallel, index = k> {
      %a = tulle.locate %z level(1) under %from : !row at %k : tensor<?x?xf32, #rows> -> !element
      %x = tulle.load %in[%a : !element] : tensor<?x?xf32, #rows> -> f32
      %b = tulle.locate %z level(1) under %to : !row at %k : tensor<?x?xf32, #rows> -> !element
      %out = tulle.store %x, %in[%b : !element] : f32, tensor<?x?xf32, #rows>
      tulle.yield %out : tensor<?x?xf32, #rows>
    }
    tulle.yield %row : tensor<?x?xf32, #rows>
  }
  return %r : tensor<?x?xf32, #rows>
}
