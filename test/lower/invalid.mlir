// RUN: tulle-opt %s --tulle-lower --split-input-file --verify-diagnostics

// expected-error @+1 {{cannot hold data in}}
func.func @not_executable(%A: tensor<?x?xf64, #tulle.encoding<{ map = (i, j) -> (j - i : squeezed, i : dense, j : offset) }>>) {
  return
}

// -----

func.func @whole_tensors(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @+1 {{expected tensors to be used by loads, stores and loops only; run tulle-sparsify first}}
  %c = arith.addf %a, %b : tensor<4xf64>
  return %c : tensor<4xf64>
}

// -----

func.func @moved(%a: tensor<4xf64>, %b: tensor<4xf64>, %c: i1) -> tensor<4xf64> {
  // expected-error @+1 {{the branches yield tensors of different storage: stores are in place}}
  %r = scf.if %c -> (tensor<4xf64>) {
    scf.yield %a : tensor<4xf64>
  } else {
    scf.yield %b : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}

// -----

// expected-error @+1 {{expected a body: only functions that are compiled here may take tensors}}
func.func private @external(tensor<4xf64>)
