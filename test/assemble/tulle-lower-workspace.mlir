// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-build-levels --tulle-lower-workspace --tulle-lower-collect --tulle-lower-sort --tulle-lower-append --tulle-lower-sort-segments --tulle-lower-unique --tulle-lower-histogram --tulle-lower-scan --tulle-lower-scatter-entries --tulle-lower-chained-scan --tulle-inline-entries --canonicalize --cse --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// A sparse product, row by row: products are added up in a dense row next to a set of its columns, of bits or of bytes. The loop over i is
// the only one around, so that each pass is a row, and the row is appended at the end of the pass. Memory: as many
// entries as there are products; what was not used is given back.

// CHECK-LABEL: @spgemm(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C63:.*]] = arith.constant 63 : index
// CHECK-DAG: %[[C0W:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[C1W:.*]] = arith.constant 1 : i64
// The inserts are counted without reading a value.
// CHECK-NOT: tulle.load
// CHECK-NOT: tulle_fits
// Sixteen chunks of 2048 are counted: products, columns and rows. Six products a column, and one for 512 columns there are, ask for bytes.
// CHECK: %[[SEEN:.*]] = tulle.filled_buffer %{{.*}}, %[[C0W]] : memref<?xi64>
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK:   tulle.partition %{{.*}}, %{{.*}} of %c2048
// CHECK:   memref.store %{{.*}}, %[[SEEN]]
// CHECK: tulle.return_filled_buffer %[[SEEN]], %[[C0W]]
// CHECK: %[[COLUMNS:.*]] = memref.load
// CHECK: arith.muli %[[COLUMNS]], %[[C6]]
// CHECK: arith.divui %{{.*}}, %c512
// CHECK: %[[MEETING:.*]] = arith.cmpi uge
// CHECK: %[[WORDS:.*]] = tulle.filled_buffer %{{.*}}, %[[C0W]] : memref<?xi64>
// CHECK: %[[SUMMARY:.*]] = tulle.filled_buffer %{{.*}}, %[[C0W]] : memref<?xi64>
// CHECK: %[[ROW:.*]] = tulle.filled_buffer %{{.*}}, %[[ZERO]] : memref<?xf64>
// CHECK: arith.select %[[MEETING]], %{{.*}}, %c0
// CHECK: %[[BYTES:.*]] = tulle.filled_buffer %{{.*}}, %[[C0B:.*]] : memref<?xi8>
// CHECK: %[[GROUPS:.*]] = tulle.filled_buffer %{{.*}}, %[[C0B]] : memref<?xi8>
// CHECK: %[[POS:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: %[[VALUES:.*]] = memref.alloc(%[[BOUND:.*]]) : memref<?xf64>
// CHECK: %[[CRD:.*]] = memref.alloc(%[[BOUND]]) : memref<?xi32>
// Bytes are stored, and not read before the row is complete: its groups of 64 are visited as words.
// CHECK: scf.if %[[MEETING]] {
// CHECK:   tulle.iterate
// CHECK:     tulle.iterate
// CHECK:       tulle.iterate %[[J:[a-z0-9_]+]],
// CHECK:         %[[SUM:.*]] = arith.addf
// CHECK:         memref.store %[[SUM]], %[[ROW]][%[[J]]]
// CHECK-NEXT:    memref.store %[[C1B:.*]], %[[BYTES]][%[[J]]]
// CHECK-NEXT:    %[[GROUP:.*]] = arith.shrui %[[J]], %[[C6]]
// CHECK-NEXT:    memref.store %[[C1B]], %[[GROUPS]][%[[GROUP]]]
// CHECK-NEXT:  }
// CHECK-NEXT: }
// CHECK:      scf.for
// CHECK:        vector.load %[[GROUPS]]
// CHECK-NEXT:   vector.store %{{.*}}, %[[GROUPS]]
// CHECK:        vector.bitcast %{{.*}} : vector<64xi1> to vector<1xi64>
// CHECK:        llvm.intr.cttz
// CHECK:          vector.load %[[BYTES]]
// CHECK-NEXT:     vector.store %{{.*}}, %[[BYTES]]
// CHECK:          llvm.intr.cttz
// CHECK:            memref.load %[[ROW]]
// CHECK:            memref.store %[[ZERO]], %[[ROW]]
// Else the same with bits.
// CHECK: } else {
// CHECK: tulle.iterate %[[I:[a-z0-9_]+]],
// CHECK:   tulle.iterate %[[K:[a-z0-9_]+]],
// CHECK:     tulle.iterate %[[J:[a-z0-9_]+]],
// CHECK:       %[[P:.*]] = arith.mulf
// CHECK:       %[[OLD:.*]] = memref.load %[[ROW]][%[[J]]]
// CHECK:       %[[SUM:.*]] = arith.addf %[[OLD]], %[[P]]
// CHECK:       memref.store %[[SUM]], %[[ROW]][%[[J]]]
// CHECK:       %[[WORD:.*]] = arith.shrui %[[J]], %[[C6]]
// CHECK:       %[[BIT:.*]] = arith.shli %[[C1W]]
// CHECK:       %[[OLDBITS:.*]] = memref.load %[[WORDS]][%[[WORD]]]
// CHECK:       %[[BITS:.*]] = arith.ori %[[OLDBITS]], %[[BIT]]
// CHECK:       memref.store %[[BITS]], %[[WORDS]][%[[WORD]]]
// CHECK:       memref.store %{{.*}}, %[[SUMMARY]]
// Out of the loop over j and out of the loop over k:
// CHECK:     }
// CHECK-NEXT: }
// CHECK-NOT:  arith.cmpi
// CHECK:      scf.for %[[S:.*]] =
// CHECK:        memref.load %[[SUMMARY]][%[[S]]]
// CHECK:        memref.store %[[C0W]], %[[SUMMARY]][%[[S]]]
// CHECK:        scf.while
// CHECK:          llvm.intr.cttz
// CHECK:          memref.store %[[C0W]], %[[WORDS]]
// CHECK:          scf.while
// CHECK:            %[[COLUMN:.*]] = arith.addi
// CHECK:            memref.load %[[ROW]][%[[COLUMN]]]
// CHECK:            memref.store %[[ZERO]], %[[ROW]][%[[COLUMN]]]
// CHECK:            memref.store %{{.*}}, %[[CRD]]
// CHECK:            memref.store %{{.*}}, %[[VALUES]]
// CHECK: tulle.return_filled_buffer %[[ROW]], %[[ZERO]]
// CHECK: tulle.return_filled_buffer %[[WORDS]], %[[C0W]]
// CHECK: tulle.return_filled_buffer %[[SUMMARY]], %[[C0W]]
// CHECK: tulle.return_filled_buffer %[[BYTES]], %[[C0B]]
// CHECK: tulle.return_filled_buffer %[[GROUPS]], %[[C0B]]
// CHECK: tulle.storage
func.func @spgemm(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %B, %c1 : tensor<?x?xf64, #CSR>
  %C = tulle.assemble (%m, %n) attributes {order = affine_map<(i, j) -> (i)>, plan = #tulle<plan bound>} {
    %s0 = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ia in %s0 : !tulle.space<#CSR, 0> loop = <reduction> {
      %s1 = tulle.space %A level(1) under %ia : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %k, %ik in %s1 : !tulle.space<#CSR, 1> loop = <reduction> {
        %a = tulle.load %A[%ik : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        %bk = tulle.locate %B level(0) at %k : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
        %t1 = tulle.space %B level(1) under %bk : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
        tulle.iterate %j, %jb in %t1 : !tulle.space<#CSR, 1> loop = <parallel> {
          %b = tulle.load %B[%jb : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
          %p = arith.mulf %a, %b : f64
          tulle.insert %p at (%i, %j) : f64
        }
      }
    }
  } : tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#BCSR = #tulle.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense), posWidth = 32, crdWidth = 32 }>

// Rows of blocks: two rows of the source make a group, so that a row looks whether it starts another one, once, before
// its entries; the last group is appended behind the loops. The entries are unique: nothing is combined, and the
// workspace holds the fill (7) where none has been.

// CHECK-LABEL: @bcsr(
// CHECK-NOT: memref<?xi8>
// CHECK-SAME: %[[A:[a-zA-Z0-9]+]]: tensor
// CHECK-SAME: %[[STORED:[a-zA-Z0-9]+]]: index
// CHECK: tulle_fits
// CHECK: tulle.iterate %[[I:[a-z0-9_]+]],
// CHECK:   %[[GROUP:.*]] = arith.divui %[[I]], %c2
// CHECK:   %[[CHANGED:.*]] = arith.cmpi ne, %[[GROUP]]
// CHECK:   scf.if %[[CHANGED]] {
// CHECK:     llvm.intr.cttz
// CHECK:   tulle.iterate %[[J:[a-z0-9_]+]],
// CHECK-NOT: scf.if
// CHECK-NOT: arith.addf
// CHECK:     memref.store
// CHECK: llvm.intr.cttz
// CHECK: tulle.storage
func.func @bcsr(%A: tensor<?x?xf64, #CSR>, %stored: index) -> tensor<?x?xf64, #BCSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %A, %c1 : tensor<?x?xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %stored attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %s0 = tulle.space %A level(0) : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ia in %s0 : !tulle.space<#CSR, 0> loop = <reduction> {
      %s1 = tulle.space %A level(1) under %ia : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %ij in %s1 : !tulle.space<#CSR, 1> loop = <reduction> {
        %a = tulle.load %A[%ij : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %a at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #BCSR>
  return %C : tensor<?x?xf64, #BCSR>
}
