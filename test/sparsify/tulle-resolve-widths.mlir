// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(tulle-resolve-widths)' | FileCheck %s
// RUN: tulle-opt %s --split-input-file --pass-pipeline='builtin.module(tulle-resolve-widths,tulle-lower)' | FileCheck --check-prefix=BUFFERS %s

// RUN: tulle-opt %S/inputs/without-widths.mlir --pass-pipeline='builtin.module(tulle-import-sparse-tensor,tulle-resolve-widths)' | FileCheck --check-prefix=IMPORTED %s
// IMPORTED: #CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// The widths of the engine, whose IR names them: `tulle explain` of these sizes.
// RUN: tulle explain 'y(i) = A(i,j) * x(j)' -f 'A=(i, j) -> (i : dense, j : compressed)' -d A=4x6 --stage loops | FileCheck --check-prefix=SMALL %s
// RUN: tulle explain 'y(i) = A(i,j) * x(j)' -f 'A=(i, j) -> (i : dense, j : compressed)' -d A=4x3000000000 --stage loops | FileCheck --check-prefix=LARGE %s
// SMALL: %A_pos1: memref<?xi32>, %A_crd1: memref<?xi32>
// LARGE: %A_crd1: memref<?xi64>

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK: #CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
// CHECK: func.func @small(%{{.*}}: tensor<4x6xf64, #CSR>)
// BUFFERS: func.func @small(%{{.*}}: memref<?xi32>, %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xf64>, %{{.*}}: index, %{{.*}}: index)
func.func @small(%a: tensor<4x6xf64, #CSR>) {
  %s = tulle.space %a level(0) : tensor<4x6xf64, #CSR> -> !tulle.space<#CSR, 0>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK: #CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64 }>
// BUFFERS: func.func @large(%{{.*}}: memref<?xi64>, %{{.*}}: memref<?xi64>
func.func @large(%a: tensor<4x3000000000xf64, #CSR>) {
  return
}

// -----

// Tensors of one encoding have one width: that of the largest, and of sizes that nothing says.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK: #CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64 }>
// BUFFERS: func.func @unknown(%{{.*}}: memref<?xi64>, %{{.*}}: memref<?xi64>
func.func @unknown(%a: tensor<4x6xf64, #CSR>, %b: tensor<?x6xf64, #CSR>) {
  return
}

// -----

// What is named stays, and coordinates of a large number of entries may be small.
#V = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed), crdWidth = 16 }>
// CHECK: #{{.*}} = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed), posWidth = 64, crdWidth = 16 }>
func.func @named(%a: tensor<60000x60000xf64, #V>) {
  return
}
