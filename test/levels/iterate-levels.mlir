// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-lower --canonicalize --cse | FileCheck %s

// What each level format costs: one function walks it, below the simplest parent it can have.

#Dense = #tulle.encoding<{ map = (i, j) -> (i : dense, j : dense) }>
#Compressed = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 16 }>
#Loose = #tulle.encoding<{ map = (i, j) -> (i : dense, j : loose_compressed), posWidth = 64, crdWidth = 32 }>
#Interleaved = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), posWidth = 32, crdWidth = 32 }>
#Arrays = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), posWidth = 32, crdWidth = 32 }>
#Batch = #tulle.encoding<{ map = (b, i, j) -> (b : batch, i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#NV24 = #tulle.encoding<{ map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 2 }>
#Block = #tulle.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense), posWidth = 32, crdWidth = 32 }>

// dense: no buffer but the values; the position is computed.
// CHECK-LABEL: @dense
// CHECK-SAME: (%[[V:[a-z0-9]+]]: memref<?xf64>, %{{.*}}: index, %[[N:[a-z0-9]+]]: index, %[[I:[a-z0-9]+]]: index)
func.func @dense(%A: tensor<?x?xf64, #Dense>, %i: index) {
  %p = tulle.locate %A level(0) at %i : tensor<?x?xf64, #Dense> -> !tulle.iterator<#Dense, 0>
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#Dense, 0> : tensor<?x?xf64, #Dense> -> !tulle.space<#Dense, 1>
  // CHECK: scf.for %[[J:.*]] = %c0 to %[[N]] step %c1
  // CHECK-DAG: %[[ROW:.*]] = arith.muli %[[I]], %[[N]] overflow<nsw, nuw>
  // CHECK-DAG: %[[P:.*]] = arith.addi %[[ROW]], %[[J]] overflow<nsw, nuw>
  // CHECK: memref.load %[[V]][%[[P]]]
  // CHECK: "use"(%[[J]],
  // CHECK: tulle.loop = #tulle.loop<parallel>
  tulle.iterate %j, %q in %s : !tulle.space<#Dense, 1> {
    %v = tulle.load %A[%q : !tulle.iterator<#Dense, 1>] : tensor<?x?xf64, #Dense> -> f64
    "use"(%j, %v) : (index, f64) -> ()
  }
  return
}

// compressed: pos[p] to pos[p + 1].
// CHECK-LABEL: @compressed
// CHECK-SAME: (%[[POS:[a-z0-9]+]]: memref<?xi32>, %[[CRD:[a-z0-9]+]]: memref<?xi16>, %[[V:[a-z0-9]+]]: memref<?xf64>, %{{.*}}: index)
func.func @compressed(%A: tensor<?xf64, #Compressed>) {
  // CHECK: %[[LOX:.*]], %[[HIX:.*]] = tulle.segment %[[POS]][%c0]
  // CHECK: scf.for %[[P:.*]] = %[[LOX]] to %[[HIX]] step %c1
  // CHECK: %[[C:.*]] = memref.load %[[CRD]][%[[P]]] : memref<?xi16>
  // CHECK: %[[CX:.*]] = arith.index_castui %[[C]] : i16 to index
  // CHECK: %[[X:.*]] = memref.load %[[V]][%[[P]]]
  // CHECK: "use"(%[[CX]], %[[X]])
  %s = tulle.space %A level(0) : tensor<?xf64, #Compressed> -> !tulle.space<#Compressed, 0>
  tulle.iterate %i, %p in %s : !tulle.space<#Compressed, 0> {
    %v = tulle.load %A[%p : !tulle.iterator<#Compressed, 0>] : tensor<?xf64, #Compressed> -> f64
    "use"(%i, %v) : (index, f64) -> ()
  }
  return
}

// loose_compressed: pos[2p] to pos[2p + 1].
// CHECK-LABEL: @loose
// CHECK-SAME: (%[[POS:[a-z0-9]+]]: memref<?xi64>, %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %{{.*}}: index, %[[I:[a-z0-9]+]]: index)
func.func @loose(%A: tensor<?x?xf64, #Loose>, %i: index) -> index {
  // CHECK: %[[I2:.*]] = arith.muli %[[I]], %c2
  // CHECK: memref.load %[[POS]][%[[I2]]]
  // CHECK: %[[I21:.*]] = arith.addi %[[I2]], %c1
  // CHECK: memref.load %[[POS]][%[[I21]]]
  %p = tulle.locate %A level(0) at %i : tensor<?x?xf64, #Loose> -> !tulle.iterator<#Loose, 0>
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#Loose, 0> : tensor<?x?xf64, #Loose> -> !tulle.space<#Loose, 1>
  %n = tulle.space_size %s : !tulle.space<#Loose, 1>
  // CHECK: %[[N:.*]] = arith.subi
  // CHECK: return %[[N]] : index
  return %n : index
}

// A nonunique level is walked segment by segment; its coordinates lie next to those of the singleton below.
// CHECK-LABEL: @interleaved
// CHECK-SAME: (%{{.*}}: memref<?xi32>, %[[CRD:[a-z0-9]+]]: memref<?xi32>, %[[V:[a-z0-9]+]]: memref<?xf64>, %{{.*}}: index, %{{.*}}: index)
func.func @interleaved(%A: tensor<?x?xf64, #Interleaved>) {
  %s = tulle.space %A level(0) : tensor<?x?xf64, #Interleaved> -> !tulle.space<#Interleaved, 0>
  // CHECK: scf.while
  // CHECK: ^bb0(%[[P:[a-z0-9]+]]: index):
  // CHECK: %[[P2:.*]] = arith.muli %[[P]], %c2
  // CHECK: %[[I:.*]] = memref.load %[[CRD]][%[[P2]]]
  // CHECK: %[[END:.*]] = scf.while
  // CHECK: scf.for %[[Q:.*]] = %[[P]] to %[[END]] step %c1
  // CHECK: %[[Q2:.*]] = arith.muli %[[Q]], %c2
  // CHECK: %[[Q21:.*]] = arith.addi %[[Q2]], %c1
  // CHECK: %[[J:.*]] = memref.load %[[CRD]][%[[Q21]]]
  // CHECK: memref.load %[[V]][%[[Q]]]
  // CHECK: scf.yield %[[END]]
  tulle.iterate %i, %p in %s : !tulle.space<#Interleaved, 0> {
    %t = tulle.space %A level(1) under %p : !tulle.iterator<#Interleaved, 0> : tensor<?x?xf64, #Interleaved> -> !tulle.space<#Interleaved, 1>
    tulle.iterate %j, %q in %t : !tulle.space<#Interleaved, 1> {
      %v = tulle.load %A[%q : !tulle.iterator<#Interleaved, 1>] : tensor<?x?xf64, #Interleaved> -> f64
      "use"(%i, %j, %v) : (index, index, f64) -> ()
    }
  }
  return
}

// soa: each level of the run has its own array.
// CHECK-LABEL: @arrays
// CHECK-SAME: (%{{.*}}: memref<?xi32>, %{{.*}}: memref<?xi32>, %[[J:[a-z0-9]+]]: memref<?xi32>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %{{.*}}: index)
func.func @arrays(%A: tensor<?x?xf64, #Arrays>) {
  %s = tulle.space %A level(0) : tensor<?x?xf64, #Arrays> -> !tulle.space<#Arrays, 0>
  tulle.iterate %i, %p in %s : !tulle.space<#Arrays, 0> {
    %t = tulle.space %A level(1) under %p : !tulle.iterator<#Arrays, 0> : tensor<?x?xf64, #Arrays> -> !tulle.space<#Arrays, 1>
    // CHECK: scf.for %[[Q:.*]] =
    // CHECK: memref.load %[[J]][%[[Q]]]
    tulle.iterate %j, %q in %t : !tulle.space<#Arrays, 1> {
      "use"(%j) : (index) -> ()
    }
  }
  return
}

// batch: every batch has a run of (parents + 1) positions of its own.
// CHECK-LABEL: @batch
// CHECK-SAME: (%[[POS:[a-z0-9]+]]: memref<?xi32>, {{.*}}, %{{.*}}: index, %[[ROWS:[a-z0-9]+]]: index, %{{.*}}: index, %[[B:[a-z0-9]+]]: index, %[[I:[a-z0-9]+]]: index)
func.func @batch(%A: tensor<?x?x?xf64, #Batch>, %b: index, %i: index) {
  // CHECK: %[[BASE:.*]] = arith.muli %[[B]], %[[ROWS]]
  // CHECK: %[[P:.*]] = arith.addi %[[BASE]], %[[I]]
  // CHECK: %[[Q:.*]] = arith.addi %[[P]], %[[B]]
  // CHECK: tulle.segment %[[POS]][%[[Q]]]
  %p = tulle.locate %A level(0) at %b : tensor<?x?x?xf64, #Batch> -> !tulle.iterator<#Batch, 0>
  %q = tulle.locate %A level(1) under %p : !tulle.iterator<#Batch, 0> at %i : tensor<?x?x?xf64, #Batch> -> !tulle.iterator<#Batch, 1>
  %s = tulle.space %A level(2) under %q : !tulle.iterator<#Batch, 1> : tensor<?x?x?xf64, #Batch> -> !tulle.space<#Batch, 2>
  tulle.iterate %j, %r in %s : !tulle.space<#Batch, 2> {
    "use"(%j) : (index) -> ()
  }
  return
}

// structured[2,4]: two positions per group; four coordinates to a byte.
// CHECK-LABEL: @structured
// CHECK-SAME: (%[[CRD:[a-z0-9]+]]: memref<?xi8>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %[[N:[a-z0-9]+]]: index)
func.func @structured(%A: tensor<?x?xf64, #NV24>) {
  // CHECK: %[[N3:.*]] = arith.addi %[[N]], %c3
  // CHECK: %[[GROUPS:.*]] = arith.divui %[[N3]], %c4
  // CHECK: scf.for %[[G:.*]] = %c0 to %[[GROUPS]]
  // CHECK: %[[LO:.*]] = arith.muli %[[G]], %c2
  // CHECK: %[[HI:.*]] = arith.addi %[[LO]], %c2
  // CHECK: scf.for %[[P:.*]] = %[[LO]] to %[[HI]]
  // CHECK: %[[BYTE:.*]] = arith.shrui %[[P]], %c2
  // CHECK: memref.load %[[CRD]][%[[BYTE]]] : memref<?xi8>
  // CHECK: arith.andi %[[P]], %c3
  %c0 = arith.constant 0 : index
  %p = tulle.locate %A level(0) at %c0 : tensor<?x?xf64, #NV24> -> !tulle.iterator<#NV24, 0>
  %s = tulle.space %A level(1) under %p : !tulle.iterator<#NV24, 0> : tensor<?x?xf64, #NV24> -> !tulle.space<#NV24, 1>
  tulle.iterate %j, %q in %s : !tulle.space<#NV24, 1> {
    %t = tulle.space %A level(2) under %q : !tulle.iterator<#NV24, 1> : tensor<?x?xf64, #NV24> -> !tulle.space<#NV24, 2>
    tulle.iterate %k, %r in %t : !tulle.space<#NV24, 2> {
      "use"(%k) : (index) -> ()
    }
  }
  return
}

// Levels of a blocked map have the sizes of their digits, padding included; a static dimension is a constant.
// CHECK-LABEL: @sizes
func.func @sizes(%A: tensor<5x?xf64, #Block>) -> (index, index, index, index) {
  %0 = tulle.level_size %A level(0) : tensor<5x?xf64, #Block>
  %1 = tulle.level_size %A level(1) : tensor<5x?xf64, #Block>
  %2 = tulle.level_size %A level(2) : tensor<5x?xf64, #Block>
  %3 = tulle.level_size %A level(3) : tensor<5x?xf64, #Block>
  // CHECK: %[[N:.*]] = arith.divui %{{.*}}, %c3
  // CHECK: return %c3, %[[N]], %c2, %c3
  return %0, %1, %2, %3 : index, index, index, index
}
