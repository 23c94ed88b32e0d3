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

// A dense tensor that was read is the caller's; a statement that overwrites it continues its memory, first at that statement.
// CHECK-LABEL: func.func @statement0
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?xf64> {tulle.name = "x", tulle.statement = 1 : i64}, %[[Y:[^:]*]]: tensor<?xf64> {tulle.name = "y", tulle.statement = 0 : i64}) -> (tensor<?xf64> {tulle.name = "x"}) {
// CHECK-NEXT: return %[[X]]
// CHECK-NOT: func.func
func.func @statement0(%x: tensor<?xf64> {tulle.name = "x"}, %y: tensor<?xf64> {tulle.name = "y", tulle.statement = 0 : i64})
    -> (tensor<?xf64> {tulle.name = "y", tulle.intermediate}) {
  return %y : tensor<?xf64>
}
func.func @statement1(%y: tensor<?xf64> {tulle.name = "y"}, %x: tensor<?xf64> {tulle.name = "x", tulle.statement = 1 : i64})
    -> (tensor<?xf64> {tulle.name = "x"}) {
  return %x : tensor<?xf64>
}

// -----

// A statement that reads what it replaces has one argument for both values in a joined function.
// CHECK-LABEL: func.func @statement0
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?xf64> {tulle.name = "x", tulle.statement = 0 : i64}, %{{[^:]*}}: tensor<?xf64> {tulle.name = "y", tulle.statement = 1 : i64})
// CHECK: %[[OLD:.*]] = tulle.load %[[X]][
// CHECK: %[[NEW:.*]] = tulle.store %[[OLD]], %[[X]][
// CHECK: return %[[NEW]], %{{.*}} : tensor<?xf64>, tensor<?xf64>
func.func @statement0(%old: tensor<?xf64> {tulle.name = "x"}, %new: tensor<?xf64> {tulle.name = "x", tulle.statement = 0 : i64})
    -> (tensor<?xf64> {tulle.name = "x"}) {
  %c0 = arith.constant 0 : index
  %at = tulle.locate %new level(0) at %c0 : tensor<?xf64> -> !tulle.iterator<#tulle.encoding<{ map = (i) -> (i : dense) }>, 0>
  %v = tulle.load %old[%at : !tulle.iterator<#tulle.encoding<{ map = (i) -> (i : dense) }>, 0>] : tensor<?xf64> -> f64
  %r = tulle.store %v, %new[%at : !tulle.iterator<#tulle.encoding<{ map = (i) -> (i : dense) }>, 0>] : f64, tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @statement1(%y: tensor<?xf64> {tulle.name = "y", tulle.statement = 1 : i64}) -> (tensor<?xf64> {tulle.name = "y"}) {
  return %y : tensor<?xf64>
}

// -----

// New tensors are values of the function; their coordinates, and sizes that an argument has not, are read from them. What
// is written in place into the pattern of one begins another function.
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK-LABEL: func.func @statement0
// CHECK-SAME: (%[[N:[^:]*]]: index {{.*}}) -> (tensor<?x?xf64, #CSR> {tulle.name = "C"}, tensor<?x?xf64, #CSR> {tulle.name = "D"}) {
// CHECK: %[[FIRST:.*]] = arith.constant 0 : i64
// CHECK: call @tulle_making(%[[FIRST]]) : (i64) -> ()
// CHECK: %[[C:.*]] = tulle.assemble(
// CHECK: %[[SECOND:.*]] = arith.constant 1 : i64
// CHECK: call @tulle_making(%[[SECOND]]) : (i64) -> ()
// CHECK: %[[COUNT:.*]] = tulle.stored_count %[[C]]
// CHECK: %[[D:.*]] = tulle.assemble({{.*}}) bound %[[COUNT]]
// CHECK: return %[[C]], %[[D]]
// CHECK-LABEL: func.func @statement2
func.func @statement0(%n: index {tulle.name = "n"}) -> (tensor<?x?xf64, #CSR> {tulle.name = "C"}) {
  %C = tulle.assemble (%n, %n) {
  } : tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}
func.func @statement1(%C: tensor<?x?xf64, #CSR> {tulle.name = "C", tulle.pattern = 3 : i64}) -> (tensor<?x?xf64, #CSR> {tulle.name = "D"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %C, %c0 : tensor<?x?xf64, #CSR>
  %count = tulle.stored_count %C : tensor<?x?xf64, #CSR>
  %D = tulle.assemble (%n, %n) bound %count {
  } : tensor<?x?xf64, #CSR>
  return %D : tensor<?x?xf64, #CSR>
}
func.func @statement2(%C: tensor<?x?xf64, #CSR> {tulle.name = "C", tulle.pattern = 3 : i64},
                      %E: tensor<?x?xf64, #CSR> {tulle.name = "E", tulle.pattern = 3 : i64, tulle.statement = 2 : i64})
    -> (tensor<?x?xf64, #CSR> {tulle.name = "E"}) {
  return %E : tensor<?x?xf64, #CSR>
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
