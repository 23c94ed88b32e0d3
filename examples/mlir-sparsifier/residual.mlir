// The residual b - A x of a tridiagonal system: A is inserted entry by entry, as CSC, and read by rows.
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 32 }>
#matvec = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
  iterator_types = ["parallel", "reduction"]
}

func.func @tridiagonal(%n: index) -> tensor<?x?xf64, #CSC> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f64
  %one = arith.constant -1.0 : f64
  %empty = tensor.empty(%n, %n) : tensor<?x?xf64, #CSC>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%A = %empty) -> tensor<?x?xf64, #CSC> {
    %isFirst = arith.cmpi eq, %i, %c0 : index
    %beside = scf.if %isFirst -> tensor<?x?xf64, #CSC> {
      scf.yield %A : tensor<?x?xf64, #CSC>
    } else {
      %before = arith.subi %i, %c1 : index
      %lower = tensor.insert %one into %A[%i, %before] : tensor<?x?xf64, #CSC>
      %upper = tensor.insert %one into %lower[%before, %i] : tensor<?x?xf64, #CSC>
      scf.yield %upper : tensor<?x?xf64, #CSC>
    }
    %diagonal = tensor.insert %two into %beside[%i, %i] : tensor<?x?xf64, #CSC>
    scf.yield %diagonal : tensor<?x?xf64, #CSC>
  }
  %A = sparse_tensor.load %all hasInserts : tensor<?x?xf64, #CSC>
  return %A : tensor<?x?xf64, #CSC>
}

func.func @residual(%A: tensor<?x?xf64, #CSC>, %x: tensor<?xf64>, %b: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic #matvec ins(%A, %x : tensor<?x?xf64, #CSC>, tensor<?xf64>) outs(%b : tensor<?xf64>) {
  ^bb0(%a: f64, %v: f64, %sum: f64):
    %p = arith.mulf %a, %v : f64
    %d = arith.subf %sum, %p : f64
    linalg.yield %d : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f64
  %A = call @tridiagonal(%c6) : (index) -> tensor<?x?xf64, #CSC>
  sparse_tensor.print %A : tensor<?x?xf64, #CSC>
  %xs = arith.constant dense<[1.0, 2.0, 3.0, 3.0, 2.0, 1.0]> : tensor<6xf64>
  %bs = arith.constant dense<1.0> : tensor<6xf64>
  %x = tensor.cast %xs : tensor<6xf64> to tensor<?xf64>
  %b = tensor.cast %bs : tensor<6xf64> to tensor<?xf64>
  %r = call @residual(%A, %x, %b) : (tensor<?x?xf64, #CSC>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %v = vector.transfer_read %r[%c0], %zero : tensor<?xf64>, vector<6xf64>
  vector.print %v : vector<6xf64>
  bufferization.dealloc_tensor %A : tensor<?x?xf64, #CSC>
  return
}
