// RUN: tulle-opt %s --allow-unregistered-dialect --tulle-lower --canonicalize --cse | FileCheck %s

#Skyline = #tulle.encoding<{ map = (i, j) -> (i : dense, j : banded), posWidth = 32, crdWidth = 32 }>
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), posWidth = 32, crdWidth = 32 }>
#SV = #tulle.encoding<{ map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32 }>

// The rows of B that coordinates of a select: the bounds of the row eight iterations on are prefetched, and the entries of
// the row four iterations on; not beyond the last coordinate.
// CHECK-LABEL: @rows(
// CHECK-SAME: %{{.*}}: memref<?xi32>, %[[K:[^:]*]]: memref<?xi32>, %{{[^:]*}}: memref<?xf64>, %{{[^:]*}}: index, %[[POS:[^:]*]]: memref<?xi32>, %[[CRD:[^:]*]]: memref<?xi32>, %[[VAL:[^:]*]]: memref<?xf64>
// CHECK: %[[COUNT:.*]] = memref.dim %[[K]]
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: %[[FAR:.*]] = arith.minui %{{.*}}, %[[LAST]]
// CHECK: memref.load %[[K]][%[[FAR]]]
// CHECK: %[[NEAR:.*]] = arith.minui %{{.*}}, %[[LAST]]
// CHECK: memref.load %[[K]][%[[NEAR]]]
// CHECK: memref.prefetch %[[POS]]
// CHECK: memref.load %[[POS]]
// CHECK: memref.prefetch %[[CRD]]
// CHECK: memref.prefetch %[[VAL]]
// CHECK: memref.prefetch %[[VAL]]
// CHECK: "entry"
func.func @rows(%a: tensor<?xf64, #SV>, %B: tensor<?x?xf64, #CSR>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  tulle.iterate %k, %ik in %sa : !tulle.space<#SV, 0> {
    %row = tulle.locate %B level(0) at %k : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %sb = tulle.space %B level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    tulle.iterate %j, %ij in %sb : !tulle.space<#CSR, 1> {
      %x = tulle.load %B[%ij : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      "entry"(%j, %x) : (index, f64) -> ()
    }
  }
  return
}

// Of a pattern, values are not read.
// CHECK-LABEL: @pattern(
// CHECK-SAME: %[[CRD:[^:]*]]: memref<?xi32>, %[[VAL:[^:]*]]: memref<?xf64>, %{{[^:]*}}: index, %{{[^:]*}}: index
// CHECK: memref.prefetch %[[CRD]]
// CHECK-NOT: memref.prefetch %[[VAL]]
// CHECK: "entry"
func.func @pattern(%a: tensor<?xf64, #SV>, %B: tensor<?x?xf64, #CSR>) {
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  tulle.iterate %k, %ik in %sa : !tulle.space<#SV, 0> {
    %row = tulle.locate %B level(0) at %k : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %sb = tulle.space %B level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    tulle.iterate %j, %ij in %sb : !tulle.space<#CSR, 1> {
      "entry"(%j) : (index) -> ()
    }
  }
  return
}

// Rows that follow each other are seen by the hardware.
// CHECK-LABEL: @inOrder(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @inOrder(%n: index, %B: tensor<?x?xf64, #CSR>) {
  %c0 = arith.constant 0 : index
  %all = tulle.range %c0 to %n
  tulle.iterate %i in %all : !tulle.range {
    %row = tulle.locate %B level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
    %sb = tulle.space %B level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    tulle.iterate %j, %ij in %sb : !tulle.space<#CSR, 1> {
      "entry"(%j) : (index) -> ()
    }
  }
  return
}

// Where an entry goes is said by the cursor at its coordinate, which moves on: the address of the entry sixteen
// iterations on is prefetched, to write there.
// CHECK-LABEL: @addresses(
// CHECK-SAME: %{{.*}}: memref<?xi32>, %[[J:[^:]*]]: memref<?xi32>, %{{[^:]*}}: memref<?xf64>, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[CURSORS:[^:]*]]: memref<?xi32>, %[[OUT:[^:]*]]: memref<?xf64>
// CHECK: scf.for
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to
// CHECK-DAG: %[[COUNT:.*]] = memref.dim %[[J]]
// CHECK-DAG: %[[LATER:.*]] = arith.addi %[[AT]], %c16
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: %[[THERE:.*]] = arith.minui %[[LATER]], %[[LAST]]
// CHECK: %[[NARROW:.*]] = memref.load %[[J]][%[[THERE]]]
// CHECK: %[[AHEAD:.*]] = arith.index_castui %[[NARROW]]
// CHECK: %[[CURSOR:.*]] = memref.load %[[CURSORS]][%[[AHEAD]]]
// CHECK: %[[PLACE:.*]] = arith.index_castui %[[CURSOR]]
// CHECK: memref.prefetch %[[OUT]][%[[PLACE]]], write
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @addresses(%A: tensor<?x?xf64, #CSR>, %cursors: memref<?xi32>, %out: memref<?xf64>) {
  %one = arith.constant 1 : i32
  %rows = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
  tulle.iterate %i, %row in %rows : !tulle.space<#CSR, 0> {
    %sa = tulle.space %A level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    tulle.iterate %j, %ij in %sa : !tulle.space<#CSR, 1> {
      %value = tulle.load %A[%ij : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %cursor = memref.load %cursors[%j] : memref<?xi32>
      %next = arith.addi %cursor, %one : i32
      memref.store %next, %cursors[%j] : memref<?xi32>
      %address = arith.index_castui %cursor : i32 to index
      memref.store %value, %out[%address] : memref<?xf64>
    }
  }
  return
}

// What is put together with a coordinate of a loop around may leave the dimension, since later iterations may belong to another
// one of its iterations: the cursor is read inside of its buffer.
// CHECK-LABEL: @blocks(
// CHECK-SAME: %{{.*}}: memref<?xi32>, %[[J:[^:]*]]: memref<?xi32>, %{{[^:]*}}: memref<?xf64>, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[CURSORS:[^:]*]]: memref<?xi32>, %[[OUT:[^:]*]]: memref<?xf64>
// CHECK: %[[SIZE:.*]] = memref.dim %[[CURSORS]]
// CHECK: %[[END:.*]] = arith.subi %[[SIZE]], %c1
// CHECK: %[[INSIDE:.*]] = arith.minui %{{.*}}, %[[END]]
// CHECK: %[[CURSOR:.*]] = memref.load %[[CURSORS]][%[[INSIDE]]]
// CHECK: %[[PLACE:.*]] = arith.index_castui %[[CURSOR]]
// CHECK: memref.prefetch %[[OUT]][%[[PLACE]]], write
// CHECK: return
func.func @blocks(%A: tensor<?x?xf64, #CSR>, %cursors: memref<?xi32>, %out: memref<?xf64>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : index
  %rows = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
  tulle.iterate %i, %row in %rows : !tulle.space<#CSR, 0> {
    %sa = tulle.space %A level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    tulle.iterate %j, %ij in %sa : !tulle.space<#CSR, 1> {
      %value = tulle.load %A[%ij : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %high = arith.muli %j, %two : index
      %at = arith.addi %high, %i : index
      %cursor = memref.load %cursors[%at] : memref<?xi32>
      %next = arith.addi %cursor, %one : i32
      memref.store %next, %cursors[%at] : memref<?xi32>
      %address = arith.index_castui %cursor : i32 to index
      memref.store %value, %out[%address] : memref<?xf64>
    }
  }
  return
}

// A table that stays as it is gives addresses on few streams.
// CHECK-LABEL: @streams(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @streams(%A: tensor<?x?xf64, #CSR>, %starts: memref<?xindex>, %out: memref<?xf64>) {
  %rows = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
  tulle.iterate %i, %row in %rows : !tulle.space<#CSR, 0> {
    %sa = tulle.space %A level(1) under %row : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
    tulle.iterate %j, %ij in %sa : !tulle.space<#CSR, 1> {
      %value = tulle.load %A[%ij : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
      %start = memref.load %starts[%j] : memref<?xindex>
      %address = arith.addi %start, %i : index
      memref.store %value, %out[%address] : memref<?xf64>
    }
  }
  return
}

// A loop over the one coordinate that goes with an entry's is part of its iteration.
// CHECK-LABEL: @iterations(
// CHECK-SAME: %{{[^:]*}}: memref<?xi32>, %[[I:[^:]*]]: memref<?xi32>, %{{[^:]*}}: memref<?xi32>, %{{[^:]*}}: memref<?xf64>, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[CURSORS:[^:]*]]: memref<?xindex>, %[[OUT:[^:]*]]: memref<?xindex>
// CHECK: memref.load %[[I]][%{{.*}}]
// CHECK: %[[LATER:.*]] = memref.load %[[I]][%{{.*}}]
// CHECK: %[[AHEAD:.*]] = arith.index_castui %[[LATER]]
// CHECK: %[[PLACE:.*]] = memref.load %[[CURSORS]][%[[AHEAD]]]
// CHECK: memref.prefetch %[[OUT]][%[[PLACE]]], write
// CHECK: return
func.func @iterations(%A: tensor<?x?xf64, #COO>, %cursors: memref<?xindex>, %out: memref<?xindex>) {
  %one = arith.constant 1 : index
  %all = tulle.space %A level(0) : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 0>
  tulle.iterate %i, %entry in %all : !tulle.space<#COO, 0> loop = <reduction> attributes {each} {
    %own = tulle.space %A level(1) under %entry : !tulle.iterator<#COO, 0> : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 1>
    tulle.iterate %j, %ij in %own : !tulle.space<#COO, 1> loop = <reduction> attributes {each} {
      %address = memref.load %cursors[%i] : memref<?xindex>
      %next = arith.addi %address, %one : index
      memref.store %next, %cursors[%i] : memref<?xindex>
      memref.store %j, %out[%address] : memref<?xindex>
    }
  }
  return
}

// A banded level stores where its bands begin, no coordinate for each position: what a later band's position would give with this
// band's beginning may lie outside of the tensor, so that no cursor may be read there.
// CHECK-LABEL: @inBands(
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @inBands(%A: tensor<?x?xf64, #Skyline>, %cursors: memref<?xi32>, %out: memref<?xf64>) {
  %one = arith.constant 1 : i32
  %rows = tulle.space %A level(0) : tensor<?x?xf64, #Skyline> -> !tulle.space<#Skyline, 0>
  tulle.iterate %i, %row in %rows : !tulle.space<#Skyline, 0> {
    %sa = tulle.space %A level(1) under %row : !tulle.iterator<#Skyline, 0> : tensor<?x?xf64, #Skyline> -> !tulle.space<#Skyline, 1>
    tulle.iterate %j, %ij in %sa : !tulle.space<#Skyline, 1> {
      %value = tulle.load %A[%ij : !tulle.iterator<#Skyline, 1>] : tensor<?x?xf64, #Skyline> -> f64
      %cursor = memref.load %cursors[%j] : memref<?xi32>
      %next = arith.addi %cursor, %one : i32
      memref.store %next, %cursors[%j] : memref<?xi32>
      %address = arith.index_castui %cursor : i32 to index
      memref.store %value, %out[%address] : memref<?xf64>
    }
  }
  return
}

// Rows on the diagonal of what the loop itself iterates: their address is not known ahead. The body is emitted twice, before the last
// coordinate of a and behind it; the loop that the first one became means nothing to the second.
#Blocks = #tulle.encoding<{ map = (i, j, k) -> (i : compressed, j : dense, k : compressed), posWidth = 32, crdWidth = 32 }>
// CHECK-LABEL: @emittedTwice(
// CHECK-NOT: memref.prefetch
// CHECK: "entry"
// CHECK-NOT: memref.prefetch
// CHECK: "entry"
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @emittedTwice(%a: tensor<?xf64, #SV>, %B: tensor<?x?x?xf64, #Blocks>, %n: index) {
  %c0 = arith.constant 0 : index
  %all = tulle.range %c0 to %n
  %sa = tulle.space %a level(0) : tensor<?xf64, #SV> -> !tulle.space<#SV, 0>
  tulle.coiterate %k in "1" (%sa : !tulle.space<#SV, 0>) range %all
  case "none" {
    %sb = tulle.space %B level(0) : tensor<?x?x?xf64, #Blocks> -> !tulle.space<#Blocks, 0>
    tulle.iterate %i, %at in %sb : !tulle.space<#Blocks, 0> {
      %diagonal = tulle.locate %B level(1) under %at : !tulle.iterator<#Blocks, 0> at %i : tensor<?x?x?xf64, #Blocks> -> !tulle.iterator<#Blocks, 1>
      %row = tulle.space %B level(2) under %diagonal : !tulle.iterator<#Blocks, 1> : tensor<?x?x?xf64, #Blocks> -> !tulle.space<#Blocks, 2>
      tulle.iterate %j, %entry in %row : !tulle.space<#Blocks, 2> {
        "entry"(%j) : (index) -> ()
      }
    }
  }
  case "a" (%ia) {
  }
  return
}
