// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-assemble{parallel=true},func.func(canonicalize))' | FileCheck %s
// RUN: tulle-opt %s --tulle-assemble --canonicalize | FileCheck %s --check-prefix=ALONE

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// ALONE-NOT: tulle.parallel

// Each thread takes the next piece of the rows, appends it to its room, learns in its turn where the pieces before it end,
// and moves it there. The bound is cut with the rows, and says how large a room is.
// CHECK-LABEL: @rows(
// CHECK: %[[THREADS:.*]] = tulle.threads
// CHECK: %[[SEVERAL:.*]] = arith.cmpi ugt, %[[THREADS]]
// CHECK: %[[PIECES:.*]] = arith.select %[[SEVERAL]]
// CHECK: %[[LARGEST:.*]] = scf.for %[[K:.*]] = %{{.*}} to %[[PIECES]]
// CHECK:   %[[PIECE:.*]] = tulle.part %{{.*}}, %[[K]] of %[[PIECES]]
// CHECK:   tulle.weight %[[PIECE]]
// CHECK: scf.if
// CHECK:   memref.alloc() : memref<5xi32>
// CHECK:   %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK:   %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK:   tulle.parallel %{{.*}} of %[[THREADS]]
// CHECK:     %[[SIZE:.*]] = arith.minui %[[LARGEST]]
// CHECK:     %[[ROOM:.*]] = memref.alloc(%[[SIZE]]) : memref<?xi32>
// CHECK:     memref.atomic_rmw addi
// CHECK:     scf.while
// CHECK:       arith.cmpi ult, %{{.*}}, %[[PIECES]]
// CHECK:     do
// CHECK:       %[[PIECE:.*]] = tulle.part %{{.*}}, %[[NUMBER:.*]] of %[[PIECES]]
// CHECK:       tulle.iterate %{{.*}}, %{{.*}} in %[[PIECE]]
// CHECK:         tulle.iterate
// CHECK:           memref.store %{{.*}}, %[[ROOM]]
// CHECK:       func.call @tulle_turn
// CHECK:       memref.load %[[ROOM]]
// CHECK:       memref.store %{{.*}}, %[[CRD]]
// CHECK:       memref.store %{{.*}}, %[[VALUES]]
// CHECK:       memref.atomic_rmw addi
// CHECK: else
// CHECK-NOT: tulle.parallel
// CHECK: return
func.func @rows(%A: tensor<4x6xf64, #CSR>) -> tensor<4x6xf64, #CSR> {
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
  } : tensor<4x6xf64, #CSR>
  return %C : tensor<4x6xf64, #CSR>
}
