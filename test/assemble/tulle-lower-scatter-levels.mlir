// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-build-levels --tulle-lower-scatter-levels --tulle-lower-collect --tulle-lower-sort --tulle-lower-append --tulle-lower-sort-segments --tulle-lower-unique --tulle-lower-histogram --tulle-lower-scan --tulle-lower-scatter-entries --tulle-lower-chained-scan --tulle-inline-entries --canonicalize --cse --split-input-file | FileCheck %s

// CSR to CSC: counts of each column's entries, prefix sums, and the entries by position. Element p + 1 is the
// cursor of column p, and its end when all is stored.

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 32 }>

// CHECK-LABEL: @csc(
// CHECK-SAME: %[[A:.*]]: tensor<3x4xf64
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK: %[[POS:.*]] = memref.alloc() : memref<6xi32>
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[C6]]
// CHECK: tulle.iterate
// CHECK:   tulle.iterate %[[J:.*]], %{{.*}} in
// CHECK-NOT: tulle.load
// CHECK:     %[[AT:.*]] = arith.addi %[[J]], %[[C2]]
// CHECK:     memref.load %[[POS]][%[[AT]]]
// CHECK:     memref.store %{{.*}}, %[[POS]][%[[AT]]]
// CHECK: %[[TOTAL:.*]] = scf.for %{{.*}} = %[[C2]] to %[[C6]] step %[[C1]] iter_args(%{{.*}} = %[[C0]])
// CHECK: %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: tulle.iterate %[[I:.*]], %{{.*}} in
// CHECK:   tulle.iterate %[[J:.*]], %{{.*}} in
// CHECK:     %[[V:.*]] = tulle.load
// CHECK:     %[[CURSOR:.*]] = arith.addi %[[J]], %[[C1]]
// CHECK:     %[[P:.*]] = memref.load %[[POS]][%[[CURSOR]]]
// CHECK:     memref.store %{{.*}}, %[[POS]][%[[CURSOR]]]
// CHECK:     %[[Q:.*]] = arith.index_castui %[[P]] : i32 to index
// CHECK:     memref.store %{{.*}}, %[[CRD]][%[[Q]]]
// CHECK:     memref.store %[[V]], %[[VALUES]][%[[Q]]]
// CHECK: memref.reinterpret_cast %[[POS]] to offset: [0], sizes: [5], strides: [1]
// CHECK: tulle.storage
func.func @csc(%A: tensor<3x4xf64, #CSR>) -> tensor<3x4xf64, #CSC> {
  %m = arith.constant 3 : index
  %n = arith.constant 4 : index
  %C = tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %s0 = tulle.space %A level(0) : tensor<3x4xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %pi in %s0 : !tulle.space<#CSR, 0> loop = <reduction> {
      %s1 = tulle.space %A level(1) under %pi : !tulle.iterator<#CSR, 0> : tensor<3x4xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %pj in %s1 : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%pj : !tulle.iterator<#CSR, 1>] : tensor<3x4xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<3x4xf64, #CSC>
  return %C : tensor<3x4xf64, #CSC>
}

// -----

// How far rows of a band reach is asked of the first and the last entry of each row of A.

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#skyline = #tulle.encoding<{ map = (i, j) -> (i : dense, j : banded), posWidth = 32, crdWidth = 32 }>

// CHECK-LABEL: @extremes(
// CHECK: tulle.iterate
// CHECK:   %[[BEGIN:.*]], %[[END:.*]] = tulle.bounds
// CHECK:   %[[SOME:.*]] = arith.cmpi ult, %[[BEGIN]], %[[END]]
// CHECK:   scf.if %[[SOME]]
// CHECK:     tulle.at %{{.*}}[%[[BEGIN]]]
// CHECK:     %[[LAST:.*]] = arith.subi %[[END]], %{{.*}}
// CHECK:     tulle.at %{{.*}}[%[[LAST]]]
// CHECK: scf.for
// CHECK: tulle.iterate
// CHECK:   tulle.iterate
// CHECK: tulle.storage
func.func @extremes(%A: tensor<3x4xf64, #CSR>) -> tensor<3x4xf64, #skyline> {
  %m = arith.constant 3 : index
  %n = arith.constant 4 : index
  %C = tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %s0 = tulle.space %A level(0) : tensor<3x4xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %pi in %s0 : !tulle.space<#CSR, 0> loop = <reduction> {
      %s1 = tulle.space %A level(1) under %pi : !tulle.iterator<#CSR, 0> : tensor<3x4xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %pj in %s1 : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%pj : !tulle.iterator<#CSR, 1>] : tensor<3x4xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<3x4xf64, #skyline>
  return %C : tensor<3x4xf64, #skyline>
}

// -----

// Where the rows of the result follow from the same coordinate, each entry is asked.

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#ragged = #tulle.encoding<{ map = (i, j) -> (i : dense, j : ragged), posWidth = 32, crdWidth = 32 }>

// CHECK-LABEL: @every(
// CHECK-NOT: tulle.bounds
// CHECK: tulle.storage
func.func @every(%A: tensor<3x4xf64, #CSR>) -> tensor<5x4xf64, #ragged> {
  %m = arith.constant 5 : index
  %n = arith.constant 4 : index
  %one = arith.constant 1 : index
  %C = tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> ()>} {
    %s0 = tulle.space %A level(0) : tensor<3x4xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %pi in %s0 : !tulle.space<#CSR, 0> loop = <reduction> {
      %s1 = tulle.space %A level(1) under %pi : !tulle.iterator<#CSR, 0> : tensor<3x4xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %pj in %s1 : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%pj : !tulle.iterator<#CSR, 1>] : tensor<3x4xf64, #CSR> -> f64
        %row = arith.addi %j, %one : index
        tulle.insert %v at (%row, %j) : f64
      }
    }
  } : tensor<5x4xf64, #ragged>
  return %C : tensor<5x4xf64, #ragged>
}
