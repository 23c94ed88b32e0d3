// RUN: tulle-opt %s --tulle-sparsifier | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s

#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#ONES = #sparse_tensor.encoding<{ map = (i) -> (i : compressed), explicitVal = 1.0 : f64 }>

func.func @reshape(%A: tensor<?x?xf64, #CSC>) -> tensor<?xf64, #SV> {
  %r = tensor.collapse_shape %A [[0, 1]] : tensor<?x?xf64, #CSC> into tensor<?xf64, #SV>
  return %r : tensor<?xf64, #SV>
}

func.func @total(%a: tensor<8xf64, #ONES>, %x: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<8xf64, #ONES>) outs(%x : tensor<f64>) {
  ^bb0(%v: f64, %o: f64):
    %s = arith.addf %v, %o : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %pos = arith.constant dense<[0, 2]> : tensor<2xindex>
  %crd = arith.constant dense<[[0, 3], [2, 1], [9, 9]]> : tensor<3x2xindex>
  %val = arith.constant dense<[5.0, 6.0]> : tensor<2xf64>
  // The caller's buffer of coordinates is longer than it needs to be.
  %A = sparse_tensor.assemble (%pos, %crd), %val : (tensor<2xindex>, tensor<3x2xindex>), tensor<2xf64> to tensor<3x4xf64, #COO>
  // CHECK: crd[0] : ( 0, 3, 2, 1 )
  // CHECK-NEXT: values : ( 5, 6 )
  sparse_tensor.print %A : tensor<3x4xf64, #COO>
  %B = sparse_tensor.convert %A : tensor<3x4xf64, #COO> to tensor<?x?xf64, #CSC>
  %r = call @reshape(%B) : (tensor<?x?xf64, #CSC>) -> tensor<?xf64, #SV>
  // CHECK: dim = ( 12 )
  // CHECK: crd[0] : ( 3, 9 )
  // CHECK-NEXT: values : ( 5, 6 )
  sparse_tensor.print %r : tensor<?xf64, #SV>
  %op = tensor.empty() : tensor<2xindex>
  %oc = tensor.empty() : tensor<4x2xindex>
  %ov = tensor.empty() : tensor<4xf64>
  %rp, %rc, %rv, %lp, %lc, %lv = sparse_tensor.disassemble %A : tensor<3x4xf64, #COO>
      out_lvls(%op, %oc : tensor<2xindex>, tensor<4x2xindex>) out_vals(%ov : tensor<4xf64>)
      -> (tensor<2xindex>, tensor<4x2xindex>), tensor<4xf64>, (i64, i64), index
  // CHECK: ( 5, 6 )
  %v = vector.transfer_read %rv[%c0], %zero : tensor<4xf64>, vector<2xf64>
  vector.print %v : vector<2xf64>
  // CHECK-NEXT: 4
  vector.print %lc : i64
  %list = arith.constant sparse<[[2], [5], [7]], 1.0> : tensor<8xf64>
  %ones = sparse_tensor.convert %list : tensor<8xf64> to tensor<8xf64, #ONES>
  %x = arith.constant dense<0.0> : tensor<f64>
  %t = call @total(%ones, %x) : (tensor<8xf64, #ONES>, tensor<f64>) -> tensor<f64>
  // CHECK-NEXT: 3
  %s = tensor.extract %t[] : tensor<f64>
  vector.print %s : f64
  bufferization.dealloc_tensor %A : tensor<3x4xf64, #COO>
  bufferization.dealloc_tensor %B : tensor<?x?xf64, #CSC>
  bufferization.dealloc_tensor %r : tensor<?xf64, #SV>
  bufferization.dealloc_tensor %ones : tensor<8xf64, #ONES>
  return
}
