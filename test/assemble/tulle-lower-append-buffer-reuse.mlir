// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-append --canonicalize | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-choose-assembly,tulle-expand-assembly{parallel=true},tulle-lower-append,tulle-lower-chained-scan,func.func(canonicalize))' | FileCheck %s --check-prefix=PARTS

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), posWidth = 32, crdWidth = 32 }>
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed), posWidth = 32, crdWidth = 32 }>
#wide = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64 }>

// Sorted entries: columns and values of CSR are those of COO, and are copied as a whole. Where rows end is read off the rows:
// one end for four entries of one row, else one for each.
// CHECK-LABEL: @rows(
// CHECK: %[[POS:.*]] = memref.alloc() : memref<5xi32>
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: %[[COLUMNS:.*]] = tulle.values %{{.*}} coordinates 1 : {{.*}} -> memref<?xi32>
// CHECK: vector.load %[[COLUMNS]]
// CHECK: vector.store %{{.*}}, %[[CRD]]{{.*}}nontemporal = true
// CHECK: %[[FROM:.*]] = tulle.values %{{.*}} : {{.*}} -> memref<?xf64>
// CHECK: vector.load %[[FROM]]
// CHECK: vector.store %{{.*}}, %[[VALUES]]{{.*}}nontemporal = true
// CHECK-NOT: tulle.iterate
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK-NEXT: scf.if %[[SAME]] {
// CHECK-COUNT-1: memref.store %{{.*}}, %[[POS]]
// CHECK-NOT: memref.store
// CHECK: } else {
// CHECK-COUNT-4: memref.store %{{.*}}, %[[POS]]
// CHECK-NOT: memref.store
// CHECK: }
// CHECK: arith.maxui
// CHECK: return

// Threads begin and end between rows, and have no rows in common: none waits for another.
// PARTS-LABEL: @rows(
// PARTS: tulle.threads
// PARTS: tulle.parallel %{{.*}} of %{{.*}} {
// PARTS: tulle.values
// PARTS: tulle.values
// PARTS: scf.while
// PARTS: scf.while
// PARTS: arith.maxui
// PARTS: return
// PARTS-NOT: tulle_ordered_scan
func.func @rows(%A: tensor<4x6xf64, #COO>) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #COO>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #COO> -> !tulle.space<#COO, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#COO, 0> loop = <reduction> attributes {each} {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#COO, 0> : tensor<4x6xf64, #COO> -> !tulle.space<#COO, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#COO, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#COO, 1>] : tensor<4x6xf64, #COO> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// The same where buffers may be shared: the positions are all that is made.
// CHECK-LABEL: @shared(
// CHECK: memref.alloc() : memref<5xi32>
// CHECK-NOT: memref.alloc
// CHECK: %[[COLUMNS:.*]] = memref.reinterpret_cast %{{.*}} : memref<?xi32> to memref<?xi32>
// CHECK: %[[VALUES:.*]] = memref.reinterpret_cast %{{.*}} : memref<?xf64> to memref<?xf64>
// CHECK: tulle.storage(%{{.*}}, %[[COLUMNS]], %[[VALUES]])
// CHECK: return
func.func @shared(%A: tensor<4x6xf64, #COO>) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #COO>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique, share} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #COO> -> !tulle.space<#COO, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#COO, 0> loop = <reduction> attributes {each} {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#COO, 0> : tensor<4x6xf64, #COO> -> !tulle.space<#COO, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#COO, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#COO, 1>] : tensor<4x6xf64, #COO> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// The threads take pieces of the entries: each copies as large a share of them, counts its rows, takes its turn, and writes
// what it stores where it belongs: nothing is moved.
// PARTS-LABEL: @stored_rows(
// PARTS: scf.if
// PARTS: tulle.parallel %{{.*}} of %{{.*}} {
// PARTS-NOT: memref.alloc(
// PARTS:   scf.while
// PARTS:   ^bb0(%[[NUMBER:.*]]: index):
// PARTS:   arith.muli %{{.*}}, %[[NUMBER]]
// PARTS:   tulle.values
// PARTS:   tulle.values
// PARTS-NOT: tulle.parallel
// PARTS:   tulle.partition
// PARTS:   tulle.iterate
// PARTS:   func.call @tulle_ordered_scan
// PARTS:   tulle.partition
// PARTS:   tulle.iterate
// PARTS-NOT: func.call @tulle_ordered_scan
// PARTS-NOT: vector.store
// PARTS: else
// PARTS: return
func.func @stored_rows(%A: tensor<4x6xf64, #COO>) -> tensor<4x6xf64, #DCSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #COO>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #COO> -> !tulle.space<#COO, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#COO, 0> loop = <reduction> attributes {each} {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#COO, 0> : tensor<4x6xf64, #COO> -> !tulle.space<#COO, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#COO, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#COO, 1>] : tensor<4x6xf64, #COO> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<4x6xf64, #DCSR>
  return %C : tensor<4x6xf64, #DCSR>
}

// Coordinates of another width are stored one by one; the values are still copied.
// CHECK-LABEL: @widened(
// CHECK-NOT: coordinates
// CHECK: %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi64>
// CHECK: tulle.values
// CHECK: tulle.iterate
// CHECK: memref.store %{{.*}}, %[[CRD]]
// CHECK: return
func.func @widened(%A: tensor<4x6xf64, #CSR>) -> tensor<4x6xf64, #wide> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<4x6xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<4x6xf64, #wide>
  return %C : tensor<4x6xf64, #wide>
}

// What is computed is not copied, nor are entries that a condition leaves out.
// CHECK-LABEL: @computed(
// CHECK-NOT: tulle.values
// CHECK: return
func.func @computed(%A: tensor<4x6xf64, #CSR>) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<4x6xf64, #CSR> -> f64
        %lower = arith.cmpi ult, %j, %i : index
        scf.if %lower {
          tulle.insert %v at (%i, %j) : f64
        }
      }
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}
