// RUN: tulle-opt %s --tulle-expand-convert --canonicalize --split-input-file | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// Columns are stored one after the other, rows ascending in each, nothing twice.
// CHECK: #[[ORDER:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: @from_csc(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf64, #CSC>)
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[A]], %c1
// CHECK-DAG: %[[BOUND:.*]] = tulle.stored_count %[[A]]
// CHECK: %[[C:.*]] = tulle.assemble(%[[M]], %[[N]]) bound %[[BOUND]]
// CHECK-SAME: order = #[[ORDER]], unique}
// CHECK: tulle.space %[[A]] level(0)
// CHECK: tulle.iterate %[[J:[^ ]*]], %[[JT:[^ ]*]] in {{.*}} {each}
// CHECK: tulle.space %[[A]] level(1) under %[[JT]]
// CHECK: tulle.iterate %[[I:[^ ]*]], %[[IT:[^ ]*]] in {{.*}} {each}
// CHECK: %[[V:.*]] = tulle.load %[[A]][%[[IT]]
// CHECK: tulle.insert %[[V]] at(%[[I]], %[[J]])
// CHECK: return %[[C]]
func.func @from_csc(%A: tensor<?x?xf64, #CSC>) -> tensor<?x?xf64, #CSR> {
  %C = tulle.convert %A : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Of a dense source only what differs from the fill is stored.
// CHECK-LABEL: @from_dense(
// CHECK: %[[FILL:.*]] = arith.constant 0.0
// CHECK: %[[V:.*]] = tulle.load
// CHECK: %[[DIFFERS:.*]] = arith.cmpf une, %[[V]], %[[FILL]]
// CHECK: scf.if %[[DIFFERS]]
// CHECK: tulle.insert %[[V]]
func.func @from_dense(%A: tensor<?x?xf32>) -> tensor<?x?xf32, #CSR> {
  %C = tulle.convert %A : tensor<?x?xf32> to tensor<?x?xf32, #CSR>
  return %C : tensor<?x?xf32, #CSR>
}

// -----

#BCSR = #tulle.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense) }>

// Block padding beyond the tensor is no entry: each dimension is looked at where its last digit is known.
// CHECK: #[[ORDER:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2, d1 floordiv 3, d0 mod 2, d1 mod 3)>
// CHECK-LABEL: @from_blocks(
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[M:.*]] = tensor.dim %{{.*}}, %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %{{.*}}, %c1
// CHECK: order = #[[ORDER]], unique}
// CHECK: tulle.iterate %[[BI:[^,]*]],
// CHECK: tulle.iterate %[[BJ:[^,]*]],
// CHECK: tulle.iterate %[[RI:[^,]*]],
// CHECK: %[[T:.*]] = arith.muli %[[BI]], %[[C2]]
// CHECK: %[[I:.*]] = arith.addi %[[T]], %[[RI]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[M]]
// CHECK: scf.if %[[INSIDE]]
// CHECK: tulle.iterate %[[RJ:[^,]*]],
// CHECK: %[[U:.*]] = arith.muli %[[BJ]], %[[C3]]
// CHECK: %[[J:.*]] = arith.addi %[[U]], %[[RJ]]
// CHECK: arith.cmpi ult, %[[J]], %[[N]]
// CHECK: scf.if
// CHECK: tulle.insert %{{.*}} at(%[[I]], %[[J]])
func.func @from_blocks(%A: tensor<?x?xf64, #BCSR>) -> tensor<?x?xf64> {
  %C = tulle.convert %A : tensor<?x?xf64, #BCSR> to tensor<?x?xf64>
  return %C : tensor<?x?xf64>
}

// -----

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered, soa)) }>
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Entries in any order, and perhaps twice: no promise.
// CHECK: #[[ORDER:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: @from_entries(
// CHECK: order = #[[ORDER]]} {
func.func @from_entries(%A: tensor<?x?xf64, #COO>) -> tensor<?x?xf64, #CSR> {
  %C = tulle.convert %A : tensor<?x?xf64, #COO> to tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>

// What a statement reads is converted by the caller.
// CHECK-LABEL: @operand(
// CHECK: tulle.convert
func.func @operand(%A: tensor<?x?xf64, #CSC>) -> index {
  %C = tulle.convert %A : tensor<?x?xf64, #CSC> to tensor<?x?xf64, #CSR>
  %n = tulle.stored_count %C : tensor<?x?xf64, #CSR>
  return %n : index
}

// -----

#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)) }>
#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Whoever makes the tensor hears that it may have the source's buffers.
// CHECK-LABEL: @shared(
// CHECK: tulle.assemble{{.*}} {order = #{{.*}}, share, unique}
func.func @shared(%A: tensor<?x?xf64, #COO>) -> tensor<?x?xf64, #CSR> {
  %C = tulle.convert %A share : tensor<?x?xf64, #COO> to tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}

// -----

#CSC = #tulle.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#EVERY_THIRD = #tulle.encoding<{ map = (i, j : #tulle<slice(2, 3, 3)>) -> (j : dense, i : compressed) }>

// Columns 2, 5 and 8 of the whole: those from 2 to 11, where there are so many, are visited, and each is tested.
// CHECK-LABEL: @every_third(
// CHECK: %[[ALL:.*]] = tulle.space %[[A:.*]] level(0)
// CHECK: %[[SIZE:.*]] = tulle.level_size %[[A]] level(0)
// CHECK: %[[END:.*]] = arith.minui %[[SIZE]], %c11
// CHECK: %[[COLUMNS:.*]] = tulle.range %c2 to %[[END]]
// CHECK: %[[PART:.*]] = tulle.restrict %[[ALL]] to %[[COLUMNS]]
// CHECK: tulle.iterate %[[J:[^ ]*]], %{{.*}} in %[[PART]]
// CHECK: %[[FROM:.*]] = arith.subi %[[J]], %c2
// CHECK-DAG: %[[OWN:.*]] = arith.divui %[[FROM]], %c3
// CHECK-DAG: arith.remui %[[FROM]], %c3
// CHECK: tulle.space %[[A]] level(1)
// CHECK-NEXT: tulle.iterate %[[I:[^ ]*]], %{{.*}} in %{{.*}}
// CHECK: tulle.insert %{{.*}} at(%[[I]], %[[OWN]])
func.func @every_third(%A: tensor<6x3xf64, #EVERY_THIRD>) -> tensor<6x3xf64, #CSC> {
  %C = tulle.convert %A : tensor<6x3xf64, #EVERY_THIRD> to tensor<6x3xf64, #CSC>
  return %C : tensor<6x3xf64, #CSC>
}
