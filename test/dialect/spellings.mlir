// RUN: tulle-opt %s | FileCheck %s
// RUN: echo 'func.func private @f(tensor<?x?x?xf64, #sparse_tensor.encoding<{ map = (i, j, k) -> (i : dense, j : compressed(nonunique, high), k : singleton) }>>)' | not tulle-opt 2>&1 | FileCheck %s --check-prefix=HIGH
// RUN: echo 'func.func private @f(tensor<?x?xf64, #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : block2_4) }>>)' | not tulle-opt 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: echo 'func.func private @f(tensor<?x?xf64, #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), crdWidth = 2 }>>)' | not tulle-opt 2>&1 | FileCheck %s --check-prefix=WIDTH

// Spellings of older versions of the sparse_tensor dialect (docs/reference/encoding.md): #tulle.encoding takes them, MLIR's own parser does not.
// HIGH: unknown level property: high
// BLOCK: unknown level format: block2_4
// WIDTH: unexpected coordinate bitwidth: 2

// CHECK-DAG: = #tulle.encoding<{ map = (i, j, k) -> (i : dense, j : loose_compressed(nonunique), k : singleton) }>
#BCOO = #tulle.encoding<{ map = (i, j, k) -> (i : dense, j : compressed(nonunique, high), k : singleton) }>
// CHECK-DAG: = #tulle.encoding<{ map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 2 }>
#NV_24 = #tulle.encoding<{
  map = ( i, j ) -> ( i            : dense,
                      j floordiv 4 : dense,
                      j mod 4      : block2_4),
  crdWidth = 2  // 2-bits for each coordinate
}>
// CHECK-DAG: = #tulle.encoding<{ map = (i, j) -> (#i[3] : dense, i : dense, j : compressed) }>
#ELL = #tulle.encoding<{ map = [c](i, j) -> (c * 3 * i : dense, i : dense, j : compressed) }>
// CHECK-DAG: = #tulle.encoding<{ map = (i : #tulle<slice(0, 4, 1)>, j : #tulle<slice(0, 8, ?)>) -> (i : dense, j : compressed) }>
#CSR_SLICE = #tulle.encoding<{
  map = (i : #sparse_tensor<slice(0, 4, 1)>,
          j : #sparse_tensor<slice(0, 8, ?)>) ->
        (i : dense, j : compressed)
}>
func.func private @spellings(tensor<10x10x10xf32, #BCOO>, tensor<?x?xf64, #NV_24>, tensor<?x?xf64, #ELL>, tensor<?x?xf64, #CSR_SLICE>)
