// RUN: tulle-opt %s --tulle-lower --canonicalize --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// A tensor made here is returned as its fields, and can be read before.
// CHECK-LABEL: @made(
// CHECK-SAME: %[[POS:[^:]*]]: memref<?xi32>, %[[CRD:[^:]*]]: memref<?xi32>, %[[VALUES:[^:]*]]: memref<?xf64>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index)
// CHECK-SAME: -> (memref<?xi32>, memref<?xi32>, memref<?xf64>, index)
// CHECK: %[[COUNT:.*]] = memref.dim %[[VALUES]], %c0
// CHECK: return %[[POS]], %[[CRD]], %[[VALUES]], %[[COUNT]]
func.func @made(%pos: memref<?xi32>, %crd: memref<?xi32>, %values: memref<?xf64>, %m: index, %n: index) -> (tensor<?x?xf64, #CSR>, index) {
  %A = tulle.storage(%pos, %crd, %values) sizes(%m, %n) : memref<?xi32>, memref<?xi32>, memref<?xf64> -> tensor<?x?xf64, #CSR>
  %count = tulle.stored_count %A : tensor<?x?xf64, #CSR>
  return %A, %count : tensor<?x?xf64, #CSR>, index
}

// -----

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), posWidth = 32, crdWidth = 32 }>

// Every position by itself: counted loops, where a coordinate that repeats is not looked for.
// CHECK-LABEL: @each(
// CHECK-SAME: %[[POS:[^:]*]]: memref<?xi32>, %[[I:[^:]*]]: memref<?xi32>, %[[J:[^:]*]]: memref<?xi32>, %[[VALUES:[^:]*]]: memref<?xf64>,
// CHECK-NOT: scf.while
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step
// CHECK-DAG: memref.load %[[I]][%[[P]]]
// CHECK-DAG: memref.load %[[J]][%[[P]]]
// CHECK-DAG: memref.load %[[VALUES]][%[[P]]]
// CHECK: memref.store
// CHECK-NOT: scf.while
func.func @each(%A: tensor<?x?xf64, #COO>, %out: memref<?x?xf64>) {
  %s0 = tulle.space %A level(0) : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 0>
  tulle.iterate %i, %it in %s0 : !tulle.space<#COO, 0> attributes {each} {
    %s1 = tulle.space %A level(1) under %it : !tulle.iterator<#COO, 0> : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 1>
    tulle.iterate %j, %jt in %s1 : !tulle.space<#COO, 1> attributes {each} {
      %v = tulle.load %A[%jt : !tulle.iterator<#COO, 1>] : tensor<?x?xf64, #COO> -> f64
      memref.store %v, %out[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
