// RUN: tulle-opt %s --tulle-import-sparse-tensor --allow-unregistered-dialect --split-input-file | FileCheck %s

// CHECK: #[[$CSR:.+]] = #tulle.encoding<{ map = ({{.*}}) -> ({{.*}} : dense, {{.*}} : compressed), posWidth = 32, crdWidth = 32
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

// A made result is an argument; linalg.matvec is a generic.
// CHECK-LABEL: @matvec
// CHECK-SAME: (%[[A:.*]]: tensor<?x?xf64, #[[$CSR]]>, %[[X:.*]]: tensor<?xf64>, %[[Y:.*]]: tensor<?xf64>) -> tensor<?xf64>
func.func @matvec(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%n) : tensor<?xf64>
  // CHECK: %[[F:.*]] = tulle.fill %{{.*}}, %[[Y]] : f64, tensor<?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  // CHECK: linalg.generic {{.*}} ins(%[[A]], %[[X]] : tensor<?x?xf64, #[[$CSR]]>, tensor<?xf64>) outs(%[[F]] : tensor<?xf64>)
  %r = linalg.matvec ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%f : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// CHECK-LABEL: @convert
func.func @convert(%A: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64> {
  // CHECK: tulle.convert %{{.*}} : tensor<?x?xf64, #[[$CSR]]> to tensor<?x?xf64>
  %d = sparse_tensor.convert %A : tensor<?x?xf64, #CSR> to tensor<?x?xf64>
  return %d : tensor<?x?xf64>
}

// Both spellings of a concatenation; of a dense result it stays what it is.
// CHECK-LABEL: @concat
func.func @concat(%A: tensor<3x4xf64, #CSR>, %B: tensor<3x5xf64>) -> (tensor<3x9xf64, #CSR>, tensor<6x4xf64, #CSR>, tensor<3x10xf64>) {
  // CHECK: tulle.concat %{{.*}}, %{{.*}} along [1] : (tensor<3x4xf64, #[[$CSR]]>, tensor<3x5xf64>) -> tensor<3x9xf64, #[[$CSR]]>
  %c = sparse_tensor.concatenate %A, %B {dimension = 1 : index} : tensor<3x4xf64, #CSR>, tensor<3x5xf64> to tensor<3x9xf64, #CSR>
  // CHECK: tulle.concat %{{.*}}, %{{.*}} along [0] : (tensor<3x4xf64, #[[$CSR]]>, tensor<3x4xf64, #[[$CSR]]>) -> tensor<6x4xf64, #[[$CSR]]>
  %r = tensor.concat dim(0) %A, %A : (tensor<3x4xf64, #CSR>, tensor<3x4xf64, #CSR>) -> tensor<6x4xf64, #CSR>
  // CHECK: tensor.concat dim(1)
  %d = tensor.concat dim(1) %B, %B : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<3x10xf64>
  return %c, %r, %d : tensor<3x9xf64, #CSR>, tensor<6x4xf64, #CSR>, tensor<3x10xf64>
}

// A pad with what is not stored is the source between parts that store nothing; of a dense result it stays what it is.
// CHECK-LABEL: @pad
// CHECK-SAME: (%[[A:.*]]: tensor<?x4xf64, #[[$CSR]]>, %[[B:.*]]: tensor<3x4xf64>, %[[N:.*]]: index)
func.func @pad(%A: tensor<?x4xf64, #CSR>, %B: tensor<3x4xf64>, %n: index) -> (tensor<?x7xf64, #CSR>, tensor<?x4xf64, #CSR>, tensor<3x5xf64>) {
  %zero = arith.constant 0.0 : f64
  // CHECK: %[[BEFORE:.*]] = tulle.assemble(%c1, %c0{{[^)]*}}) bound
  // CHECK: } : tensor<1x0xf64, #[[$CSR]]>
  // CHECK: %[[BEHIND:.*]] = tulle.assemble(%[[N]], %c3{{[^)]*}}) bound
  // CHECK: } : tensor<?x3xf64, #[[$CSR]]>
  // CHECK: tulle.concat %[[BEFORE]], %[[A]], %[[BEHIND]] along [0, 1] : {{.*}} -> tensor<?x7xf64, #[[$CSR]]>
  %p = tensor.pad %A low[1, 0] high[%n, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : tensor<?x4xf64, #CSR> to tensor<?x7xf64, #CSR>
  // CHECK: %[[ROWS:.*]] = tulle.assemble(%c2{{[^,]*}}, %c4{{[^)]*}}) bound
  // CHECK: tulle.concat %[[A]], %[[ROWS]] along [0]
  %r = tensor.pad %A low[0, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : tensor<?x4xf64, #CSR> to tensor<?x4xf64, #CSR>
  // CHECK: tensor.pad %[[B]]
  %d = tensor.pad %B low[0, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : tensor<3x4xf64> to tensor<3x5xf64>
  return %p, %r, %d : tensor<?x7xf64, #CSR>, tensor<?x4xf64, #CSR>, tensor<3x5xf64>
}

#map = affine_map<(i, j) -> (i, j)>
// A sparse result is made by the op that stores it, in a pattern of its own.
// CHECK-LABEL: @scale
// CHECK-SAME: (%{{.*}}: tensor<4x5xf64, #[[$CSR]]>, %{{.*}}: tensor<4x5xf64>) -> tensor<4x5xf64, #[[$CSR]]>
func.func @scale(%A: tensor<4x5xf64, #CSR>, %D: tensor<4x5xf64>) -> tensor<4x5xf64, #CSR> {
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<4x5xf64, #[[$CSR]]>
  // CHECK: outs(%[[E]] : tensor<4x5xf64, #[[$CSR]]>)
  %e = tensor.empty() : tensor<4x5xf64, #CSR>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%A, %D : tensor<4x5xf64, #CSR>, tensor<4x5xf64>) outs(%e : tensor<4x5xf64, #CSR>) {
  ^bb0(%a: f64, %d: f64, %o: f64):
    %p = arith.mulf %a, %d : f64
    linalg.yield %p : f64
  } -> tensor<4x5xf64, #CSR>
  return %r : tensor<4x5xf64, #CSR>
}

// CHECK-LABEL: @sum
// CHECK-SAME: (%{{.*}}: tensor<?x5xf64, #[[$CSR]]>, %{{.*}}: tensor<?x5xf64, #[[$CSR]]>, %[[N:.*]]: index) -> tensor<?x5xf64, #[[$CSR]]>
func.func @sum(%A: tensor<?x5xf64, #CSR>, %B: tensor<?x5xf64, #CSR>, %n: index) -> tensor<?x5xf64, #CSR> {
  // CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x5xf64, #[[$CSR]]>
  // CHECK: outs(%[[E]] : tensor<?x5xf64, #[[$CSR]]>)
  %e = bufferization.alloc_tensor(%n) : tensor<?x5xf64, #CSR>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%A, %B : tensor<?x5xf64, #CSR>, tensor<?x5xf64, #CSR>) outs(%e : tensor<?x5xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x5xf64, #CSR>
  return %r : tensor<?x5xf64, #CSR>
}

// An op of no dialect that is loaded is none of sparse_tensor's.
// CHECK-LABEL: @unregistered
func.func @unregistered(%x: f64) -> f64 {
  // CHECK: "somebody.elses"
  %y = "somebody.elses"(%x) : (f64) -> f64
  return %y : f64
}

// -----

// Every example of the encoding's documentation that upstream's parser takes.

#SparseVector = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#SortedCOO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
#DCSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : compressed, i : compressed), posWidth = 32, crdWidth = 8 }>
#BSR = #sparse_tensor.encoding<{ map = ( i, j ) -> ( i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense ) }>
#BSR_explicit = #sparse_tensor.encoding<{
  map = { ib, jb, ii, jj }
        ( i = ib * 2 + ii,
          j = jb * 3 + jj) ->
  ( ib = i floordiv 2 : dense,
    jb = j floordiv 3 : compressed,
    ii = i mod 2 : dense,
    jj = j mod 3 : dense)
}>
#NV_24 = #sparse_tensor.encoding<{ map = ( i, j ) -> ( i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4]) }>
#CSR_SLICE = #sparse_tensor.encoding<{
  map = (i : #sparse_tensor<slice(0, 4, 1)>, j : #sparse_tensor<slice(0, 8, ?)>) -> (i : dense, j : compressed)
}>

// CHECK-DAG: map = ({{[a-z0-9]+}}) -> ({{[a-z0-9]+}} : compressed)
// CHECK-DAG: ({{[a-z0-9]+}} : compressed(nonunique), {{[a-z0-9]+}} : singleton)
// CHECK-DAG: map = ([[I:[a-z0-9]+]], [[J:[a-z0-9]+]]) -> ([[J]] : compressed, [[I]] : compressed), posWidth = 32, crdWidth = 8
// CHECK-DAG: floordiv 2 : dense, {{[a-z0-9]+}} floordiv 3 : compressed, {{[a-z0-9]+}} mod 2 : dense, {{[a-z0-9]+}} mod 3 : dense
// CHECK-DAG: floordiv 4 : dense, {{[a-z0-9]+}} mod 4 : structured[2,4]
// CHECK-DAG: slice(0, 4, 1){{.*}}slice(0, 8, ?)
// CHECK-LABEL: @documented
// CHECK-NOT: sparse_tensor.encoding
func.func private @documented(tensor<?xf32, #SparseVector>, tensor<?x?xf64, #SortedCOO>, tensor<8x8xf64, #DCSC>,
    tensor<20x30xf32, #BSR>, tensor<20x30xf32, #BSR_explicit>, tensor<8x8xf16, #NV_24>, tensor<?x?xf64, #CSR_SLICE>)
