// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tulle-sparsify,canonicalize))' | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#id = affine_map<(i, j) -> (i, j)>

// A union in the order of the result, every element once: what each minterm leaves of the sum is inserted.
// CHECK-DAG: #[[ORDER:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @add
// CHECK-DAG: %[[NA:.*]] = tulle.stored_count %arg0
// CHECK-DAG: %[[NB:.*]] = tulle.stored_count %arg1
// CHECK: %[[BOUND:.*]] = arith.addi %[[NA]], %[[NB]]
// CHECK: tulle.assemble({{.*}}) bound %[[BOUND]] attributes {order = #[[ORDER]], unique} {
// CHECK: tulle.iterate %[[I:[a-z0-9_]+]] in
// CHECK: tulle.coiterate %[[J:[a-z0-9_]+]] in "a | b"
// CHECK: case "a" (%[[A:.*]]) {
// CHECK-NEXT: %[[VA:.*]] = tulle.load %arg0[%[[A]]
// CHECK-NEXT: tulle.insert %[[VA]] at(%[[I]], %[[J]])
// CHECK: case "b"
// CHECK: tulle.load %arg1
// CHECK-NEXT: tulle.insert
// CHECK: case "a & b"
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NEXT: tulle.insert %[[SUM]]
func.func @add(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>, %m: index, %n: index) -> tensor<?x?xf64, #CSR> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64, #CSR>
  %init = tulle.fill %zero, %empty : f64, tensor<?x?xf64, #CSR>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%init : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// A reduction outside the columns: increments are inserted, rows in order, columns not.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @spgemm
// CHECK: tulle.assemble({{.*}}) attributes {order = #[[ROWS]]} {
// CHECK: tulle.iterate %[[I:[a-z0-9_]+]] in
// CHECK: tulle.iterate %[[K:[a-z0-9_]+]], {{.*}} loop = <reduction, index = {{.*}}>
// CHECK: tulle.iterate %[[J:[a-z0-9_]+]], {{.*}} loop = <parallel, index = {{.*}}>
// CHECK: %[[P:.*]] = arith.mulf
// CHECK-NEXT: tulle.insert %[[P]] at(%[[I]], %[[J]])
func.func @spgemm(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>, %m: index, %n: index) -> tensor<?x?xf64, #CSR> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64, #CSR>
  %init = tulle.fill %zero, %empty : f64, tensor<?x?xf64, #CSR>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%init : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), fill = inf }>
#V = #tulle.encoding<{ map = (i) -> (i : compressed), fill = inf }>

// A reduction inside: accumulated in a register from the identity, and inserted if the row had an entry.
// CHECK-LABEL: func.func @nearest
// CHECK: %[[BOUND:.*]] = tulle.stored_count %arg0
// CHECK: tulle.assemble({{.*}}) bound %[[BOUND]] attributes {combine = #tulle<combine min>, order = {{.*}}, unique} {
// CHECK: %[[R:.*]]:2 = tulle.iterate {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %false) -> (f64, i1) loop = <reduction, index = {{.*}}>
// CHECK: arith.minimumf
// CHECK: tulle.yield %{{.*}}, %true
// CHECK: scf.if %[[R]]#1 {
// CHECK-NEXT: tulle.insert %[[R]]#0 at(
func.func @nearest(%A: tensor<?x?xf64, #CSR>, %m: index) -> tensor<?xf64, #V> {
  %far = arith.constant 0x7FF0000000000000 : f64
  %empty = tensor.empty(%m) : tensor<?xf64, #V>
  %init = tulle.fill %far, %empty : f64, tensor<?xf64, #V>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]
  } ins(%A : tensor<?x?xf64, #CSR>) outs(%init : tensor<?xf64, #V>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.minimumf %acc, %a : f64
    linalg.yield %s : f64
  } -> tensor<?xf64, #V>
  return %r : tensor<?xf64, #V>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// The loops follow the operand; the facts say so.
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @transpose
// CHECK: tulle.assemble({{.*}}) bound %{{.*}} attributes {order = #[[COLUMNS]], unique}
// CHECK: tulle.iterate %[[J:[a-z0-9_]+]] in
// CHECK: tulle.iterate %[[I:[a-z0-9_]+]], %[[IT:[^ ]*]] in
// CHECK: tulle.insert %{{.*}} at(%[[I]], %[[J]])
func.func @transpose(%A: tensor<?x?xf64, #CSR>, %m: index, %n: index) -> tensor<?x?xf64, #CSR> {
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64, #CSR>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } ins(%A : tensor<?x?xf64, #CSR>) outs(%empty : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %acc: f64):
    linalg.yield %a : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ij = affine_map<(i, j, k) -> (i, j)>

// However many products there are, no more coordinates than the mask has get one; those of the other mask say nothing.
// CHECK-LABEL: func.func @masked
// CHECK: %[[ENTRIES:.*]] = tulle.stored_count %arg2
// CHECK-NOT: tulle.stored_count
// CHECK: tulle.assemble({{.*}}) entries %[[ENTRIES]] attributes {order = {{.*}}} {
// CHECK: tulle.coiterate %{{.*}} in "a & b \\ c"
func.func @masked(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>, %M: tensor<?x?xf64, #CSR>, %N: tensor<?x?xf64, #CSR>, %m: index, %n: index) -> tensor<?x?xf64, #CSR> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64, #CSR>
  %init = tulle.fill %zero, %empty : f64, tensor<?x?xf64, #CSR>
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij, #ij, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B, %M, %N : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%init : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %inM: f64, %inN: f64, %acc: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %acc, %p : f64
    %isM = tulle.stored %inM : f64
    %isN = tulle.stored %inN : f64
    %true = arith.constant true
    %notN = arith.xori %isN, %true : i1
    %allowed = arith.andi %isM, %notN : i1
    %new = arith.select %allowed, %s, %acc : f64
    linalg.yield %new : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

#vectors = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]
// What makes 0 of 0 stores what its operand does, nothing else.
// CHECK-LABEL: @preserve_zero
// CHECK: tulle.assemble
// CHECK: %[[S:.*]] = tulle.space
// CHECK-NEXT: tulle.iterate %{{.*}}, %{{.*}} in %[[S]]
// CHECK-NOT: tulle.range
func.func @preserve_zero(%a: tensor<?xf64, #tulle.encoding<{ map = (i) -> (i : compressed) }>>, %n: index) -> tensor<?xi32, #tulle.encoding<{ map = (i) -> (i : compressed) }>> {
  %e = tensor.empty(%n) : tensor<?xi32, #tulle.encoding<{ map = (i) -> (i : compressed) }>>
  %r = linalg.generic {indexing_maps = #vectors, iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64, #tulle.encoding<{ map = (i) -> (i : compressed) }>>) outs(%e : tensor<?xi32, #tulle.encoding<{ map = (i) -> (i : compressed) }>>) {
  ^bb0(%x: f64, %o: i32):
    %l = math.log1p %x : f64
    %m = math.expm1 %l : f64
    %f = math.floor %m : f64
    %t = arith.truncf %f : f64 to f32
    %u = arith.fptoui %t : f32 to i32
    linalg.yield %u : i32
  } -> tensor<?xi32, #tulle.encoding<{ map = (i) -> (i : compressed) }>>
  return %r : tensor<?xi32, #tulle.encoding<{ map = (i) -> (i : compressed) }>>
}
