// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-lower-accumulate --canonicalize --cse --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#row = #tulle.encoding<{ map = (i) -> (i : compressed) }>
!it = !tulle.iterator<#CSR, 0>
!entry = !tulle.iterator<#CSR, 1>

// An array whose elements are what the first insert finds there, a bit set, and a list in order. The list stays from row to row, and
// ends where its entries do.
// CHECK-LABEL: func.func @in_array
// CHECK: %[[CELL:.*]] = memref.alloca() : memref<memref<?xf64>>
// CHECK: tulle.iterate %{{[^ ]*}} in
// CHECK: %[[SUMS:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[WORDS:.*]] = tulle.filled_buffer
// CHECK: tulle.iterate
// CHECK: %[[KNOWN:.*]] = arith.trunci
// CHECK: %[[OLD:.*]] = memref.load %[[SUMS]]
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[V:.*]] : f64
// CHECK: %[[STORED:.*]] = arith.select %[[KNOWN]], %[[SUM]], %[[V]]
// CHECK: memref.store %[[STORED]], %[[SUMS]]
// CHECK: memref.store %{{.*}}, %[[CELL]][]
// CHECK: }
// CHECK-NEXT: %[[LIST:.*]] = memref.load %[[CELL]][] : memref<memref<?xf64>>
// CHECK: llvm.intr.cttz
// CHECK: llvm.intr.cttz
// CHECK: %[[LISTED:.*]] = memref.load %[[SUMS]]
// CHECK: memref.store %[[LISTED]], %[[LIST]]
// CHECK: tulle.return_filled_buffer %[[WORDS]]
// CHECK: memref.reinterpret_cast %[[LIST]]
// CHECK: "use"
// CHECK: memref.dealloc
// CHECK: }
// CHECK: memref.dealloc
func.func @in_array(%a: tensor<?x?xf64, #CSR>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  tulle.iterate %i in %rows : !tulle.range {
    %e = tulle.entries {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !it
      %s = tulle.space %a level(1) under %it : !it : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%j) : f64
      }
    } : !tulle.entries<1, f64>
    %b:3 = tulle.accumulate %e sizes(%n) for tensor<?xf64, #row> : !tulle.entries<1, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
    "use"(%b#0, %b#1, %b#2) : (memref<?xi64>, memref<?xi64>, memref<?xf64>) -> ()
  }
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#row = #tulle.encoding<{ map = (i) -> (i : compressed(nonordered)), posWidth = 64, crdWidth = 32 }>
!it = !tulle.iterator<#CSR, 0>
!entry = !tulle.iterator<#CSR, 1>

// Inserts are counted first, a fiber at a time; a free slot has a key of all ones. What is found in the table is combined in the list.
// CHECK-LABEL: func.func @in_table
// CHECK: tulle.iterate
// CHECK: arith.minui
// CHECK: scf.for {{.*}} {
// CHECK-NEXT: memref.store %c-1_i32, %[[KEYS:[^ ]*]][
// CHECK: tulle.iterate
// CHECK: arith.mului_extended
// CHECK: scf.while
// CHECK: memref.load %[[KEYS]]
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[KEYS]]
// CHECK: } else {
// CHECK: arith.addf
// CHECK-NOT: tulle.sort_segments
// CHECK: "use"
func.func @in_table(%a: tensor<?x?xf64, #CSR>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  tulle.iterate %i in %rows : !tulle.range {
    %e = tulle.entries {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !it
      %s = tulle.space %a level(1) under %it : !it : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%j) : f64
      }
    } : !tulle.entries<1, f64>
    %b:3 = tulle.accumulate %e sizes(%n) for tensor<?xf64, #row> {hashed} : !tulle.entries<1, f64> -> memref<?xi64>, memref<?xi32>, memref<?xf64>
    "use"(%b#0, %b#1, %b#2) : (memref<?xi64>, memref<?xi32>, memref<?xf64>) -> ()
  }
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#row = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 64, crdWidth = 32 }>
!it = !tulle.iterator<#CSR, 0>
!entry = !tulle.iterator<#CSR, 1>

// An ordered level is sorted; entries that come in order, once each, are listed alone.
// CHECK-LABEL: func.func @in_order
// CHECK: tulle.iterate
// CHECK: scf.while
// CHECK: tulle.sort_segments
// CHECK: "use"
// CHECK-NOT: scf.while
// CHECK: tulle.iterate
// CHECK: memref.store
// CHECK-NOT: tulle.sort_segments
// CHECK: "use"
func.func @in_order(%a: tensor<?x?xf64, #CSR>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  tulle.iterate %i in %rows : !tulle.range {
    %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !it
    %s = tulle.space %a level(1) under %it : !it : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    %e = tulle.entries {
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%j) : f64
      }
    } : !tulle.entries<1, f64>
    %b:3 = tulle.accumulate %e sizes(%n) for tensor<?xf64, #row> {hashed} : !tulle.entries<1, f64> -> memref<?xi64>, memref<?xi32>, memref<?xf64>
    "use"(%b#0, %b#1, %b#2) : (memref<?xi64>, memref<?xi32>, memref<?xf64>) -> ()
    %o = tulle.entries attributes {order = affine_map<(i) -> (i)>, unique} {
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !entry] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%j) : f64
      }
    } : !tulle.entries<1, f64>
    %d:3 = tulle.accumulate %o sizes(%n) for tensor<?xf64, #row> : !tulle.entries<1, f64> -> memref<?xi64>, memref<?xi32>, memref<?xf64>
    "use"(%d#0, %d#1, %d#2) : (memref<?xi64>, memref<?xi32>, memref<?xf64>) -> ()
  }
  return
}
