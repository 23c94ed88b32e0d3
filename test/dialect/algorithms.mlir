// The algorithms that build tensors are printed and parsed.
// RUN: tulle-opt %s | tulle-opt | FileCheck %s
// RUN: tulle-opt %s --mlir-print-op-generic | tulle-opt | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#row = #tulle.encoding<{ map = (i) -> (i : compressed) }>
#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)) }>

// CHECK-LABEL: @entries
func.func @entries(%n: index, %v: f64) -> index {
  // CHECK: %[[ENTRIES:.*]] = tulle.entries aligned 4
  // CHECK: !tulle.entries<2, f64>
  %entries = tulle.entries aligned 4 {
    tulle.insert %v at (%n, %n) : f64
  } : !tulle.entries<2, f64>
  // CHECK: tulle.for_each_entry %[[ENTRIES]] {
  tulle.for_each_entry %entries {
  ^bb0(%i: index, %j: index, %value: f64):
  } : !tulle.entries<2, f64>
  // CHECK: tulle.for_each_entry %[[ENTRIES]] chunk %{{.*}} of %{{.*}} {
  tulle.for_each_entry %entries chunk %n of %n {
  ^bb0(%i: index, %j: index, %value: f64):
  } : !tulle.entries<2, f64>
  // CHECK: tulle.collect %[[ENTRIES]] bound %{{.*}} sizes(%{{.*}}, %{{.*}}) for tensor<?x?xf64, #{{.*}}> parallel
  %list, %count = tulle.collect %entries bound %n sizes(%n, %n) for tensor<?x?xf64, #CSR> parallel : !tulle.entries<2, f64> -> memref<?xi64>
  // CHECK: tulle.sort %{{.*}}, %{{.*}} count %{{.*}} by 1 for tensor<?x?xf64, #{{.*}}>
  %sorted, %other = tulle.sort %list, %list count %count by 1 for tensor<?x?xf64, #CSR> : memref<?xi64>
  // CHECK: tulle.append %{{.*}} count %{{.*}} sizes(%{{.*}}, %{{.*}}) for tensor<?x?xf64, #{{.*}}> unique
  %b:3 = tulle.append %sorted count %count sizes(%n, %n) for tensor<?x?xf64, #CSR> unique : memref<?xi64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  // CHECK: tulle.sort_segments
  tulle.sort_segments %b#1, %b#2 segments %b#0[%n to %n] start %n for tensor<?x?xf64, #CSR> : memref<?xi64>, memref<?xf64>, memref<?xi64>
  // CHECK: tulle.unique
  %end = tulle.unique %b#1, %b#2 segments %b#0[%n to %n] start %n for tensor<?x?xf64, #CSR> {combine = #tulle<combine max>} : memref<?xi64>, memref<?xf64>, memref<?xi64>
  return %end : index
}

// CHECK-LABEL: @streams
func.func @streams(%pairs: tensor<?x?xi1, #CSR>, %n: index, %v: f64) {
  // CHECK: %[[ENTRIES:.*]] = tulle.entries bound %{{.*}} distinct %{{.*}} aligned 2 attributes {order = #{{.*}}, unique} {
  %e = tulle.entries bound %n distinct %n aligned 2 attributes {order = affine_map<(i, j) -> (i)>, unique} {
    tulle.insert %v at (%n, %n) : f64
  } : !tulle.entries<2, f64>
  // CHECK: tulle.append %[[ENTRIES]] sizes(%{{.*}}, %{{.*}}) for tensor<?x?xf64, #{{.*}}> parallel {share} : !tulle.entries<2, f64> ->
  %a:3 = tulle.append %e sizes(%n, %n) for tensor<?x?xf64, #CSR> parallel {share} : !tulle.entries<2, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  // CHECK: tulle.append_blocks %[[ENTRIES]] sizes
  %b:3 = tulle.append_blocks %e sizes(%n, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  // CHECK: tulle.workspace %[[ENTRIES]] sizes
  %w:3 = tulle.workspace %e sizes(%n, %n) for tensor<?x?xf64, #CSR> parallel : !tulle.entries<2, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  %one = tulle.entries {
    tulle.insert %v at (%n) : f64
  } : !tulle.entries<1, f64>
  // CHECK: tulle.accumulate %{{.*}} sizes(%{{.*}}) for tensor<?xf64, #{{.*}}> :
  %r:3 = tulle.accumulate %one sizes(%n) for tensor<?xf64, #row> : !tulle.entries<1, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  // CHECK: tulle.accumulate %{{.*}} sizes(%{{.*}}) for tensor<?xf64, #{{.*}}> {hashed} :
  %h:3 = tulle.accumulate %one sizes(%n) for tensor<?xf64, #row> {hashed} : !tulle.entries<1, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  // CHECK: tulle.scatter_levels %[[ENTRIES]] sizes
  %s:3 = tulle.scatter_levels %e sizes(%n, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  // CHECK: tulle.scatter_levels %[[ENTRIES]] pairs %{{.*}} sizes
  %p:3 = tulle.scatter_levels %e pairs %pairs sizes(%n, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64>, tensor<?x?xi1, #CSR> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  return
}

// CHECK-LABEL: @levels
func.func @levels(%sorted: tensor<?x?xf64, #COO>, %n: index) -> tensor<?x?xf64, #CSR> {
  // CHECK: tulle.build_levels %{{.*}} sizes(%{{.*}}, %{{.*}})
  %t = tulle.build_levels %sorted sizes(%n, %n) : tensor<?x?xf64, #COO> -> tensor<?x?xf64, #CSR>
  return %t : tensor<?x?xf64, #CSR>
}
