// RUN: tulle-opt %s -split-input-file --tulle-link-statements | FileCheck %s

// The second statement reads what the first computed as a value; the intermediate is not returned, and sizes that
// one index runs over are read from one argument.
// CHECK-LABEL: func.func @statement0
// CHECK-SAME: (%[[A:[^:]*]]: tensor<?xf64> {{.*}}, %[[T:[^:]*]]: tensor<?xf64> {{.*}}, %[[Y:[^:]*]]: tensor<?xf64> {{.*}}) -> (tensor<?xf64> {tulle.name = "y"}) {
// CHECK: tensor.dim %[[A]]
// CHECK: %[[FIRST:.*]] = tulle.fill %{{.*}}, %[[T]]
// CHECK-NOT: tensor.dim %[[T]]
// CHECK: tensor.dim %[[A]]
// CHECK: %[[AT:.*]] = tulle.locate %[[T]] level(0)
// CHECK: tulle.load %[[FIRST]][%[[AT]]
// CHECK: %[[LAST:.*]] = tulle.store %{{.*}}, %[[Y]][
// CHECK: return %[[LAST]] : tensor<?xf64>
// CHECK-NOT: func.func
func.func @statement0(%a: tensor<?xf64> {tulle.name = "a", tulle.sizes = array<i64: 0>},
                      %t: tensor<?xf64> {tulle.name = "t", tulle.sizes = array<i64: 0>, tulle.statement = 0 : i64})
    -> (tensor<?xf64> {tulle.name = "t", tulle.intermediate}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %w = arith.index_cast %n : index to i64
  %f = arith.uitofp %w : i64 to f64
  %r = tulle.fill %f, %t : f64, tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @statement1(%t: tensor<?xf64> {tulle.name = "t", tulle.sizes = array<i64: 0>},
                      %y: tensor<?xf64> {tulle.name = "y", tulle.sizes = array<i64: 0>, tulle.statement = 1 : i64})
    -> (tensor<?xf64> {tulle.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %t, %c0 : tensor<?xf64>
  %last = arith.subi %n, %n : index
  %at = tulle.locate %t level(0) at %last : tensor<?xf64> -> !tulle.iterator<#tulle.encoding<{ map = (i) -> (i : dense) }>, 0>
  %v = tulle.load %t[%at : !tulle.iterator<#tulle.encoding<{ map = (i) -> (i : dense) }>, 0>] : tensor<?xf64> -> f64
  %r = tulle.store %v, %y[%at : !tulle.iterator<#tulle.encoding<{ map = (i) -> (i : dense) }>, 0>] : f64, tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----

// A tensor that was read is the caller's: the statement that overwrites it is a function of its own, and what it
// reads of the first is returned.
// CHECK-LABEL: func.func @statement0
// CHECK-SAME: -> (tensor<?xf64> {tulle.intermediate, tulle.name = "y"})
// CHECK-LABEL: func.func @statement1
func.func @statement0(%x: tensor<?xf64> {tulle.name = "x"}, %y: tensor<?xf64> {tulle.name = "y", tulle.statement = 0 : i64})
    -> (tensor<?xf64> {tulle.name = "y", tulle.intermediate}) {
  return %y : tensor<?xf64>
}
func.func @statement1(%y: tensor<?xf64> {tulle.name = "y"}, %x: tensor<?xf64> {tulle.name = "x", tulle.statement = 1 : i64})
    -> (tensor<?xf64> {tulle.name = "x"}) {
  return %x : tensor<?xf64>
}

// -----

// Tensors with one pattern are walked by one argument.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK-LABEL: func.func @statement0
// CHECK-SAME: (%[[A:[^:]*]]: tensor<?x?xf64, #CSR> {{.*}}, %[[E:[^:]*]]: tensor<?x?xf64, #CSR>
// CHECK: tulle.stored_count %[[A]]
// CHECK: tulle.stored_count %[[A]]
// CHECK-NOT: func.func
func.func @statement0(%A: tensor<?x?xf64, #CSR> {tulle.name = "A", tulle.pattern = 1 : i64},
                      %e: tensor<?x?xf64, #CSR> {tulle.name = "e", tulle.pattern = 1 : i64, tulle.statement = 0 : i64})
    -> (tensor<?x?xf64, #CSR> {tulle.name = "e"}) {
  %n = tulle.stored_count %A : tensor<?x?xf64, #CSR>
  %w = arith.index_cast %n : index to i64
  %f = arith.uitofp %w : i64 to f64
  %r = tulle.fill %f, %e : f64, tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}
func.func @statement1(%e: tensor<?x?xf64, #CSR> {tulle.name = "e", tulle.pattern = 1 : i64},
                      %y: tensor<f64> {tulle.name = "y", tulle.statement = 1 : i64})
    -> (tensor<f64> {tulle.name = "y"}) {
  %n = tulle.stored_count %e : tensor<?x?xf64, #CSR>
  %w = arith.index_cast %n : index to i64
  %f = arith.uitofp %w : i64 to f64
  %r = tulle.store %f, %y[] : f64, tensor<f64>
  return %r : tensor<f64>
}

// -----

// Functions join within the rounds of one loop, and never across its borders.
#inner = #tulle.repeat<number = 1, most = 2>
// CHECK-LABEL: func.func @statement0
// CHECK-SAME: -> (tensor<f64> {tulle.name = "a"}) {
// CHECK-LABEL: func.func @statement1
// CHECK-SAME: -> (tensor<f64> {tulle.name = "b"}, tensor<f64> {tulle.name = "c"}) attributes {tulle.loops = [#tulle.repeat<number = 0, most = 9, until = "until">]} {
// CHECK-LABEL: func.func @statement3
// CHECK-SAME: attributes {tulle.loops = [#tulle.repeat<number = 0, most = 9, until = "until">, #tulle.repeat<number = 1, most = 2>]} {
// CHECK-LABEL: func.func @statement4
// CHECK-SAME: -> (tensor<f64> {tulle.name = "e"}) {
func.func @statement0(%a: tensor<f64> {tulle.name = "a", tulle.statement = 0 : i64}) -> (tensor<f64> {tulle.name = "a"}) {
  return %a : tensor<f64>
}
func.func @statement1(%b: tensor<f64> {tulle.name = "b", tulle.statement = 1 : i64}) -> (tensor<f64> {tulle.name = "b"})
    attributes {tulle.loops = [#tulle.repeat<number = 0, most = 9, until = "until">]} {
  return %b : tensor<f64>
}
func.func @statement2(%c: tensor<f64> {tulle.name = "c", tulle.statement = 2 : i64}) -> (tensor<f64> {tulle.name = "c"})
    attributes {tulle.loops = [#tulle.repeat<number = 0, most = 9, until = "until">]} {
  return %c : tensor<f64>
}
func.func @statement3(%d: tensor<f64> {tulle.name = "d", tulle.statement = 3 : i64}) -> (tensor<f64> {tulle.name = "d"})
    attributes {tulle.loops = [#tulle.repeat<number = 0, most = 9, until = "until">, #inner]} {
  return %d : tensor<f64>
}
func.func @statement4(%e: tensor<f64> {tulle.name = "e", tulle.statement = 4 : i64}) -> (tensor<f64> {tulle.name = "e"}) {
  return %e : tensor<f64>
}
