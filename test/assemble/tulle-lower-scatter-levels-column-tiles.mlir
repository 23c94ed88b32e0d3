// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-scatter-levels --canonicalize | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-choose-assembly,tulle-expand-assembly{parallel=true},tulle-lower-scatter-levels,func.func(canonicalize))' | FileCheck %s --check-prefix=PARTS

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 32 }>
#DIA = #tulle.encoding<{ map = (i, j) -> (j - i : squeezed, i : dense, j : offset), posWidth = 32, crdWidth = 32 }>

// Rows ascend, and what a row has is stored 40 values apart, a diagonal each. A strip of 40 rows or 128 is put together in a
// room, which starts out empty; where a row of the next strip begins, each diagonal's piece goes to its place, but for the end
// that fills no line, which waits before the next piece, and the room is empty again. The result is not emptied first.
// CHECK-LABEL: @diagonals(
// CHECK-DAG: %[[LENGTH:.*]] = arith.constant 128 : index
// CHECK: tulle.iterate
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[ROOM:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: scf.for
// CHECK:   memref.store %{{.*}}, %[[ROOM]]
// CHECK: tulle.iterate %[[ROW:.*]], %{{.*}} in
// CHECK:   %[[LIMIT:.*]] = memref.load
// CHECK:   %[[NEXT:.*]] = arith.cmpi uge, %[[ROW]], %[[LIMIT]]
// CHECK:   %[[RARE:.*]] = llvm.intr.expect %[[NEXT]], %false
// CHECK:   scf.if %[[RARE]]
// CHECK:     llvm.inline_asm "", "=r,0"
// CHECK:     scf.for
// CHECK:       vector.load %[[ROOM]]
// CHECK:       vector.store %{{.*}}, %[[VALUES]]{{.*}}nontemporal = true
// CHECK:       scf.if
// CHECK:         %[[LINE:.*]] = vector.load %[[ROOM]]{{.*}}vector<8xf64>
// CHECK:         vector.store %[[LINE]], %[[ROOM]]
// CHECK:       scf.for
// CHECK:         memref.store %{{.*}}, %[[ROOM]]
// CHECK:     arith.divui %{{.*}}, %[[LENGTH]]
// CHECK:   tulle.iterate
// CHECK:     memref.store %{{.*}}, %[[ROOM]]
// CHECK: vector.store %{{.*}}, %[[VALUES]]{{.*}}nontemporal = true
// CHECK: memref.dealloc %[[ROOM]]

// Each part has a room of its own, and says which rows it has stored; rows between parts are emptied behind.
// PARTS-LABEL: @diagonals(
// PARTS: %[[PARTS:.*]] = tulle.threads
// PARTS: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// PARTS: %[[FIRST_COUNT:.*]] = arith.minui %[[PARTS]], %{{.*}}
// PARTS: %[[FIRSTS:.*]] = memref.alloc(%[[FIRST_COUNT]]) : memref<?xi64>
// PARTS: %[[END_COUNT:.*]] = arith.minui %[[PARTS]], %{{.*}}
// PARTS: %[[ENDS:.*]] = memref.alloc(%[[END_COUNT]]) : memref<?xi64>
// PARTS: tulle.parallel %[[PART:.*]] of %[[PARTS]]
// PARTS:   memref.alloc(%{{.*}}) : memref<?xf64>
// PARTS:   tulle.iterate
// PARTS:   memref.store %{{.*}}, %[[FIRSTS]][%[[PART]]]
// PARTS:   memref.store %{{.*}}, %[[ENDS]][%[[PART]]]
// PARTS: scf.for %{{.*}} = %{{.*}} to %[[PARTS]]
// PARTS:   memref.load %[[FIRSTS]]
// PARTS:   memref.store %{{.*}}, %[[VALUES]]
// PARTS:   memref.load %[[ENDS]]
func.func @diagonals(%A: tensor<40x50xf64, #CSR>) -> tensor<40x50xf64, #DIA> {
  %m = arith.constant 40 : index
  %n = arith.constant 50 : index
  %count = tulle.stored_count %A : tensor<40x50xf64, #CSR>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    %si = tulle.space %A level(0) : tensor<40x50xf64, #CSR> -> !tulle.space<#CSR, 0>
    tulle.iterate %i, %ri in %si : !tulle.space<#CSR, 0> loop = <reduction> {
      %sj = tulle.space %A level(1) under %ri : !tulle.iterator<#CSR, 0> : tensor<40x50xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %rj in %sj : !tulle.space<#CSR, 1> loop = <reduction> {
        %v = tulle.load %A[%rj : !tulle.iterator<#CSR, 1>] : tensor<40x50xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<40x50xf64, #DIA>
  return %C : tensor<40x50xf64, #DIA>
}

// Columns ascend: of a strip of them, diagonal d has rows from d below its first column on, as far as there are such rows.
// What no column has a row of is emptied behind. Where there are many more columns than rows, entries go to their places.
// CHECK-LABEL: @columns(
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: %[[ROOM:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: tulle.iterate %[[COLUMN:.*]], %{{.*}} in
// CHECK:   %[[LIMIT:.*]] = memref.load
// CHECK:   arith.cmpi uge, %[[COLUMN]], %[[LIMIT]]
// CHECK:   scf.for
// CHECK:     %[[STORED:.*]] = memref.load %{{.*}} : memref<?xi32>
// CHECK:     %[[APART:.*]] = arith.index_cast %[[STORED]] : i32 to index
// CHECK:     %[[SHIFT:.*]] = arith.subi %c0, %[[APART]] : index
// CHECK:     %[[START:.*]] = arith.addi %{{.*}}, %[[SHIFT]] : index
// CHECK:     arith.maxsi %[[START]], %c0
// CHECK:     vector.load %[[ROOM]]
// CHECK:   tulle.iterate
// CHECK:     memref.store %{{.*}}, %[[ROOM]]
// CHECK: memref.dealloc %[[ROOM]]
// CHECK: scf.for
// CHECK:   %[[END:.*]] = arith.subi %c50, %{{.*}} : index
// CHECK:   arith.maxsi %[[END]], %c0
// CHECK:   memref.store %cst, %[[VALUES]]
// CHECK:   memref.store %cst, %[[VALUES]]
func.func @columns(%A: tensor<40x50xf64, #CSC>) -> tensor<40x50xf64, #DIA> {
  %m = arith.constant 40 : index
  %n = arith.constant 50 : index
  %count = tulle.stored_count %A : tensor<40x50xf64, #CSC>
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (j, i)>, unique} {
    %sj = tulle.space %A level(0) : tensor<40x50xf64, #CSC> -> !tulle.space<#CSC, 0>
    tulle.iterate %j, %rj in %sj : !tulle.space<#CSC, 0> loop = <reduction> {
      %si = tulle.space %A level(1) under %rj : !tulle.iterator<#CSC, 0> : tensor<40x50xf64, #CSC> -> !tulle.space<#CSC, 1>
      tulle.iterate %i, %ri in %si : !tulle.space<#CSC, 1> loop = <reduction> {
        %v = tulle.load %A[%ri : !tulle.iterator<#CSC, 1>] : tensor<40x50xf64, #CSC> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<40x50xf64, #DIA>
  return %C : tensor<40x50xf64, #DIA>
}
