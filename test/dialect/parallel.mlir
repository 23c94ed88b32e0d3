// RUN: tulle-opt %s --split-input-file --verify-diagnostics | tulle-opt --split-input-file --verify-diagnostics | FileCheck %s

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
// CHECK-LABEL: @tasks
func.func @tasks(%a: tensor<?xf64, #SV>, %y: tensor<?xf64, #D>, %n: index) -> tensor<?xf64, #D> {
  %c0 = arith.constant 0 : index
  // CHECK: %[[TASKS:.*]] = tulle.threads %{{.*}}
  %tasks = tulle.threads %n
  // CHECK: tulle.threads %{{.*}} fixed
  %fixed = tulle.threads %n fixed
  %s = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  %r = tulle.range %c0 to %n
  // CHECK: tulle.parallel %[[TASK:.*]] of %[[TASKS]] iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<?xf64, #{{.*}}>) {
  %z = tulle.parallel %task of %tasks iter_args(%acc = %y) -> (tensor<?xf64, #D>) {
    // CHECK: tulle.partition %{{.*}}, %[[TASK]] of %[[TASKS]] : !tulle.space
    %chunk = tulle.partition %s, %task of %tasks : !tulle.space<#SV, 0>
    // CHECK: tulle.partition %{{.*}}, %[[TASK]] of %[[TASKS]] by %{{.*}} : tensor<?xf64, #{{.*}}> : !tulle.range
    %rows = tulle.partition %r, %task of %tasks by %y : tensor<?xf64, #D> : !tulle.range
    // CHECK: tulle.partition %{{.*}}, %[[TASK]] of %[[TASKS]] align 4 : !tulle.range
    %blocks = tulle.partition %r, %task of %tasks align 4 : !tulle.range
    // CHECK: tulle.work %{{.*}} : !tulle.space
    %w = tulle.work %chunk : !tulle.space<#SV, 0>
    // CHECK: tulle.work %{{.*}} by %{{.*}} : tensor<?xf64, #{{.*}}> : !tulle.range
    %x = tulle.work %rows by %y : tensor<?xf64, #D> : !tulle.range
    // CHECK: tulle.restrict %{{.*}} to %{{.*}} : !tulle.space
    %t = tulle.restrict %s to %rows : !tulle.space<#SV, 0>
    // CHECK: tulle.shift %{{.*}} by %{{.*}} : !tulle.space
    %u = tulle.shift %t by %n : !tulle.space<#SV, 0>
    // CHECK: tulle.yield %[[ACC]]
    tulle.yield %acc : tensor<?xf64, #D>
  }
  // CHECK: tulle.partition_boundary %{{.*}}, %{{.*}} of %{{.*}} over %{{.*}} : !tulle.space
  %begin, %end, %before, %whole = tulle.partition_boundary %s, %c0 of %tasks over %n : !tulle.space<#SV, 0>
  // CHECK: tulle.partition %{{.*}}, %{{.*}} to %{{.*}} of %{{.*}} : !tulle.space
  %several = tulle.partition %s, %before to %whole of %n : !tulle.space<#SV, 0>
  // CHECK: tulle.slice %{{.*}}[%{{.*}} to %{{.*}}] : !tulle.space
  %u = tulle.slice %s[%begin to %end] : !tulle.space<#SV, 0>
  // CHECK: tulle.slice %{{.*}}[%{{.*}} to %{{.*}}] one : !tulle.space
  %v = tulle.slice %s[%begin to %end] one : !tulle.space<#SV, 0>
  // CHECK: tulle.parallel %{{.*}} of %{{.*}} {
  tulle.parallel %task of %tasks {
  }
  return %z : tensor<?xf64, #D>
}

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK-LABEL: @memory_for_some_rows
func.func @memory_for_some_rows(%a: tensor<?x?xf32, #CSR>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %r = tulle.range %c0 to %m
  // CHECK: %[[ROWS:.*]] = tulle.partition
  %rows = tulle.partition %r, %c0 of %n by %a : tensor<?x?xf32, #CSR> : !tulle.range
  // CHECK: tulle.empty(%{{.*}}, %{{.*}}) like %{{.*}} : tensor<?x?xf32, #{{.*}}> at %[[ROWS]] : !tulle.range -> tensor<?x?xf64, #{{.*}}>
  %e = tulle.empty(%m, %n) like %a : tensor<?x?xf32, #CSR> at %rows : !tulle.range -> tensor<?x?xf64, #CSR>
  // CHECK: tulle.empty(%{{.*}}) at %[[ROWS]] : !tulle.range -> tensor<?xf64, #{{.*}}>
  %d = tulle.empty(%m) at %rows : !tulle.range -> tensor<?xf64, #D>
  return
}

#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
// CHECK-LABEL: @rows_of_a_tile
func.func @rows_of_a_tile(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #DCSR>, %m: index) {
  %c0 = arith.constant 0 : index
  %r = tulle.range %c0 to %m
  // CHECK: %[[BEGIN:.*]], %[[END:.*]] = tulle.bounds_below %[[ALL:.*]] by %{{.*}} : tensor<?x?xf32, #{{.*}}> : !tulle.range
  %begin, %end = tulle.bounds_below %r by %a : tensor<?x?xf32, #CSR> : !tulle.range
  // CHECK: tulle.enclosing %[[ALL]][%[[BEGIN]] to %[[END]]] by %{{.*}} : tensor<?x?xf32, #{{.*}}> : !tulle.range
  %rows = tulle.enclosing %r[%begin to %end] by %a : tensor<?x?xf32, #CSR> : !tulle.range
  %s = tulle.space %b level(0) : tensor<?x?xf32, #DCSR> -> !tulle.space<#DCSR, 0>
  // CHECK: tulle.bounds_below %[[SPACE:.*]] : !tulle.space<#{{.*}}, 0>
  %first, %last = tulle.bounds_below %s : !tulle.space<#DCSR, 0>
  // CHECK: tulle.enclosing %[[SPACE]][%{{.*}} to %{{.*}}] : !tulle.space<#{{.*}}, 0>
  %stored = tulle.enclosing %s[%first to %last] : !tulle.space<#DCSR, 0>
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @nothing_below(%a: tensor<?xf64, #SV>) {
  %s = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // expected-error @+1 {{expected a compressed or singleton level 1 (constraint 2)}}
  %begin, %end = tulle.bounds_below %s : !tulle.space<#SV, 0>
  return
}

// -----

#ELLR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : fixed[4]) }>
func.func @padded_below(%a: tensor<?x?xf64, #ELLR>, %n: index) {
  %c0 = arith.constant 0 : index
  %r = tulle.range %c0 to %n
  // expected-error @+1 {{expected a compressed or singleton level 1, got fixed[4] (constraint 2)}}
  %rows = tulle.enclosing %r[%c0 to %n] by %a : tensor<?x?xf64, #ELLR> : !tulle.range
  return
}

// -----

func.func @of_no_tensor(%n: index) {
  %c0 = arith.constant 0 : index
  %r = tulle.range %c0 to %n
  // expected-error @+1 {{expected the tensor that the range is of (constraint 1)}}
  %begin, %end = tulle.bounds_below %r : !tulle.range
  return
}

// -----

#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @range_of_another(%a: tensor<?x?xf64, #DCSR>, %n: index) {
  %c0 = arith.constant 0 : index
  %r = tulle.range %c0 to %n
  // expected-error @+1 {{expected a tensor whose first level is dense (constraint 1)}}
  %begin, %end = tulle.bounds_below %r by %a : tensor<?x?xf64, #DCSR> : !tulle.range
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @estimate(%a: tensor<?xf64, #SV>, %n: index) {
  %c0 = arith.constant 0 : index
  %r = tulle.range %c0 to %n
  // expected-error @+1 {{expected a work estimate whose first level is dense (constraint 1)}}
  %p = tulle.partition %r, %c0 of %n by %a : tensor<?xf64, #SV> : !tulle.range
  return
}

// -----

#DOK = #tulle.encoding<{ map = (i) -> (i : hashed) }>
func.func @unordered(%a: tensor<?xf64, #DOK>, %n: index) {
  %c0 = arith.constant 0 : index
  %r = tulle.range %c0 to %n
  %s = tulle.space %a level(0) : tensor<?xf64, #DOK> -> !tulle.space<#DOK, 0>
  // expected-error @+1 {{expected an ordered level, got hashed (constraint 1)}}
  %p = tulle.restrict %s to %r : !tulle.space<#DOK, 0>
  return
}

// -----

#DOK = #tulle.encoding<{ map = (i) -> (i : hashed) }>
func.func @shift_of_unordered(%a: tensor<?xf64, #DOK>, %n: index) {
  %s = tulle.space %a level(0) : tensor<?xf64, #DOK> -> !tulle.space<#DOK, 0>
  // expected-error @+1 {{expected an ordered level, got hashed (constraint 1)}}
  %p = tulle.shift %s by %n : !tulle.space<#DOK, 0>
  return
}

// -----

#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
func.func @shift_of_dense(%a: tensor<?xf64, #D>, %n: index) {
  %s = tulle.space %a level(0) : tensor<?xf64, #D> -> !tulle.space<#D, 0>
  // expected-error @+1 {{expected a level that stores its coordinates (constraint 1)}}
  %p = tulle.shift %s by %n : !tulle.space<#D, 0>
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @alignment(%a: tensor<?xf64, #SV>, %n: index) {
  %c0 = arith.constant 0 : index
  %s = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  // expected-error @+1 {{expected an alignment of 1 for a level that stores its coordinates, got 4 (constraint 2)}}
  %p = tulle.partition %s, %c0 of %n align 4 : !tulle.space<#SV, 0>
  return
}

// -----

func.func @no_alignment(%n: index) {
  %c0 = arith.constant 0 : index
  %r = tulle.range %c0 to %n
  // expected-error @+1 {{attribute 'alignment' failed to satisfy constraint}}
  %p = tulle.partition %r, %c0 of %n align 0 : !tulle.range
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @values_of_another_pattern(%a: tensor<?x?xf16, #CSR>, %v: memref<?xf32>) {
  // expected-error @+1 {{expected equal encodings and shapes, got}}
  %w = tulle.with_values %a, %v : tensor<?x?xf16, #CSR>, memref<?xf32> -> tensor<?x?xf32>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @values_of_another_type(%a: tensor<?x?xf16, #CSR>, %v: memref<?xf64>) {
  // expected-error @+1 {{expected a buffer 'memref<?xf32>', got 'memref<?xf64>' (constraint 2)}}
  %w = tulle.with_values %a, %v : tensor<?x?xf16, #CSR>, memref<?xf64> -> tensor<?x?xf32, #CSR>
  return
}

// -----

#D = #tulle.encoding<{ map = (i) -> (i : dense) }>
func.func @empty_sizes(%rows: !tulle.range) {
  // expected-error @+1 {{expected a size for each of 1 dimensions (constraint 1)}}
  %d = tulle.empty() at %rows : !tulle.range -> tensor<?xf64, #D>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @empty_pattern(%rows: !tulle.range, %n: index) {
  // expected-error @+1 {{expected a tensor of the same encoding after 'like', or dense levels only (constraint 2)}}
  %e = tulle.empty(%n, %n) at %rows : !tulle.range -> tensor<?x?xf64, #CSR>
  return
}

// -----

#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @empty_coordinates(%a: tensor<?x?xf64, #DCSR>, %rows: !tulle.range, %n: index) {
  // expected-error @+1 {{expected a space of the first level, or a range where that is dense (constraint 3)}}
  %e = tulle.empty(%n, %n) like %a : tensor<?x?xf64, #DCSR> at %rows : !tulle.range -> tensor<?x?xf64, #DCSR>
  return
}

// -----

#hashed = #tulle.encoding<{ map = (i, j) -> (i : dense, j : hashed) }>
func.func @empty_hashed(%a: tensor<?x?xf64, #hashed>, %rows: !tulle.range, %n: index) {
  // expected-error @+1 {{expected levels below the first that are dense, compressed, ragged, banded or singleton (constraint 4)}}
  %e = tulle.empty(%n, %n) like %a : tensor<?x?xf64, #hashed> at %rows : !tulle.range -> tensor<?x?xf64, #hashed>
  return
}
