// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly --tulle-lower-build-levels --tulle-lower-collect --tulle-lower-sort --tulle-lower-append --tulle-lower-sort-segments --tulle-lower-unique --tulle-lower-histogram --tulle-lower-scan --tulle-lower-scatter-entries --tulle-lower-chained-scan --tulle-inline-entries --canonicalize --cse | FileCheck %s

// Slots that may stay empty below two compressed levels: the entries are appended to a COO tensor of the same levels first, and
// the levels are made from it one after the other. (Every fiber has one entry.)

#FIBERS = #tulle.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : singleton(padded)), posWidth = 32, crdWidth = 32 }>

// CHECK: #[[COO:[^ ]*]] = #tulle.encoding<{ map = (i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique, soa), k : singleton(soa)), posWidth = 64, crdWidth = 64 }>
// CHECK-LABEL: @fibers(
// CHECK-SAME: %[[V:[^ ]*]]: f64)
// CHECK: memref.store %[[V]]
// CHECK: %[[ENTRIES:.*]] = tulle.storage{{.*}} -> tensor<4x6x5xf64, #[[COO]]>
// CHECK: %[[N:.*]] = tulle.stored_count %[[ENTRIES]]
// CHECK: %[[LENGTH:.*]] = arith.minui %[[N]], %{{.*}}
// CHECK: %[[PLACES:.*]] = memref.alloc(%[[LENGTH]]) : memref<?xi64>

// The values of i are counted where they change, and stored so.
// CHECK: tulle.space %[[ENTRIES]] level(2)
// CHECK: %[[PARENT:.*]] = memref.load %[[PLACES]]
// CHECK: arith.cmpi ne
// CHECK: %[[CHANGED:.*]] = arith.ori
// CHECK: scf.if %[[CHANGED]]
// CHECK: %[[CRD0:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: tulle.space %[[ENTRIES]] level(2)
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[PLACES]]

// Then those of j below each.
// CHECK: tulle.space %[[ENTRIES]] level(2)
// CHECK: memref.load %[[PLACES]]
// CHECK: scf.if
// CHECK: %[[CRD1:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: tulle.space %[[ENTRIES]] level(2)
// CHECK: memref.store %{{.*}}, %[[PLACES]]

// Then those of k: empty slots have all bits set.
// CHECK: %[[CRD2:.*]] = memref.alloc(%{{.*}}) : memref<?xi32>
// CHECK: memref.store %c-1_i32, %[[CRD2]]
// CHECK: tulle.space %[[ENTRIES]] level(2)
// CHECK: memref.store %{{.*}}, %[[PLACES]]

// Then the values.
// CHECK: %[[VALUES:.*]] = memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK: tulle.space %[[ENTRIES]] level(2)
// CHECK: %[[P:.*]] = memref.load %[[PLACES]]
// CHECK: %[[AT:.*]] = arith.index_castui %[[P]]
// CHECK: memref.store %{{.*}}, %[[VALUES]][%[[AT]]]
// CHECK: memref.dealloc %[[PLACES]]
// CHECK: tulle.storage
func.func @fibers(%count: index, %i: index, %j: index, %k: index, %v: f64) -> tensor<4x6x5xf64, #FIBERS> {
  %m = arith.constant 4 : index
  %n = arith.constant 6 : index
  %o = arith.constant 5 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %C = tulle.assemble (%m, %n, %o) bound %count attributes {order = affine_map<(i, j, k) -> (i, j, k)>, unique} {
    scf.for %e = %c0 to %count step %c1 {
      tulle.insert %v at (%i, %j, %k) : f64
    }
  } : tensor<4x6x5xf64, #FIBERS>
  return %C : tensor<4x6x5xf64, #FIBERS>
}
