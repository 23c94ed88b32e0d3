// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-append --canonicalize --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// Sorted entries into CSR: one pass; positions are written where a new row begins, and behind the last.
// CHECK-LABEL: @csr(
// CHECK-SAME: %[[COUNT:[^:]*]]: index, %[[I:[^:]*]]: index, %[[J:[^:]*]]: index, %[[V:[^:]*]]: f64)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK: %[[POS:.*]] = memref.alloc() : memref<5xi32>
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: scf.for
// CHECK:   %[[END:.*]] = arith.addi %[[I]], %[[C1]]
// CHECK:   %[[FILLED:.*]] = memref.load %[[FILLED_CELL:.*]][] : memref<index>
// CHECK:   %[[NEW:.*]] = arith.cmpi ne, %[[END]], %[[FILLED]]
// CHECK:   scf.if %[[NEW]]
// CHECK:     scf.for %[[R:.*]] = %{{.*}} to %[[END]] step %[[C1]]
// CHECK:       memref.store %{{.*}}, %[[POS]][%[[R]]]
// CHECK:     memref.store %[[END]], %[[FILLED_CELL]][]
// CHECK:   %[[P:.*]] = memref.load %[[NEXT:.*]][] : memref<index>
// CHECK:   memref.store %{{.*}}, %[[CRD]][%[[P]]]
// CHECK:   memref.store %{{.*}}, %[[NEXT]][]
// CHECK:   memref.store %[[V]], %[[VALUES]]
// CHECK-NOT: arith.addf
// CHECK: scf.for %[[R:.*]] = %{{.*}} to %[[C5]] step %[[C1]]
// CHECK:   memref.store %{{.*}}, %{{.*}}[%[[R]]]
// CHECK: tulle.storage
func.func @csr(%count: index, %i: index, %j: index, %v: f64) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    scf.for %k = %c0 to %count step %c1 {
      tulle.insert %v at (%i, %j) : f64
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// Repeats come one after the other: a new position only where row or column changes, else the values are combined.
// CHECK-LABEL: @repeats(
// CHECK-SAME: %[[COUNT:[^:]*]]: index, %[[I:[^:]*]]: index, %[[J:[^:]*]]: index, %[[V:[^:]*]]: f64)
// CHECK: %[[NEWROW:.*]] = arith.cmpi ne
// CHECK: %[[NEWCOLUMN:.*]] = arith.cmpi ne, %[[J]]
// CHECK: %[[FRESH:.*]] = arith.ori %[[NEWROW]], %[[NEWCOLUMN]]
// CHECK: scf.if %[[FRESH]]
// CHECK:   scf.if %[[NEWROW]]
// CHECK:   memref.store %[[V]]
// CHECK: } else {
// CHECK:   %[[OLD:.*]] = memref.load %{{.*}} : memref<?xf64>
// CHECK:   arith.maximumf %[[OLD]], %[[V]]
func.func @repeats(%count: index, %i: index, %j: index, %v: f64) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, combine = #tulle<combine max>} {
    scf.for %k = %c0 to %count step %c1 {
      tulle.insert %v at (%i, %j) : f64
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// Without a bound a first copy of the loops counts, without reading values.
// CHECK-LABEL: @counted(
// CHECK: scf.for
// CHECK-NOT: memref.alloc(
// CHECK: }
// CHECK: %[[N:.*]] = memref.load
// CHECK: memref.alloc(
// CHECK: memref.alloc(
// CHECK: scf.for
// CHECK: math.sqrt
// CHECK-NOT: reinterpret_cast
func.func @counted(%count: index, %i: index, %j: index, %v: f64) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %C = tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    scf.for %k = %c0 to %count step %c1 {
      %r = math.sqrt %v : f64
      tulle.insert %r at (%i, %j) : f64
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}

// -----

#BCSR = #tulle.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense), crdWidth = 8 }>

// A new block is filled before its first value; 6 values each. Coordinates that 8 bits cannot hold are reported.
// CHECK-LABEL: @blocks(
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[C255:.*]] = arith.constant 255 : index
// CHECK: arith.divui %{{.*}}, %c2
// CHECK: %[[BJ:.*]] = arith.divui %{{.*}}, %c3
// CHECK: %[[WIDE:.*]] = arith.cmpi ugt, %[[BJ]], %[[C255]]
// CHECK: scf.if %[[WIDE]]
// CHECK:   func.call @tulle_error_width
// CHECK: %[[BEGIN:.*]] = arith.muli %{{.*}}, %[[C6]]
// CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %[[C6]]
// CHECK: scf.for %[[AT:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:   memref.store %[[ZERO]], %{{.*}}[%[[AT]]]
func.func @blocks(%m: index, %n: index, %count: index, %i: index, %j: index, %v: f64) -> tensor<?x?xf64, #BCSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i floordiv 2, j floordiv 3)>, unique} {
    scf.for %k = %c0 to %count step %c1 {
      tulle.insert %v at (%i, %j) : f64
    }
  } : tensor<?x?xf64, #BCSR>
  return %C : tensor<?x?xf64, #BCSR>
}

// -----

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>

// Interleaved coordinates: position p has elements 2 p and 2 p + 1.
// CHECK-LABEL: @coo(
// CHECK-SAME: %[[I:[^:]*]]: index, %[[J:[^:]*]]: index, %[[V:[^:]*]]: f64)
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[P:.*]] = memref.load
// CHECK: %[[AT:.*]] = arith.muli %[[P]], %[[C2]]
// CHECK: memref.store %{{.*}}, %[[CRD:.*]][%[[AT]]]
// CHECK: %[[AT2:.*]] = arith.muli %[[P]], %[[C2]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT2]], %c1
// CHECK: memref.store %{{.*}}, %[[CRD]][%[[NEXT]]]
func.func @coo(%i: index, %j: index, %v: f64) -> tensor<4x6xf64, #COO> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %c1 = arith.constant 1 : index
  %C = tulle.assemble (%m, %n) bound %c1 attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    tulle.insert %v at (%i, %j) : f64
  } : tensor<4x6xf64, #COO>
  return %C : tensor<4x6xf64, #COO>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// Each pass of the outer loop is one row: its entries go to the next positions, independently of each other, and the positions field is
// written behind the row, where it has entries. Rows without entries begin where the one before ended.
// CHECK-LABEL: @rows(
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[POS:.*]] = memref.alloc() : memref<5xi32>
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: tulle.iterate %[[I:[a-z0-9_]+]],
// CHECK:   %[[FIRST:.*]], %[[BEHIND:.*]] = tulle.bounds
// CHECK:   %[[HELD:.*]] = memref.load %[[NEXT:.*]][] : memref<index>
// CHECK:   %[[BY:.*]] = arith.subi %[[HELD]], %[[FIRST]]
// CHECK:   scf.for %[[Q:.*]] = %[[FIRST]] to %[[BEHIND]]
// CHECK:     %{{.*}}, %[[J:.*]], %{{.*}} = tulle.at %{{.*}}[%[[Q]]]
// CHECK-NOT: arith.cmpi
// CHECK-NOT: memref<index>
// CHECK:     %[[P:.*]] = arith.addi %[[Q]], %[[BY]]
// CHECK:     memref.store %{{.*}}, %[[CRD]][%[[P]]]
// CHECK:     memref.store %{{.*}}, %[[VALUES]][%[[P]]]
// CHECK:   } {tulle.loop = #tulle.loop<parallel>}
// CHECK:   %[[LENGTH:.*]] = arith.subi %[[BEHIND]], %[[FIRST]]
// CHECK:   %[[BEFORE1:.*]] = memref.load %[[NEXT]][] : memref<index>
// CHECK:   %[[NOW:.*]] = arith.addi %[[BEFORE1]], %[[LENGTH]]
// CHECK:   memref.store %[[NOW]], %[[NEXT]][]
// CHECK:   %[[COUNT:.*]] = memref.load %[[NEXT]][] : memref<index>
// CHECK:   %[[BEFORE:.*]] = memref.load %{{.*}}[] : memref<index>
// CHECK:   %[[ANY:.*]] = arith.cmpi ne, %[[COUNT]], %[[BEFORE]]
// CHECK:   scf.if %[[ANY]]
// CHECK:     %[[END:.*]] = arith.addi %[[I]], %[[C1]]
// CHECK:     scf.for %[[R:.*]] = %{{.*}} to %[[END]] step %[[C1]]
// CHECK:       memref.store %{{.*}}, %[[POS]][%[[R]]]
// CHECK:     memref.store %{{.*}}, %[[POS]][%[[END]]]
func.func @rows(%A: tensor<4x6xf64, #CSR>) -> tensor<4x6xf64, #CSR> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %count = tulle.stored_count %A : tensor<4x6xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<4x6xf64, #CSR> -> f64
        %row = arith.index_cast %i : index to i64
        %x = arith.sitofp %row : i64 to f64
        %w = arith.mulf %v, %x : f64
        tulle.insert %w at (%i, %j) : f64
      }
    }
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}
