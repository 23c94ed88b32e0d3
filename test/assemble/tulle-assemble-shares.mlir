// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-assemble{parallel=true shares=true},func.func(canonicalize))' | FileCheck %s
// RUN: tulle-opt %s --tulle-assemble --canonicalize | FileCheck %s --check-prefix=ALONE

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// ALONE-NOT: tulle.parallel

// Each part of the rows is appended to room of its own; then the parts' counts say where each belongs, and they move.
// CHECK-LABEL: @rows(
// CHECK: %[[PARTS:.*]] = tulle.threads
// CHECK: %[[STARTS:.*]] = memref.alloc(%[[PARTS]]) : memref<?xindex>
// CHECK: %[[SEVERAL:.*]] = arith.cmpi ugt, %[[PARTS]]
// CHECK: scf.if
// CHECK:   memref.alloc() : memref<5xi32>
// CHECK:   %[[CRD:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK:   %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK:   tulle.parallel %[[PART:.*]] of %[[PARTS]]
// CHECK:     memref.load %[[STARTS]][%[[PART]]]
// CHECK:     %[[PIECE:.*]] = tulle.part %{{.*}}, %[[PART]] of %[[PARTS]]
// CHECK:     tulle.iterate %{{.*}}, %{{.*}} in %[[PIECE]]
// CHECK:       tulle.iterate
// CHECK:         memref.store %{{.*}}, %[[CRD]]
// CHECK:         memref.store %{{.*}}, %[[VALUES]]
// CHECK:   %[[COUNT:.*]] = scf.for {{.*}} to %[[PARTS]]
// CHECK:   %[[CRD2:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK:   %[[VALUES2:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK:   tulle.parallel %{{.*}} of %[[PARTS]]
// CHECK:     memref.load %[[CRD]]
// CHECK:     memref.store %{{.*}}, %[[CRD2]]
// CHECK:     memref.load %[[VALUES]]
// CHECK:     memref.store %{{.*}}, %[[VALUES2]]
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
