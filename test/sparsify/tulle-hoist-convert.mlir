// The caller converts: an argument that is read through a conversion has the target's type, and says in `tulle.source` what the caller has.
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-hoist-convert))' --split-input-file --verify-diagnostics | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// Name and known entries are those of the tensor, whatever stores it; sizes are the same in both formats.
// CHECK-LABEL: func.func @replaced(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf64, #CSR> {tulle.entries = 7 : i64, tulle.name = "A", tulle.source = #CSC}) -> (tensor<?x?xf64, #CSR>, index)
// CHECK-NOT: tulle.convert
// CHECK: %[[ROWS:.*]] = tensor.dim %[[A]]
// CHECK: return %[[A]], %[[ROWS]]
func.func @replaced(%A: tensor<?x?xf64, #CSC> {tulle.name = "A", tulle.entries = 7 : i64}) -> (tensor<?x?xf64, #CSR>, index) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %A, %c0 : tensor<?x?xf64, #CSC>
  %B = tulle.convert %A : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
  return %B, %rows : tensor<?x?xf64, #CSR>, index
}

// An argument that is read as it is, too, stays; two equal conversions are one argument.
// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf64, #CSC> {tulle.name = "A"}, %[[B:[^:]*]]: tensor<?x?xf64, #CSR> {tulle.name = "A", tulle.source = #CSC})
// CHECK: return %[[A]], %[[B]], %[[B]]
func.func @both(%A: tensor<?x?xf64, #CSC> {tulle.name = "A"}) -> (tensor<?x?xf64, #CSC>, tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) {
  %B = tulle.convert %A : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
  %C = tulle.convert %A : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
  return %A, %B, %C : tensor<?x?xf64, #CSC>, tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// What no caller has is not the caller's to convert.
func.func @not_an_argument(%A: tensor<?x?xf64, #CSC>) -> tensor<?x?xf64, #CSR> {
  cf.br ^next(%A : tensor<?x?xf64, #CSC>)
^next(%B: tensor<?x?xf64, #CSC>):
  // expected-error @below {{only an argument of the function can be converted}}
  %C = tulle.convert %B : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}
