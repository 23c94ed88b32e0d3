// A sorted list goes to the ends of the levels.
// RUN: tulle-opt %s --tulle-lower-append | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// CHECK-LABEL: @append
// CHECK: memref.alloc
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to %arg1
// CHECK: memref.load %arg0
// CHECK: memref.store
// CHECK: tulle.storage
func.func @append(%list: memref<?xi64>, %count: index, %m: index, %n: index) -> tensor<?x?xf64, #CSR> {
  %b:3 = tulle.append %list count %count sizes(%m, %n) for tensor<?x?xf64, #CSR> unique {plan = #tulle<plan bound>} : memref<?xi64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  %t = tulle.storage(%b#0, %b#1, %b#2) sizes(%m, %n) : memref<?xi64>, memref<?xi64>, memref<?xf64> -> tensor<?x?xf64, #CSR>
  return %t : tensor<?x?xf64, #CSR>
}
