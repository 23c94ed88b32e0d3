// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-append --canonicalize | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-choose-assembly,tulle-expand-assembly{parallel=true},tulle-lower-append,tulle-lower-chained-scan,func.func(canonicalize))' | FileCheck %s --check-prefix=CHUNKS

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// Rows of A, then those of B, whose entries stand as A and B store them: one loop over all positions of each, and one over the ends of
// its rows, which are as far from where they were as the entries. Coordinates that have no more bits than before are not checked.
// CHECK-LABEL: @below(
// CHECK: %[[POS:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: %[[BEGIN:.*]], %[[END:.*]] = tulle.bounds_below %{{.*}} : !tulle.space<#CSR, 0>
// CHECK: scf.if
// CHECK:   %[[DISTANCE:.*]] = arith.subi %{{.*}}, %[[BEGIN]]
// CHECK:   scf.for %[[P:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:     memref.load %{{.*}}[%[[P]]] : memref<?xi32>
// CHECK:     memref.load %{{.*}}[%[[P]]] : memref<?xf64>
// CHECK:     %[[TO:.*]] = arith.addi %[[P]], %[[DISTANCE]]
// CHECK-NOT: arith.cmpi
// CHECK:     memref.store %{{.*}}, %[[CRD]][%[[TO]]]
// CHECK:     memref.store %{{.*}}, %[[VALUES]][%[[TO]]]
// CHECK:   tulle.iterate %[[I:[a-z0-9_]+]], %{{.*}} loop = <parallel>
// CHECK:     %{{.*}}, %[[ROWEND:.*]] = tulle.bounds
// CHECK:     arith.addi %[[ROWEND]], %[[DISTANCE]]
// CHECK:     memref.store %{{.*}}, %[[POS]]
// CHECK: tulle.bounds_below
// CHECK: scf.if
// CHECK:   scf.for
// CHECK:   tulle.iterate {{.*}} loop = <parallel>
// CHECK-NOT: tulle.iterate
// CHECK: return

// Chunks of the first loop, then of the second: a thread counts by what is stored below the rows of a chunk.
// CHUNKS-LABEL: @below(
// CHUNKS: %[[WORK:.*]] = arith.addi %{{.*}}, %{{.*}} overflow
// CHUNKS: tulle.threads %[[WORK]]
// CHUNKS: tulle.parallel
// CHUNKS:   scf.while
// CHUNKS:     %[[A:.*]] = tulle.partition %{{.*}}, %{{.*}} to %{{.*}} of %{{.*}} : !tulle.space<#CSR, 0>
// CHUNKS:     tulle.bounds_below %[[A]]
// CHUNKS:     %[[B:.*]] = tulle.partition %{{.*}}, %{{.*}} to %{{.*}} of %{{.*}} : !tulle.space<#CSR, 0>
// CHUNKS:     tulle.bounds_below %[[B]]
// CHUNKS:     func.call @tulle_ordered_scan
// CHUNKS:     tulle.partition
// CHUNKS: return
func.func @below(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %m2 = tensor.dim %B, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %A, %c1 : tensor<?x?xf64, #CSR>
  %all = arith.addi %m, %m2 : index
  %a = tulle.stored_count %A : tensor<?x?xf64, #CSR>
  %b = tulle.stored_count %B : tensor<?x?xf64, #CSR>
  %count = arith.addi %a, %b : index
  %C = tulle.assemble (%all, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
    %ti = tulle.space %B level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %ti : !tulle.space<#CSR, 0> loop = <reduction> {
      %row = arith.addi %m, %i : index
      %tj = tulle.space %B level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %tj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %B[%rj : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%row, %j) : f64
      }
    }
  } : tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// Rows of B may be rows of A, and where these end is not known before both loops are done: entries are appended one by one, all of
// them by one thread.
// CHECK-LABEL: @above_each_other(
// CHECK-NOT: tulle.bounds_below
// CHECK: return
// CHUNKS-LABEL: @above_each_other(
// CHUNKS-NOT: tulle.parallel
// CHUNKS: return
func.func @above_each_other(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %A, %c1 : tensor<?x?xf64, #CSR>
  %a = tulle.stored_count %A : tensor<?x?xf64, #CSR>
  %b = tulle.stored_count %B : tensor<?x?xf64, #CSR>
  %count = arith.addi %a, %b : index
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
    %ti = tulle.space %B level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %ti : !tulle.space<#CSR, 0> loop = <reduction> {
      %tj = tulle.space %B level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %tj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %B[%rj : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}
