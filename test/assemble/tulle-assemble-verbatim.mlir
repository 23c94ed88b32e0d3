// RUN: tulle-opt %s --tulle-assemble --canonicalize | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-assemble{parallel=true},func.func(canonicalize))' | FileCheck %s --check-prefix=PARTS

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), posWidth = 32, crdWidth = 32 }>
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#wide = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64 }>

// Sorted entries: columns and values of CSR are those of COO, and are copied as a whole. The loops only find where rows begin.
// CHECK-LABEL: @rows(
// CHECK: %[[POS:.*]] = memref.alloc() : memref<5xi32>
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: %[[COLUMNS:.*]] = tulle.values %{{.*}} {tulle.level = 1 : i64} : {{.*}} -> memref<?xi32>
// CHECK: vector.load %[[COLUMNS]]
// CHECK: vector.store %{{.*}}, %[[CRD]]{{.*}}nontemporal = true
// CHECK: %[[FROM:.*]] = tulle.values %{{.*}} : {{.*}} -> memref<?xf64>
// CHECK: vector.load %[[FROM]]
// CHECK: vector.store %{{.*}}, %[[VALUES]]{{.*}}nontemporal = true
// CHECK: tulle.iterate
// CHECK-NOT: tulle.load
// CHECK-NOT: memref.store %{{.*}}, %[[CRD]]
// CHECK-NOT: memref.store %{{.*}}, %[[VALUES]]
// CHECK: memref.store %{{.*}}, %[[POS]]
// CHECK: return

// The threads take pieces of the rows: each copies as large a share of the entries, counts its rows, takes its turn, and
// writes the positions where they belong: nothing is moved.
// PARTS-LABEL: @rows(
// PARTS: scf.if
// PARTS: tulle.parallel %{{.*}} of %{{.*}} {
// PARTS-NOT: memref.alloc(
// PARTS:   scf.while
// PARTS:   ^bb0(%[[NUMBER:.*]]: index):
// PARTS:   arith.muli %{{.*}}, %[[NUMBER]]
// PARTS:   tulle.values
// PARTS:   tulle.values
// PARTS-NOT: tulle.parallel
// PARTS:   tulle.part
// PARTS:   tulle.iterate
// PARTS:   func.call @tulle_turn
// PARTS:   tulle.part
// PARTS:   tulle.iterate
// PARTS-NOT: func.call @tulle_turn
// PARTS-NOT: vector.store
// PARTS: else
// PARTS: return
func.func @rows(%A: tensor<4x6xf64, #COO>) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #COO>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #COO> -> !tulle.space<#COO, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#COO, 0> kind = reduction attributes {each} {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#COO, 0> : tensor<4x6xf64, #COO> -> !tulle.space<#COO, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#COO, 1> kind = reduction {
        %v = tulle.load %A[%rj : !tulle.iterator<#COO, 1>] : tensor<4x6xf64, #COO> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// Coordinates of another width are stored one by one; the values are still copied.
// CHECK-LABEL: @widened(
// CHECK-NOT: tulle.level =
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
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> kind = reduction {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> kind = reduction {
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
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> kind = reduction {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> kind = reduction {
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
