// RUN: tulle-opt %s --tulle-expand-concat --canonicalize --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Matrices side by side share the loop over rows: their entries arrive row by row, B's behind A's.
// CHECK: #[[ORDER:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: @columns(
// CHECK-SAME: %[[A:[^ ]*]]: tensor<?x?xf64, #CSR>, %[[B:[^ ]*]]: tensor<?x?xf64, #CSR>)
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[A]], %c1
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[B]], %c1
// CHECK-DAG: %[[ALL:.*]] = arith.addi %[[N]], %[[K]]
// CHECK-DAG: %[[BOUND:.*]] = arith.addi
// CHECK: tulle.assemble(%[[M]], %[[ALL]]) bound %[[BOUND]]
// CHECK-SAME: order = #[[ORDER]], unique}
// CHECK: tulle.range %c0 to %[[M]]
// CHECK: tulle.iterate %[[I:[^ ]*]] in
// CHECK: tulle.locate %[[A]] level(0) at %[[I]]
// CHECK: tulle.iterate %[[J:[^ ]*]], {{.*}} {each}
// CHECK: tulle.insert {{.*}} at(%[[I]], %[[J]])
// CHECK: tulle.locate %[[B]] level(0) at %[[I]]
// CHECK: tulle.iterate %[[L:[^ ]*]], {{.*}} {each}
// CHECK: %[[PLACE:.*]] = arith.addi %[[N]], %[[L]]
// CHECK: tulle.insert {{.*}} at(%[[I]], %[[PLACE]])
func.func @columns(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %C = tulle.concat %A, %B along [1] : (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// One below the other, or on a diagonal, the rows of B begin behind all of A.
// CHECK: #[[ORDER:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: @diagonal(
// CHECK: tulle.assemble
// CHECK-SAME: order = #[[ORDER]], unique}
// CHECK: tulle.space %{{.*}} level(0)
// CHECK: tulle.insert
// CHECK: tulle.space %{{.*}} level(0)
// CHECK: tulle.insert
func.func @diagonal(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %C = tulle.concat %A, %B along [0, 1] : (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#DCSR = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>

// A row that A may not have is no loop of both: B arrives behind all of A, at rows that A has had.
// CHECK: #[[ORDER:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: @no_order(
// CHECK: tulle.assemble
// CHECK-SAME: order = #[[ORDER]], unique}
func.func @no_order(%A: tensor<?x?xf64, #DCSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %C = tulle.concat %A, %B along [1] : (tensor<?x?xf64, #DCSR>, tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// -----

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
#bag = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(nonunique)) }>

// What a part may store twice is combined.
// CHECK-LABEL: @twice(
// CHECK: tulle.assemble
// CHECK-NOT: unique}
// CHECK: return
func.func @twice(%A: tensor<?x?xf64, #COO>, %B: tensor<?x?xf64, #bag>) -> tensor<?x?xf64, #COO> {
  %C = tulle.concat %A, %B along [0] : (tensor<?x?xf64, #COO>, tensor<?x?xf64, #bag>) -> tensor<?x?xf64, #COO>
  return %C : tensor<?x?xf64, #COO>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSF = #tulle.encoding<{ map = (l, i, j) -> (l : dense, i : dense, j : compressed) }>

// Of a stack, entries arrive part by part, at the coordinate of each; values become those of the result's type.
// CHECK: #[[ORDER:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: @stack(
// CHECK-SAME: %[[A:[^ ]*]]: tensor<?x?xf64, #CSR>, %[[B:[^ ]*]]: tensor<?x?xf32, #CSR>)
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[A]], %c1
// CHECK: tulle.assemble(%c2, %[[M]], %[[N]])
// CHECK-SAME: order = #[[ORDER]], unique}
// CHECK: tulle.space %[[A]] level(0)
// CHECK: tulle.insert {{.*}} at(%c0, %{{.*}}, %{{.*}})
// CHECK: tulle.space %[[B]] level(0)
// CHECK: %[[X:.*]] = tulle.load %[[B]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
// CHECK: tulle.insert %[[WIDE]] at(%c1, %{{.*}}, %{{.*}})
func.func @stack(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf32, #CSR>) -> tensor<2x?x?xf64, #CSF> {
  %C = tulle.concat %A, %B along [0] : (tensor<?x?xf64, #CSR>, tensor<?x?xf32, #CSR>) -> tensor<2x?x?xf64, #CSF>
  return %C : tensor<2x?x?xf64, #CSF>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#rows = #tulle.encoding<{ map = (i, l, j) -> (i : dense, l : dense, j : compressed) }>

// Behind the rows, which are one loop of both parts.
// CHECK: #[[ORDER:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: @stack_of_rows(
// CHECK: tulle.assemble
// CHECK-SAME: order = #[[ORDER]], unique}
// CHECK: tulle.iterate %[[I:[^ ]*]] in
// CHECK: tulle.insert {{.*}} at(%[[I]], %c0, %{{.*}})
// CHECK: tulle.insert {{.*}} at(%[[I]], %c1, %{{.*}})
func.func @stack_of_rows(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x2x?xf64, #rows> {
  %C = tulle.concat %A, %B along [1] : (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) -> tensor<?x2x?xf64, #rows>
  return %C : tensor<?x2x?xf64, #rows>
}
