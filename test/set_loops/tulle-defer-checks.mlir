// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-defer-checks))' | FileCheck %s

#dense = #tulle.encoding<{ map = (i) -> (i : dense), posWidth = 32, crdWidth = 32 }>
#selection = #tulle.encoding<{ map = (i, j) -> (i : dense, j : singleton(padded)), posWidth = 32, crdWidth = 32 }>

// What is added to is new.
// CHECK-LABEL: func.func @scatter(
// CHECK: tulle.bounded_indices %{{.*}} below %{{[^ ]*}} deferred outside error "p(i)"
func.func @scatter(%w: tensor<?xf64, #dense>, %p: tensor<?xi32, #dense>, %z: tensor<?xf64, #dense>) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %z, %c0 : tensor<?xf64, #dense>
  %q = tulle.bounded_indices %p below %n outside error "p(i)" : tensor<?xi32, #dense> -> tensor<?xi32, #dense>
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

// So is what another loop has added to before.
// CHECK-LABEL: func.func @again(
// CHECK: tulle.bounded_indices %{{.*}} below %{{[^ ]*}} deferred outside error "p(i)"
func.func @again(%w: tensor<?xf64, #dense>, %p: tensor<?xi32, #dense>, %z: tensor<?xf64, #dense>) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %z, %c0 : tensor<?xf64, #dense>
  %q = tulle.bounded_indices %p below %n outside error "p(i)" : tensor<?xi32, #dense> -> tensor<?xi32, #dense>
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
  %r2 = tulle.iterate %i in %all : !tulle.range iter_args(%acc = %r) -> (tensor<?xf64, #dense>) loop = <reduction, index = i> {
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
  return %r2 : tensor<?xf64, #dense>
}

// What the caller has stays as it is where an integer is none: all are checked first.
// CHECK-LABEL: func.func @accumulate(
// CHECK: tulle.bounded_indices %{{.*}} below %{{[^ ]*}} outside error "p(i)"
func.func @accumulate(%w: tensor<?xf64, #dense>, %p: tensor<?xi32, #dense>, %z: tensor<?xf64, #dense>) -> tensor<?xf64, #dense> {
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

// Integers that the loop does not read are checked, too.
// CHECK-LABEL: func.func @some(
// CHECK: tulle.bounded_indices %{{.*}} below %{{[^ ]*}} outside error "p(i)"
func.func @some(%w: tensor<?xf64, #dense>, %p: tensor<?xi32, #dense>, %z: tensor<?xf64, #dense>) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %z, %c0 : tensor<?xf64, #dense>
  %q = tulle.bounded_indices %p below %n outside error "p(i)" : tensor<?xi32, #dense> -> tensor<?xi32, #dense>
  %s = tulle.one_hot total %q of %n : tensor<?xi32, #dense> -> tensor<?x?xi32, #selection>
  %m = tensor.dim %w, %c0 : tensor<?xf64, #dense>
  %new0 = tulle.fill %zero, %z : f64, tensor<?xf64, #dense>
  %c2 = arith.constant 2 : index
  %all = tulle.range %c2 to %m
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

// So does what it overwrites, which it reads as an operand.
// CHECK-LABEL: func.func @overwrite(
// CHECK: tulle.bounded_indices %{{.*}} below %{{[^ ]*}} outside error "p(i)"
func.func @overwrite(%x: tensor<?xf64, #dense>, %p: tensor<?xi32, #dense>, %y: tensor<?xf64, #dense>) -> tensor<?xf64, #dense> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64, #dense>
  %q = tulle.bounded_indices %p below %n outside error "p(i)" : tensor<?xi32, #dense> -> tensor<?xi32, #dense>
  %s = tulle.one_hot total %q of %n : tensor<?xi32, #dense> -> tensor<?x?xi32, #selection>
  %m = tensor.dim %p, %c0 : tensor<?xi32, #dense>
  %all = tulle.range %c0 to %m
  %r = tulle.iterate %i in %all : !tulle.range iter_args(%each = %y) -> (tensor<?xf64, #dense>) loop = <parallel, index = i> {
    %si = tulle.locate %s level(0) at %i : tensor<?x?xi32, #selection> -> !tulle.iterator<#selection, 0>
    %yi = tulle.locate %y level(0) at %i : tensor<?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %sj = tulle.space %s level(1) under %si : !tulle.iterator<#selection, 0> : tensor<?x?xi32, #selection> -> !tulle.space<#selection, 1>
    %begin, %end = tulle.bounds %sj : !tulle.space<#selection, 1>
    %it, %c, %e = tulle.at %sj[%begin] : !tulle.space<#selection, 1>
    %xi = tulle.locate %x level(0) at %c : tensor<?xf64, #dense> -> !tulle.iterator<#dense, 0>
    %v = tulle.load %x[%xi : !tulle.iterator<#dense, 0>] : tensor<?xf64, #dense> -> f64
    %old = tulle.load %y[%yi : !tulle.iterator<#dense, 0>] : tensor<?xf64, #dense> -> f64
    %sum = arith.addf %v, %old : f64
    %next = tulle.store %sum, %each[%yi : !tulle.iterator<#dense, 0>] : f64, tensor<?xf64, #dense>
    tulle.yield %next : tensor<?xf64, #dense>
  }
  return %r : tensor<?xf64, #dense>
}
