// RUN: tulle-opt %s --tulle-lower --split-input-file --verify-diagnostics

// expected-error @+1 {{cannot hold data in}}
func.func @not_executable(%A: tensor<?x?xf64, #tulle.encoding<{ map = (i, j) -> (i mod 3 : dense, j : dense) }>>) {
  return
}

// -----

// expected-error @+1 {{explicitVal = 1 : f32 is of another type than the elements, f64}}
func.func @of_another_type(%A: tensor<?xf64, #tulle.encoding<{ map = (i) -> (i : compressed), explicitVal = 1 : f32 }>>) {
  return
}

// -----

func.func @whole_tensors(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @+1 {{expected tensors, spaces and iterators to be used by loads, stores and loops only; run tulle-sparsify first}}
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

// -----

// expected-error @+1 {{spaces and iterators stay within one function}}
func.func @argument(%s: !tulle.range) {
  return
}

// -----

#SV = #tulle.encoding<{ map = (i) -> (i : compressed) }>
func.func @iterator_result(%a: tensor<?xf64, #SV>, %c: i1, %i: index) {
  // expected-error @+1 {{these stay within their region}}
  %p = scf.if %c -> (!tulle.iterator<#SV, 0>) {
    %x, %found = tulle.search %a level(0) at %i : tensor<?xf64, #SV> -> !tulle.iterator<#SV, 0>
    scf.yield %x : !tulle.iterator<#SV, 0>
  } else {
    %y, %found = tulle.search %a level(0) at %i : tensor<?xf64, #SV> -> !tulle.iterator<#SV, 0>
    scf.yield %y : !tulle.iterator<#SV, 0>
  }
  return
}

// -----

func.func @two_blocks(%a: tensor<4xf64>) {
  // expected-error @+1 {{expected one block in each region: control flow is structured at this stage}}
  scf.execute_region {
    cf.br ^next
  ^next:
    scf.yield
  }
  return
}

// -----

func.func @unknown_dimension(%a: tensor<4xf64>, %i: index) -> index {
  // expected-error @+1 {{expected tensors, spaces and iterators to be used by loads, stores and loops only}}
  %d = tensor.dim %a, %i : tensor<4xf64>
  return %d : index
}

// -----

func.func @escapes(%a: tensor<4xf64>, %i: index) {
  %x = tulle.locate %a level(0) at %i : tensor<4xf64> -> !tulle.iterator<#tulle.encoding<{ map = (i) -> (i : dense) }>, 0>
  // expected-error @+1 {{expected tensors, spaces and iterators to be used by loads, stores and loops only}}
  %y = builtin.unrealized_conversion_cast %x : !tulle.iterator<#tulle.encoding<{ map = (i) -> (i : dense) }>, 0> to index
  return
}

// -----

func.func @no_dimension(%a: tensor<4xf64>) -> index {
  %c7 = arith.constant 7 : index
  // expected-error @+1 {{expected tensors, spaces and iterators to be used by loads, stores and loops only}}
  %d = tensor.dim %a, %c7 : tensor<4xf64>
  return %d : index
}

// -----

// expected-error @+1 {{expected no slices: run tulle-resolve-slices before tulle-sparsify}}
func.func @sliced(%x: tensor<?xf64, #tulle.encoding<{ map = (i : #tulle<slice(0, 4, 1)>) -> (i : dense) }>>) {
  return
}

// -----

// Every parent has one position there: nothing to partition. Uses of what is refused are no further errors.
#COO = #tulle.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
func.func @single(%A: tensor<?x?xf64, #COO>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %all = tulle.space %A level(0) : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 0>
  %r = tulle.iterate %i, %it in %all : !tulle.space<#COO, 0> iter_args(%x = %c0) -> (index) loop = <reduction> attributes {each} {
    %s = tulle.space %A level(1) under %it : !tulle.iterator<#COO, 0> : tensor<?x?xf64, #COO> -> !tulle.space<#COO, 1>
    // expected-error@+1 {{expected a space that can hold several coordinates: this one cannot be partitioned}}
    %begin, %end, %before, %whole = tulle.partition_boundary %s, %c0 of %c2 over %n : !tulle.space<#COO, 1>
    // expected-error@+1 {{expected a space that can hold several coordinates: this one cannot be partitioned}}
    %p = tulle.partition %s, %before to %whole of %c2 : !tulle.space<#COO, 1>
    %m = tulle.work %p : !tulle.space<#COO, 1>
    tulle.yield %m : index
  }
  return %r : index
}
