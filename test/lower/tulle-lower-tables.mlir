// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-lower --canonicalize --cse | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// A position of another row is not within the row's bounds, and neither are all ones.
// CHECK-LABEL: @row(
// CHECK-SAME: %[[POS:[^:]*]]: memref<?xi32>, %[[CRD:[^:]*]]: memref<?xi32>, %{{[^:]*}}: memref<?xf64>, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[ROW:[^:]*]]: index, %[[J:[^:]*]]: index, %[[TABLE:[^:]*]]: memref<?xi32>
// CHECK: %[[BEGIN:.*]], %[[END:.*]] = tulle.segment %[[POS]][%[[ROW]]]
// CHECK: scf.for %[[P:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[C:.*]] = memref.load %[[CRD]][%[[P]]]
// CHECK: %[[AT:.*]] = arith.index_castui %[[C]]
// CHECK: %[[NARROW:.*]] = arith.index_castui %[[P]] : index to i32
// CHECK: memref.store %[[NARROW]], %[[TABLE]][%[[AT]]]
// CHECK: %[[HELD:.*]] = memref.load %[[TABLE]][%[[J]]]
// CHECK: %[[POSITION:.*]] = arith.index_castui %[[HELD]] : i32 to index
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[POSITION]], %[[BEGIN]] : index
// CHECK: %[[SIZE:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: %[[FOUND:.*]] = arith.cmpi ult, %[[DISTANCE]], %[[SIZE]]
// CHECK: "found"(%[[FOUND]])
func.func @row(%A: tensor<?x?xf64, #CSR>, %row: index, %j: index, %table: memref<?xi32>) {
  %i = tulle.locate %A level(0) at %row : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
  %s = tulle.space %A level(1) under %i : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
  tulle.position_table %s in %table : !tulle.space<#CSR, 1>, memref<?xi32>
  %at, %found = tulle.lookup %j of %s in %table : !tulle.space<#CSR, 1>, memref<?xi32> -> !tulle.iterator<#CSR, 1>
  "found"(%found) : (i1) -> ()
  return
}
