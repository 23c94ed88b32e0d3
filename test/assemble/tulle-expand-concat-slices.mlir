// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-expand-concat))' -verify-diagnostics

// A walk over the parts would visit all of what a slice was cut from.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#ROWS = #tulle.encoding<{ map = (i : #tulle<slice(1, 2, 1)>, j) -> (i : dense, j : compressed) }>

func.func @rows(%A: tensor<2x6xf64, #ROWS>, %B: tensor<4x6xf64, #CSR>) -> tensor<6x6xf64, #CSR> {
  // expected-error @+1 {{a part is a slice; convert it to a format without slices}}
  %c = tulle.concat %A, %B along [0] : (tensor<2x6xf64, #ROWS>, tensor<4x6xf64, #CSR>) -> tensor<6x6xf64, #CSR>
  return %c : tensor<6x6xf64, #CSR>
}
