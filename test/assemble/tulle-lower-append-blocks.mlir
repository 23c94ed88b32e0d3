// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-append-blocks --canonicalize | FileCheck %s

#CSF = #tulle.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed), posWidth = 32, crdWidth = 32 }>
#rows = #tulle.encoding<{ map = (i, j, r) -> (i : compressed, j : compressed, r : dense), posWidth = 32, crdWidth = 32 }>

// A sum over the innermost level of a tensor, for each r: the fibers are the result's blocks. There are no more of them than
// the tensor has entries; each with an entry is appended and set to zero before its entries are added up, and none is looked
// for by its coordinates.
// CHECK-LABEL: func.func @fibers
// CHECK-SAME: %[[A:.*]]: tensor<4x6x9xf64, #CSF>, %[[N:.*]]: index
// CHECK: %[[COUNT:.*]] = tulle.stored_count %[[A]]
// CHECK: call @tulle_fits
// CHECK: %[[VALUES:.*]] = memref.alloc({{.*}}) : memref<?xf64>
// CHECK: %[[JCRD:.*]] = memref.alloc({{.*}}) : memref<?xi32>
// CHECK: tulle.iterate %[[I:[a-z0-9_]*]], %{{.*}} in
// CHECK:   tulle.iterate %[[J:[a-z0-9_]*]], %{{.*}} in {{.*}} loop = <reduction>
// CHECK:     %[[K:.*]] = tulle.space %[[A]] level(2)
// CHECK:     %[[SIZE:.*]] = tulle.space_size %[[K]]
// CHECK:     %[[SOME:.*]] = arith.cmpi ne, %[[SIZE]], %c0
// CHECK:     %[[WIDE:.*]] = arith.cmpi sgt, %[[N]], %c0
// CHECK:     %[[ANY:.*]] = arith.andi %[[SOME]], %[[WIDE]]
// CHECK:     scf.if %[[ANY]]
// CHECK-NOT:   arith.cmpi ne, %[[J]]
// CHECK:       %[[P:.*]] = memref.load %{{.*}}[] : memref<index>
// CHECK:       memref.store %{{.*}}, %{{.*}}[%[[P]]]
// CHECK:       %[[BEGIN:.*]] = arith.muli %[[P]], %[[N]]
// CHECK:       scf.for %[[R:.*]] = %c0 to %[[N]]
// CHECK:         %[[AT:.*]] = arith.addi %[[BEGIN]], %[[R]]
// CHECK:         memref.store %{{.*}}, %{{.*}}[%[[AT]]] : memref<?xf64>
// CHECK:       tulle.iterate {{.*}} in %[[K]] {{.*}} loop = <reduction>
// CHECK:         tulle.iterate %[[R2:[a-z0-9_]*]] in {{.*}} loop = <parallel>
// CHECK:           %[[AT2:.*]] = arith.addi %[[BEGIN]], %[[R2]]
// CHECK:           %[[OLD:.*]] = memref.load %{{.*}}[%[[AT2]]]
// CHECK:           arith.addf %[[OLD]]
func.func @fibers(%A: tensor<4x6x9xf64, #CSF>, %n: index) -> tensor<4x6x?xf64, #rows> {
  %m = arith.constant 4 : index
  %l = arith.constant 6 : index
  %c0 = arith.constant 0 : index
  %C = tulle.assemble (%m, %l, %n) attributes {order = affine_map<(i, j, r) -> (i, j)>} {
    %s0 = tulle.space %A level(0) : tensor<4x6x9xf64, #CSF> -> !tulle.space<#CSF, 0>
    tulle.iterate %i, %at0 in %s0 : !tulle.space<#CSF, 0> loop = <parallel> {
      %s1 = tulle.space %A level(1) under %at0 : !tulle.iterator<#CSF, 0> : tensor<4x6x9xf64, #CSF> -> !tulle.space<#CSF, 1>
      tulle.iterate %j, %at1 in %s1 : !tulle.space<#CSF, 1> loop = <parallel> {
        %s2 = tulle.space %A level(2) under %at1 : !tulle.iterator<#CSF, 1> : tensor<4x6x9xf64, #CSF> -> !tulle.space<#CSF, 2>
        tulle.iterate %k, %at2 in %s2 : !tulle.space<#CSF, 2> loop = <reduction> {
          %a = tulle.load %A[%at2 : !tulle.iterator<#CSF, 2>] : tensor<4x6x9xf64, #CSF> -> f64
          %range = tulle.range %c0 to %n
          tulle.iterate %r in %range : !tulle.range loop = <parallel> {
            tulle.insert %a at (%i, %j, %r) : f64
          }
        }
      }
    }
  } : tensor<4x6x?xf64, #rows>
  return %C : tensor<4x6x?xf64, #rows>
}
