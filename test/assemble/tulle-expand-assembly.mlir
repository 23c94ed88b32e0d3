// A tensor is assembled by the op that its strategy names, of the entries that the loops insert.
// RUN: tulle-opt %s --tulle-choose-assembly --tulle-expand-assembly | FileCheck %s
// RUN: tulle-opt %s --pass-pipeline='builtin.module(tulle-choose-assembly,tulle-expand-assembly{parallel=true})' | FileCheck %s --check-prefix=PARALLEL

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// CHECK-LABEL: @append
// CHECK: %[[ENTRIES:.*]] = tulle.entries bound %arg2 attributes {order = #{{.*}}, unique} {
// CHECK: tulle.insert
// CHECK: %[[B:.*]]:3 = tulle.append %[[ENTRIES]] sizes(%arg0, %arg1) for tensor<?x?xf64, #{{.*}}> {plan = #tulle<plan count>, share}
// CHECK: tulle.storage(%[[B]]#0, %[[B]]#1, %[[B]]#2) sizes(%arg0, %arg1)
// PARALLEL-LABEL: @append
// PARALLEL: tulle.append {{.*}} parallel
func.func @append(%m: index, %n: index, %count: index, %v: f64) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique, plan = #tulle<plan count>, share} {
    tulle.insert %v at (%c0, %c0) : f64
  } : tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: @workspace
// CHECK: tulle.entries distinct %arg2
// CHECK: tulle.workspace {{.*}} {combine = #tulle<combine max>}
func.func @workspace(%m: index, %n: index, %count: index, %v: f64) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %C = tulle.assemble (%m, %n) entries %count attributes {order = affine_map<(i, j) -> (i)>, combine = #tulle<combine max>} {
    tulle.insert %v at (%c0, %c0) : f64
  } : tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: @scatter
// CHECK: tulle.entries
// CHECK: tulle.scatter_levels
func.func @scatter(%m: index, %n: index, %count: index, %v: f64) -> tensor<?x?xf64, #CSC> {
  %c0 = arith.constant 0 : index
  %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    tulle.insert %v at (%c0, %c0) : f64
  } : tensor<?x?xf64, #CSC>
  return %C : tensor<?x?xf64, #CSC>
}
