// RUN: tulle-opt %s | tulle-opt | FileCheck %s
// RUN: tulle-opt %s --mlir-print-op-generic | tulle-opt | FileCheck %s

// CHECK-DAG: #[[$CSR:.+]] = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed)
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
// CHECK-DAG: #[[$SV:.+]] = #tulle.encoding<{ map = (i) -> (i : compressed)
#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
// CHECK-DAG: #[[$BSR:.+]] = #tulle.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)
#BSR = #tulle.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense) }>
// CHECK-DAG: #[[$NV24:.+]] = #tulle.encoding<{ {{.*}}posWidth = 8, crdWidth = 2
#dense1 = #tulle.encoding<{ map = (i) -> (i : dense) }>

// CHECK-LABEL: @types
// CHECK-SAME: !tulle.space<#[[$CSR]], 1>, %{{.*}}: !tulle.iterator<#[[$BSR]], 0>, %{{.*}}: !tulle.range
func.func @types(%s: !tulle.space<#CSR, 1>, %i: !tulle.iterator<#BSR, 0>, %r: !tulle.range) { return }

// Comments and line breaks are the encoding language's own.
// CHECK-LABEL: @widths
// CHECK-SAME: tensor<8x8xf32, #[[$NV24]]>
func.func private @widths(tensor<8x8xf32, #tulle.encoding<{
  map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : block2_4), // a comment
  posWidth = 8,
  crdWidth = 2 }>>)

// CHECK-LABEL: @structured
func.func @structured(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf32, #CSR>, %d: tensor<?x?xf64>, %v: f64)
    -> (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) {
  // CHECK: tulle.fill %{{.*}}, %{{.*}} : f64, tensor<?x?xf64, #[[$CSR]]>
  %0 = tulle.fill %v, %A : f64, tensor<?x?xf64, #CSR>
  // CHECK: tulle.like %{{.*}}, %{{.*}} : tensor<?x?xf64, #[[$CSR]]>, tensor<?x?xf32, #[[$CSR]]>
  %1 = tulle.like %0, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf32, #CSR>
  // CHECK: tulle.convert %{{.*}} : tensor<?x?xf64> to tensor<?x?xf64, #[[$CSR]]>
  %2 = tulle.convert %d : tensor<?x?xf64> to tensor<?x?xf64, #CSR>
  // CHECK: tulle.convert %{{.*}} share : tensor<?x?xf64> to tensor<?x?xf64, #[[$CSR]]>
  %3 = tulle.convert %d share : tensor<?x?xf64> to tensor<?x?xf64, #CSR>
  return %1, %2 : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>
}

#id = affine_map<(i) -> (i)>
// CHECK-LABEL: @stored
func.func @stored(%a: tensor<?xf64, #SV>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64, #SV>) outs(%y : tensor<?xf64>) {
  ^bb0(%x: f64, %old: f64):
    // CHECK: tulle.stored %{{.*}} : f64
    %has = tulle.stored %x : f64
    %s = arith.select %has, %x, %old : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %0 : tensor<?xf64>
}

// CHECK-LABEL: @spmv
func.func @spmv(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %zero = arith.constant 0.0 : f64
  // CHECK: %[[ROWS:.*]] = tulle.space %[[A:.*]] level(0) : tensor<?x?xf64, #[[$CSR]]> -> !tulle.space<#[[$CSR]], 0>
  %rows = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
  // CHECK: tulle.iterate %[[I:[^ ]*]], %[[IT:[^ ]*]] in %[[ROWS]] : !tulle.space<#[[$CSR]], 0> iter_args(%[[Y:.*]] = %{{.*}}) -> (tensor<?xf64>) loop = <parallel> {
  %r = tulle.iterate %i, %ii in %rows : !tulle.space<#CSR, 0> iter_args(%yy = %y) -> (tensor<?xf64>) {
    // CHECK: tulle.space %[[A]] level(1) under %[[IT]] : !tulle.iterator<#[[$CSR]], 0> : tensor<?x?xf64, #[[$CSR]]> -> !tulle.space<#[[$CSR]], 1>
    %row = tulle.space %A level(1) under %ii : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    // CHECK: tulle.space_size %{{.*}} : !tulle.space<#[[$CSR]], 1>
    %n = tulle.space_size %row : !tulle.space<#CSR, 1>
    // CHECK: tulle.iterate {{.*}} -> (f64) loop = <reduction>
    %sum = tulle.iterate %j, %jj in %row : !tulle.space<#CSR, 1> iter_args(%acc = %zero) -> (f64) loop = <reduction> {
      %a = tulle.load %A[%jj : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      // CHECK: tulle.locate %{{.*}} level(0) at %{{.*}} : tensor<?xf64> -> !tulle.iterator<
      %xi = tulle.locate %x level(0) at %j : tensor<?xf64> -> !tulle.iterator<#dense1, 0>
      %b = tulle.load %x[%xi : !tulle.iterator<#dense1, 0>] : tensor<?xf64> -> f64
      %p = arith.mulf %a, %b : f64
      %s = arith.addf %acc, %p : f64
      // CHECK: tulle.yield %{{.*}} : f64
      tulle.yield %s : f64
    }
    %yi = tulle.locate %yy level(0) at %i : tensor<?xf64> -> !tulle.iterator<#dense1, 0>
    // CHECK: tulle.store %{{.*}}, %[[Y]][%{{.*}} : !tulle.iterator<{{.*}}, 0>] : f64, tensor<?xf64>
    %y2 = tulle.store %sum, %yy[%yi : !tulle.iterator<#dense1, 0>] : f64, tensor<?xf64>
    tulle.yield %y2 : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// CHECK-LABEL: @union
func.func @union(%a: tensor<?xf64, #SV>, %b: tensor<?xf64, #SV>, %s: tensor<f64>) -> tensor<f64> {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %sb = tulle.space %b level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: tulle.load %{{.*}}[] : tensor<f64> -> f64
  %init = tulle.load %s[] : tensor<f64> -> f64
  %one = arith.constant 1.0 : f64
  // CHECK: tulle.coiterate %[[I:[^ ]*]] in "a | b" (%{{.*}}, %{{.*}} : !tulle.space<#[[$SV]], 0>, !tulle.space<#[[$SV]], 0>) iter_args(%[[ACC:.*]] = %{{.*}}, %[[MORE:.*]] = %{{.*}}) -> (f64, f64) loop = <reduction> strategy = merge
  %r:2 = tulle.coiterate %i in "a | b" (%sa, %sb : !tulle.space<#SV, 0>, !tulle.space<#SV, 0>)
      iter_args(%acc = %init, %more = %one) -> (f64, f64) loop = <reduction> strategy = merge
  // CHECK: case "a & b" (%[[ITA:.*]], %[[ITB:.*]]) {
  case "a & b" (%ia, %ib) {
    // CHECK: tulle.load %{{.*}}[%[[ITA]] :
    %x = tulle.load %a[%ia : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %y = tulle.load %b[%ib : !tulle.iterator<#SV, 0>] : tensor<?xf64, #SV> -> f64
    %p = arith.addf %x, %y : f64
    // CHECK: arith.addf %[[ACC]]
    %n = arith.addf %acc, %p : f64
    // CHECK: tulle.yield %{{.*}}, %[[MORE]] : f64, f64
    tulle.yield %n, %more : f64, f64
  }
  // CHECK: case "a" (%[[IT:.*]]) {
  case "a" (%ia) {
    tulle.yield %acc, %more : f64, f64
  }
  // CHECK: case "b" (%[[IT]]) {
  case "b" (%ib) {
    // CHECK: tulle.yield %[[MORE]], %[[ACC]] : f64, f64
    tulle.yield %more, %acc : f64, f64
  }
  // CHECK: tulle.store %{{.*}}, %{{.*}}[] : f64, tensor<f64>
  %t = tulle.store %r#0, %s[] : f64, tensor<f64>
  return %t : tensor<f64>
}

// CHECK-LABEL: @ranges
func.func @ranges(%a: tensor<?xf64, #SV>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[N:.*]] = tulle.level_size %{{.*}} level(0) : tensor<?xf64, #[[$SV]]>
  %n = tulle.level_size %a level(0) : tensor<?xf64, #SV>
  // CHECK: %[[R:.*]] = tulle.range %{{.*}} to %[[N]]
  %r = tulle.range %c0 to %n
  // CHECK: tulle.iterate %{{.*}} in %[[R]] : !tulle.range loop = <parallel> {
  tulle.iterate %i in %r : !tulle.range {
    // CHECK: tulle.search %{{.*}} level(0) at %{{.*}} : tensor<?xf64, #[[$SV]]> -> !tulle.iterator<#[[$SV]], 0>
    %it, %found = tulle.search %a level(0) at %i : tensor<?xf64, #SV> -> !tulle.iterator<#SV, 0>
  }
  %s = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // CHECK: tulle.coiterate %{{.*}} in "~a" (%{{.*}} : !tulle.space<#[[$SV]], 0>) range %[[R]] loop = <parallel> strategy = auto
  // CHECK-NEXT: case "none" {
  tulle.coiterate %i in "~a" (%s : !tulle.space<#SV, 0>) range %r
  case "none" {
  }
  return
}

// CHECK-LABEL: @own_values
func.func @own_values(%a: tensor<?xf64, #SV>, %v: memref<?xf32>) -> tensor<?xf32, #SV> {
  // CHECK: tulle.with_values %{{.*}}, %{{.*}} : tensor<?xf64, #[[$SV]]>, memref<?xf32> -> tensor<?xf32, #[[$SV]]>
  %w = tulle.with_values %a, %v : tensor<?xf64, #SV>, memref<?xf32> -> tensor<?xf32, #SV>
  return %w : tensor<?xf32, #SV>
}

#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
// CHECK-LABEL: @flags
func.func @flags(%A: tensor<?x?xf64, #DCSR>, %B: tensor<?x?xf64, #DCSR>, %zero: f64) -> f64 {
  %a = tulle.space %A level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  %b = tulle.space %B level(0) : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 0>
  // CHECK: tulle.coiterate %[[I:[^ ]*]] in "a | b" ({{.*}}) iter_args(%[[ACC:.*]] = %{{.*}}) -> (f64) loop = <reduction> strategy = auto
  // CHECK-NEXT: flags (%[[X:.*]] if %[[HAS:.*]], %{{.*}} if %{{.*}}) {
  %r = tulle.coiterate %i in "a | b" (%a, %b : !tulle.space<#DCSR, 0>, !tulle.space<#DCSR, 0>) iter_args(%acc = %zero) -> (f64) loop = <reduction>
  flags (%x if %p, %y if %q) {
    // CHECK: tulle.space %{{.*}} level(1) under %[[X]] : !tulle.iterator<{{.*}}, 0> if %[[HAS]] : tensor
    %row = tulle.space %A level(1) under %x : !tulle.iterator<#DCSR, 0> if %p : tensor<?x?xf64, #DCSR> -> !tulle.space<#DCSR, 1>
    %n = tulle.space_size %row : !tulle.space<#DCSR, 1>
    %c = arith.index_cast %n : index to i64
    %f = arith.sitofp %c : i64 to f64
    %s = arith.addf %acc, %f : f64
    // CHECK: tulle.yield
    tulle.yield %s : f64
  }
  return %r : f64
}

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
// CHECK-LABEL: @next
func.func @next(%s: !tulle.space<#COO, 0>, %p: index, %i: index, %more: i1) -> !tulle.iterator<#COO, 0> {
  // CHECK: %[[FIRST:.*]] = tulle.next %[[S:[^ ]*]][%{{.*}}] : !tulle.space<
  %first = tulle.next %s[%p] : !tulle.space<#COO, 0>
  // CHECK: %[[NEXT:.*]] = tulle.next %[[S]][%[[FIRST]]] after %{{.*}} : !tulle.space<
  %next = tulle.next %s[%first] after %i : !tulle.space<#COO, 0>
  // CHECK: tulle.at %[[S]][%[[FIRST]]] until %[[NEXT]] if %{{.*}} : !tulle.space<
  %it, %j, %entry = tulle.at %s[%first] until %next if %more : !tulle.space<#COO, 0>
  return %it : !tulle.iterator<#COO, 0>
}

// What the row says is not printed again.
// CHECK: module @row attributes {tulle.cpu = #tulle.cpu<znver5>}
module @row attributes {tulle.cpu = #tulle.cpu<znver5, l2 = 1048576>} {}
// CHECK: module @differs attributes {tulle.cpu = #tulle.cpu<x86-64-v3, l2 = 524288, masks = true>}
module @differs attributes {tulle.cpu = #tulle.cpu<x86-64-v3, masks = true, l2 = 524288>} {}

#selection = #tulle.encoding<{ map = (i, j) -> (i : dense, j : singleton(padded)), posWidth = 32, crdWidth = 32 }>
// CHECK-LABEL: @selection
func.func @selection(%p: tensor<?xi32>, %q: tensor<?xi8>, %t: tensor<?x2xi32>, %n: index) -> tensor<?x?xi32, #selection> {
  // CHECK: %[[Q:.*]] = tulle.bounded_indices %{{.*}} below %[[N:[^ ]*]] outside error "p(i)" : tensor<?xi32> -> tensor<?xi32>
  %checked = tulle.bounded_indices %p below %n outside error "p(i)" : tensor<?xi32> -> tensor<?xi32>
  // CHECK: tulle.distinct_indices %[[Q]] below(%[[N]]) "p(i)" : tensor<?xi32>
  %distinct = tulle.distinct_indices %checked below(%n) "p(i)" : tensor<?xi32>
  // CHECK: tulle.distinct_indices %{{.*}} below(%[[N]], %[[N]]) "t" : tensor<?x2xi32>
  %together = tulle.distinct_indices %t below(%n, %n) "t" : tensor<?x2xi32>
  // CHECK: tulle.bounded_indices %{{.*}} below %[[N]] outside nearest "q(i)-1" plus -1 : tensor<?xi8> -> tensor<?xi32>
  %nearest = tulle.bounded_indices %q below %n outside nearest "q(i)-1" plus -1 : tensor<?xi8> -> tensor<?xi32>
  // CHECK: %[[SOME:.*]] = tulle.range
  %some = tulle.range %n to %n
  // CHECK: tulle.bounded_indices %{{.*}} below %[[N]] over %[[SOME]] outside error "p(i)" : tensor<?xi32> -> tensor<?xi32>
  %over = tulle.bounded_indices %p below %n over %some outside error "p(i)" : tensor<?xi32> -> tensor<?xi32>
  // CHECK: tulle.bounded_indices %{{.*}} below %[[N]] deferred outside error "p(i)" : tensor<?xi32> -> tensor<?xi32>
  %deferred = tulle.bounded_indices %p below %n deferred outside error "p(i)" : tensor<?xi32> -> tensor<?xi32>
  // CHECK: tulle.bounded_indices %{{.*}} below %[[N]] outside error "p(2)" at [2] : tensor<?xi32> -> tensor<?xi32>
  %one = tulle.bounded_indices %p below %n outside error "p(2)" at [2] : tensor<?xi32> -> tensor<?xi32>
  // CHECK: tulle.one_hot total %[[Q]] of %[[N]] : tensor<?xi32> -> tensor<?x?xi32, #[[SELECTION:.*]]>
  %s = tulle.one_hot total %checked of %n : tensor<?xi32> -> tensor<?x?xi32, #selection>
  return %s : tensor<?x?xi32, #selection>
}

#rows = #tulle.encoding<{ map = (i) -> (i floordiv 64 : dense, i mod 64 : compressed), posWidth = 32, crdWidth = 32 }>
// CHECK-LABEL: @reshape
func.func @reshape(%A: tensor<?x?xf64, #CSR>, %n: index) -> tensor<?xf64, #rows> {
  // CHECK: tulle.reshape %{{.*}} by #{{[a-z0-9]+}} to(%{{.*}}) : tensor<?x?xf64, #{{.*}}> -> tensor<?xf64, #{{.*}}>
  %v = tulle.reshape %A by affine_map<(l) -> (l floordiv 64, l mod 64)> to (%n) : tensor<?x?xf64, #CSR> -> tensor<?xf64, #rows>
  return %v : tensor<?xf64, #rows>
}
// CHECK-LABEL: @expand
func.func @expand(%v: tensor<?xf64, #rows>, %m: index, %n: index) -> tensor<?x?xf64, #CSR> {
  // CHECK: tulle.reshape %{{.*}} by expand #{{[a-z0-9]+}} to(%{{.*}}, %{{.*}}) : tensor<?xf64, #{{.*}}> -> tensor<?x?xf64, #{{.*}}>
  %A = tulle.reshape %v by expand affine_map<(l) -> (l floordiv 64, l mod 64)> to (%m, %n) : tensor<?xf64, #rows> -> tensor<?x?xf64, #CSR>
  return %A : tensor<?x?xf64, #CSR>
}
