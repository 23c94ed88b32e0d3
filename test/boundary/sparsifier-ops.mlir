// RUN: tulle-opt %s --tulle-sparsifier | mlir-runner -e main -entry-point-result=void -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: tulle-opt %s --tulle-sparsifier=test-bufferization-analysis-only | FileCheck %s --check-prefix=ANALYSIS
// ANALYSIS: __inplace_operands_attr__

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#DV = #sparse_tensor.encoding<{ map = (i) -> (i : dense) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#BSR = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>
#BLOCKS = #sparse_tensor.encoding<{ map = (i, j, k, l) -> (i : dense, j : compressed, k : dense, l : dense) }>
#id = affine_map<(i) -> (i)>

// Sums of entries that nobody stores: the body of preserved zeros does not visit them.
func.func @zeros_stay(%a: tensor<8xf64, #SV>) -> tensor<8xf64, #SV> {
  %e = tensor.empty() : tensor<8xf64, #SV>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #SV>) outs(%e : tensor<8xf64, #SV>) {
  ^bb0(%x: f64, %o: f64):
    %f = math.floor %x : f64
    %l = math.log1p %f : f64
    %u = math.expm1 %l : f64
    linalg.yield %u : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

// A dense result that nothing was stored in is zero where nothing is written.
func.func @shifted(%a: tensor<8xf64, #SV>) -> tensor<8xf64> {
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<8xf64>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #SV>) outs(%e : tensor<8xf64>) {
  ^bb0(%x: f64, %o: f64):
    %u = sparse_tensor.unary %x : f64 to f64
      present = {
      ^bb0(%v: f64):
        %s = arith.addf %v, %one : f64
        sparse_tensor.yield %s : f64
      }
      absent = {}
    linalg.yield %u : f64
  } -> tensor<8xf64>
  return %r : tensor<8xf64>
}

func.func @halved(%a: tensor<8xf64, #SV>) -> tensor<8xf64, #SV> {
  %half = arith.constant 0.5 : f64
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<8xf64, #SV>) {
  ^bb0(%o: f64):
    %s = arith.mulf %o, %half : f64
    linalg.yield %s : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

func.func @halved_beside(%a: tensor<8xf64, #SV>) -> tensor<8xf64, #SV> {
  %half = arith.constant 0.5 : f64
  %copy = bufferization.alloc_tensor() copy(%a) : tensor<8xf64, #SV>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%copy : tensor<8xf64, #SV>) {
  ^bb0(%o: f64):
    %s = arith.mulf %o, %half : f64
    linalg.yield %s : f64
  } -> tensor<8xf64, #SV>
  return %r : tensor<8xf64, #SV>
}

// The start is the caller's, a scalar that nobody knows.
func.func @product(%a: tensor<8xf64, #SV>, %x: tensor<f64>) -> tensor<f64> {
  %start = tensor.extract %x[] : tensor<f64>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<8xf64, #SV>) outs(%x : tensor<f64>) {
  ^bb0(%v: f64, %o: f64):
    %u = sparse_tensor.reduce %v, %o, %start : f64 {
    ^bb0(%p: f64, %q: f64):
      %s = arith.mulf %p, %q : f64
      sparse_tensor.yield %s : f64
    }
    linalg.yield %u : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// No operand says how long the result is.
func.func @windows(%a: tensor<?xf64, #SV>, %f: tensor<?xf64>, %n: index) -> tensor<?xf64, #SV> {
  %e = tensor.empty(%n) : tensor<?xf64, #SV>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a, %f : tensor<?xf64, #SV>, tensor<?xf64>) outs(%e : tensor<?xf64, #SV>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %p = arith.mulf %x, %y : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64, #SV>
  return %r : tensor<?xf64, #SV>
}



func.func @main() {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f64
  %two = arith.constant dense<2.0> : tensor<f64>
  %list = arith.constant sparse<[[6], [1], [3]], [4.5, -2.0, 0.0]> : tensor<8xf64>
  %a = sparse_tensor.convert %list : tensor<8xf64> to tensor<8xf64, #SV>
  // CHECK: pos[0] : ( 0, 3 )
  // CHECK-NEXT: crd[0] : ( 1, 3, 6 )
  // CHECK-NEXT: values : ( -2, 0, 4.5 )
  sparse_tensor.print %a : tensor<8xf64, #SV>
  %b = call @zeros_stay(%a) : (tensor<8xf64, #SV>) -> tensor<8xf64, #SV>
  // CHECK: crd[0] : ( 1, 3, 6 )
  sparse_tensor.print %b : tensor<8xf64, #SV>
  %c = call @shifted(%a) : (tensor<8xf64, #SV>) -> tensor<8xf64>
  // CHECK: ( 0, -1, 0, 1, 0, 0, 5.5, 0 )
  %cv = vector.transfer_read %c[%c0], %zero : tensor<8xf64>, vector<8xf64>
  vector.print %cv : vector<8xf64>
  %p = call @product(%a, %two) : (tensor<8xf64, #SV>, tensor<f64>) -> tensor<f64>
  // CHECK: 0
  %pv = tensor.extract %p[] : tensor<f64>
  vector.print %pv : f64
  %h = call @halved(%a) : (tensor<8xf64, #SV>) -> tensor<8xf64, #SV>
  // CHECK: values : ( -1, 0, 2.25 )
  sparse_tensor.print %h : tensor<8xf64, #SV>
  %any = tensor.cast %h : tensor<8xf64, #SV> to tensor<?xf64, #SV>
  %filter = arith.constant dense<[1.0, 10.0, 100.0]> : tensor<3xf64>
  %f = tensor.cast %filter : tensor<3xf64> to tensor<?xf64>
  %w = call @windows(%any, %f, %c6) : (tensor<?xf64, #SV>, tensor<?xf64>, index) -> tensor<?xf64, #SV>
  // CHECK: dim = ( 6 )
  // CHECK: values : ( -10, -1, 0, 0, 225, 22.5 )
  sparse_tensor.print %w : tensor<?xf64, #SV>

  // Tensors are values: who reads %a later has it as it was before both calls.
  %h2 = call @halved_beside(%a) : (tensor<8xf64, #SV>) -> tensor<8xf64, #SV>
  // CHECK: values : ( -1, 0, 2.25 )
  sparse_tensor.print %h2 : tensor<8xf64, #SV>
  // CHECK: values : ( -2, 0, 4.5 )
  sparse_tensor.print %a : tensor<8xf64, #SV>

  // Levels that are all dense, and no levels at all to store something in.
  %dense = tensor.empty() : tensor<4xf64, #DV>
  // CHECK: values : ( 0, 0, 0, 0 )
  sparse_tensor.print %dense : tensor<4xf64, #DV>
  %none = bufferization.alloc_tensor(%c6) : tensor<?x3xf64, #CSC>
  // CHECK: dim = ( 6, 3 )
  // CHECK: pos[1] : ( 0, 0, 0, 0 )
  sparse_tensor.print %none : tensor<?x3xf64, #CSC>

  // Blocks seen as dimensions of their own.
  %block = arith.constant sparse<[[0, 2], [3, 1]], [7.0, 8.0]> : tensor<4x4xf64>
  %B = sparse_tensor.convert %block : tensor<4x4xf64> to tensor<4x4xf64, #BSR>
  %blocks = sparse_tensor.reinterpret_map %B : tensor<4x4xf64, #BSR> to tensor<2x2x2x2xf64, #BLOCKS>
  // CHECK: dim = ( 2, 2, 2, 2 )
  // CHECK: crd[1] : ( 1, 0 )
  // CHECK-NEXT: values : ( 7, 0, 0, 0, 0, 0, 0, 8 )
  sparse_tensor.print %blocks : tensor<2x2x2x2xf64, #BLOCKS>

  bufferization.dealloc_tensor %a : tensor<8xf64, #SV>
  bufferization.dealloc_tensor %b : tensor<8xf64, #SV>
  bufferization.dealloc_tensor %h2 : tensor<8xf64, #SV>
  bufferization.dealloc_tensor %c : tensor<8xf64>
  bufferization.dealloc_tensor %w : tensor<?xf64, #SV>
  bufferization.dealloc_tensor %dense : tensor<4xf64, #DV>
  bufferization.dealloc_tensor %none : tensor<?x3xf64, #CSC>
  bufferization.dealloc_tensor %B : tensor<4x4xf64, #BSR>
  return
}
