// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-check-in-blocks,cse))' | FileCheck %s

#dense = #tulle.encoding<{ map = (i) -> (i : dense), posWidth = 32, crdWidth = 32 }>
#selection = #tulle.encoding<{ map = (i, j) -> (i : dense, j : singleton(padded)), posWidth = 32, crdWidth = 32 }>

// Each block of integers is checked, and then read; and so are those that are left.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: %{{.*}}: tensor<?xf64, #dense>, %[[P:.*]]: tensor<?xi32, #dense>, %{{.*}}: tensor<?xf64, #dense>)
// CHECK: %[[N:.*]] = tensor.dim %arg2
// CHECK-NOT: tulle.bounded_indices
// CHECK: %[[ALL:.*]] = tulle.range
// CHECK: %[[BEGIN:.*]], %[[END:.*]] = tulle.bounds %[[ALL]] : !tulle.range
// CHECK: %[[LENGTH:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: %[[COUNT:.*]] = arith.divui %[[LENGTH]], %c64
// CHECK: %[[BLOCKS:.*]] = tulle.range %c0 to %[[COUNT]]
// CHECK: %[[R:.*]] = tulle.iterate %[[K:.*]] in %[[BLOCKS]] : !tulle.range iter_args(%[[ACC:.*]] = %{{.*}}) {{.*}} loop = <reduction> {
// CHECK:   %[[BEFORE:.*]] = arith.muli %[[K]], %c64
// CHECK:   %[[FIRST:.*]] = arith.addi %[[BEGIN]], %[[BEFORE]]
// CHECK:   %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c64{{.*}} overflow<nsw, nuw>
// CHECK:   %[[PART:.*]] = tulle.range %[[FIRST]] to %[[BEHIND]]
// CHECK:   %[[Q:.*]] = tulle.bounded_indices %[[P]] below %[[N]] over %[[PART]] outside error "p(i)"
// CHECK:   %[[S:.*]] = tulle.one_hot total %[[Q]] of %[[N]]
// CHECK:   %[[INNER:.*]] = tulle.iterate %[[I:[^ ]*]] in %[[PART]] : !tulle.range iter_args(%{{.*}} = %[[ACC]]) {{.*}} loop = <reduction, index = i> {
// CHECK:     tulle.locate %[[S]] level(0) at %[[I]]
// CHECK:   tulle.yield %[[INNER]]
// CHECK: %[[DONE:.*]] = arith.muli %[[COUNT]], %c64
// CHECK: %[[LEFT:.*]] = arith.addi %[[BEGIN]], %[[DONE]]
// CHECK: %[[REST:.*]] = tulle.range %[[LEFT]] to %[[END]]
// CHECK: tulle.bounded_indices %[[P]] below %[[N]] over %[[REST]] outside error "p(i)"
// CHECK: %[[LAST:.*]] = tulle.iterate %{{[^ ]*}} in %[[REST]] : !tulle.range iter_args(%{{.*}} = %[[R]])
// CHECK: return %[[LAST]]
func.func @scatter(%w: tensor<?xf64, #dense>, %p: tensor<?xi32, #dense>, %z: tensor<?xf64, #dense>) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %z, %c0 : tensor<?xf64, #dense>
  %q = tulle.bounded_indices %p below %n deferred outside error "p(i)" : tensor<?xi32, #dense> -> tensor<?xi32, #dense>
  %s = tulle.one_hot total %q of %n : tensor<?xi32, #dense> -> tensor<?x?xi32, #selection>
  %m = tensor.dim %w, %c0 : tensor<?xf64, #dense>
  %new0 = tulle.fill %zero, %z : f64, tensor<?xf64, #dense>
  %all = tulle.range %c0 to %m
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %new0) -> (tensor<?xf64, #dense>) loop = <reduction, index = i> {
    %wi = tulle.locate %w level(0) at %i : tensor<?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %v = tulle.load %w[%wi : !tulle.iterator<#dense, 0>] : tensor<?xf64, #dense> -> f64
    %si = tulle.locate %s level(0) at %i : tensor<?x?xi32, #selection> -> !tulle.iterator<#selection, 0>
    %sj = tulle.space %s level(1) under %si : !tulle.iterator<#selection, 0> : tensor<?x?xi32, #selection> -> !tulle.space<#selection, 1>
    %begin, %end = tulle.bounds %sj : !tulle.space<#selection, 1>
    %it, %c, %e = tulle.at %sj[%begin] : !tulle.space<#selection, 1>
    %zi = tulle.locate %z level(0) at %c : tensor<?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %old = tulle.load %acc[%zi : !tulle.iterator<#dense, 0>] : tensor<?xf64, #dense> -> f64
    %new = arith.addf %old, %v : f64
    %next = tulle.store %new, %acc[%zi : !tulle.iterator<#dense, 0>] : f64, tensor<?xf64, #dense>
    tulle.yield %next : tensor<?xf64, #dense>
  }
  return %r : tensor<?xf64, #dense>
}

// What is not deferred is checked before the loop.
// CHECK-LABEL: func.func @ahead(
// CHECK: tulle.bounded_indices %{{.*}} below %{{[^ ]*}} outside error "p(i)"
// CHECK-NOT: tulle.bounded_indices
// CHECK: return
func.func @ahead(%w: tensor<?xf64, #dense>, %p: tensor<?xi32, #dense>, %z: tensor<?xf64, #dense>) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %z, %c0 : tensor<?xf64, #dense>
  %q = tulle.bounded_indices %p below %n outside error "p(i)" : tensor<?xi32, #dense> -> tensor<?xi32, #dense>
  %s = tulle.one_hot total %q of %n : tensor<?xi32, #dense> -> tensor<?x?xi32, #selection>
  %m = tensor.dim %w, %c0 : tensor<?xf64, #dense>
  %all = tulle.range %c0 to %m
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %z) -> (tensor<?xf64, #dense>) loop = <reduction, index = i> {
    %wi = tulle.locate %w level(0) at %i : tensor<?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %v = tulle.load %w[%wi : !tulle.iterator<#dense, 0>] : tensor<?xf64, #dense> -> f64
    %si = tulle.locate %s level(0) at %i : tensor<?x?xi32, #selection> -> !tulle.iterator<#selection, 0>
    %sj = tulle.space %s level(1) under %si : !tulle.iterator<#selection, 0> : tensor<?x?xi32, #selection> -> !tulle.space<#selection, 1>
    %begin, %end = tulle.bounds %sj : !tulle.space<#selection, 1>
    %it, %c, %e = tulle.at %sj[%begin] : !tulle.space<#selection, 1>
    %zi = tulle.locate %z level(0) at %c : tensor<?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %old = tulle.load %acc[%zi : !tulle.iterator<#dense, 0>] : tensor<?xf64, #dense> -> f64
    %new = arith.addf %old, %v : f64
    %next = tulle.store %new, %acc[%zi : !tulle.iterator<#dense, 0>] : f64, tensor<?xf64, #dense>
    tulle.yield %next : tensor<?xf64, #dense>
  }
  return %r : tensor<?xf64, #dense>
}

// Each task checks what it reads.
// CHECK-LABEL: func.func @gather(
// CHECK-NOT: tulle.bounded_indices
// CHECK: tulle.parallel %[[TASK:.*]] of %[[TASKS:.*]] iter_args
// CHECK:   %[[CHUNK:.*]] = tulle.partition %{{.*}}, %[[TASK]] of %[[TASKS]] by
// CHECK:   %[[BEGIN:.*]], %[[END:.*]] = tulle.bounds %[[CHUNK]] : !tulle.range
// CHECK:   tulle.iterate
// CHECK:     %[[PART:.*]] = tulle.range
// CHECK:     tulle.bounded_indices %{{.*}} over %[[PART]]
// CHECK:     tulle.iterate %[[I:[^ ]*]] in %[[PART]]
// CHECK:   %[[REST:.*]] = tulle.range %{{.*}} to %[[END]]
// CHECK:   tulle.bounded_indices %{{.*}} over %[[REST]]
// CHECK:   tulle.iterate %{{[^ ]*}} in %[[REST]]
func.func @gather(%x: tensor<?xf64, #dense>, %p: tensor<?xi32, #dense>, %y: tensor<?xf64, #dense>) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64, #dense>
  %q = tulle.bounded_indices %p below %n deferred outside error "p(i)" : tensor<?xi32, #dense> -> tensor<?xi32, #dense>
  %s = tulle.one_hot total %q of %n : tensor<?xi32, #dense> -> tensor<?x?xi32, #selection>
  %m = tensor.dim %p, %c0 : tensor<?xi32, #dense>
  %all = tulle.range %c0 to %m
  %tasks = tulle.threads %m
  %r = tulle.parallel %task of %tasks iter_args(%acc = %y) -> (tensor<?xf64, #dense>) {
    %chunk = tulle.partition %all, %task of %tasks by %s : tensor<?x?xi32, #selection> : !tulle.range
    %own = tulle.iterate %i in %chunk : !tulle.range iter_args(%each = %acc) -> (tensor<?xf64, #dense>) loop = <parallel, index = i> {
      %si = tulle.locate %s level(0) at %i : tensor<?x?xi32, #selection> -> !tulle.iterator<#selection, 0>
      %yi = tulle.locate %y level(0) at %i : tensor<?xf64, #dense> -> !tulle.iterator<#dense, 0>
      %sj = tulle.space %s level(1) under %si : !tulle.iterator<#selection, 0> : tensor<?x?xi32, #selection> -> !tulle.space<#selection, 1>
      %begin, %end = tulle.bounds %sj : !tulle.space<#selection, 1>
      %it, %c, %e = tulle.at %sj[%begin] : !tulle.space<#selection, 1>
      %xi = tulle.locate %x level(0) at %c : tensor<?xf64, #dense> -> !tulle.iterator<#dense, 0>
      %v = tulle.load %x[%xi : !tulle.iterator<#dense, 0>] : tensor<?xf64, #dense> -> f64
      %next = tulle.store %v, %each[%yi : !tulle.iterator<#dense, 0>] : f64, tensor<?xf64, #dense>
      tulle.yield %next : tensor<?xf64, #dense>
    }
    tulle.yield %own : tensor<?xf64, #dense>
  }
  return %r : tensor<?xf64, #dense>
}
