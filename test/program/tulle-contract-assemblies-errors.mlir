// Why a new tensor cannot be a row at a time.
// RUN: tulle-opt %s --pass-pipeline='builtin.module(func.func(tulle-contract-assemblies))' --split-input-file --verify-diagnostics

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#W = #tulle.encoding<{ map = (i, j) -> (i : dense, j : bitmap) }>

func.func @levels(%a: tensor<?x?xf64, #CSR>) -> (f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %others = tulle.range %c1 to %m
  %w = tulle.assemble (%m, %n) {
    // expected-error @+1 {{what reads 'w' has no loop over i that can make a row of it: its rows are not one level of stored coordinates below one that has all: CSR is such a format; compute_root(w) leaves its loops as they are}}
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["i"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %s = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #W>
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i, of = ["s"]> {
    %it = tulle.locate %w level(0) at %i : tensor<?x?xf64, #W> -> !tulle.iterator<#W, 0>
    %s = tulle.space %w level(1) under %it : !tulle.iterator<#W, 0> : tensor<?x?xf64, #W> -> !tulle.space<#W, 1>
    %sum = tulle.iterate %k, %p in %s : !tulle.space<#W, 1> iter_args(%x = %acc) -> (f64) loop = <reduction, index = k> {
      %v = tulle.load %w[%p : !tulle.iterator<#W, 1>] : tensor<?x?xf64, #W> -> f64
      %z = arith.addf %x, %v : f64
      tulle.yield %z : f64
    }
    tulle.yield %sum : f64
  }
  return %r : f64
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#W = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @result(%a: tensor<?x?xf64, #CSR>) -> (f64, tensor<?x?xf64, #W> {tulle.name = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %others = tulle.range %c1 to %m
  %w = tulle.assemble (%m, %n) {
    // expected-error @+1 {{it is a result, which is stored as a whole}}
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["i"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %s = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #W>
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i, of = ["s"]> {
    %it = tulle.locate %w level(0) at %i : tensor<?x?xf64, #W> -> !tulle.iterator<#W, 0>
    %s = tulle.space %w level(1) under %it : !tulle.iterator<#W, 0> : tensor<?x?xf64, #W> -> !tulle.space<#W, 1>
    %sum = tulle.iterate %k, %p in %s : !tulle.space<#W, 1> iter_args(%x = %acc) -> (f64) loop = <reduction, index = k> {
      %v = tulle.load %w[%p : !tulle.iterator<#W, 1>] : tensor<?x?xf64, #W> -> f64
      %z = arith.addf %x, %v : f64
      tulle.yield %z : f64
    }
    tulle.yield %sum : f64
  }
  return %r, %w : f64, tensor<?x?xf64, #W>
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#W = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @elsewhere(%a: tensor<?x?xf64, #CSR>) -> (f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %others = tulle.range %c1 to %m
  %w = tulle.assemble (%m, %n) {
    // expected-error @+1 {{it is read at other coordinates than the loop's, or in several loops}}
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["i"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %s = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #W>
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i, of = ["s"]> {
    %it = tulle.locate %w level(0) at %c1 : tensor<?x?xf64, #W> -> !tulle.iterator<#W, 0>
    %s = tulle.space %w level(1) under %it : !tulle.iterator<#W, 0> : tensor<?x?xf64, #W> -> !tulle.space<#W, 1>
    %sum = tulle.iterate %k, %p in %s : !tulle.space<#W, 1> iter_args(%x = %acc) -> (f64) loop = <reduction, index = k> {
      %v = tulle.load %w[%p : !tulle.iterator<#W, 1>] : tensor<?x?xf64, #W> -> f64
      %z = arith.addf %x, %v : f64
      tulle.yield %z : f64
    }
    tulle.yield %sum : f64
  }
  return %r : f64
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#W = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @loop(%a: tensor<?x?xf64, #CSR>) -> (f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %others = tulle.range %c1 to %m
  %w = tulle.assemble (%m, %n) {
    // expected-error @+1 {{a row of it is read in another loop, or inside of one}}
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["k"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %s = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #W>
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i, of = ["s"]> {
    %it = tulle.locate %w level(0) at %i : tensor<?x?xf64, #W> -> !tulle.iterator<#W, 0>
    %s = tulle.space %w level(1) under %it : !tulle.iterator<#W, 0> : tensor<?x?xf64, #W> -> !tulle.space<#W, 1>
    %sum = tulle.iterate %k, %p in %s : !tulle.space<#W, 1> iter_args(%x = %acc) -> (f64) loop = <reduction, index = k> {
      %v = tulle.load %w[%p : !tulle.iterator<#W, 1>] : tensor<?x?xf64, #W> -> f64
      %z = arith.addf %x, %v : f64
      tulle.yield %z : f64
    }
    tulle.yield %sum : f64
  }
  return %r : f64
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#W = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @space(%a: tensor<?x?xf64, #CSR>) -> (f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %others = tulle.range %c1 to %m
  %w = tulle.assemble (%m, %n) {
    // expected-error @+1 {{their loops do not visit the same coordinates: of a tensor that stores some rows only, convert(…, CSR) makes them all of them}}
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["i"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %s = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #W>
  %r = tulle.iterate %i in %others : !tulle.range iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i, of = ["s"]> {
    %it = tulle.locate %w level(0) at %i : tensor<?x?xf64, #W> -> !tulle.iterator<#W, 0>
    %s = tulle.space %w level(1) under %it : !tulle.iterator<#W, 0> : tensor<?x?xf64, #W> -> !tulle.space<#W, 1>
    %sum = tulle.iterate %k, %p in %s : !tulle.space<#W, 1> iter_args(%x = %acc) -> (f64) loop = <reduction, index = k> {
      %v = tulle.load %w[%p : !tulle.iterator<#W, 1>] : tensor<?x?xf64, #W> -> f64
      %z = arith.addf %x, %v : f64
      tulle.yield %z : f64
    }
    tulle.yield %sum : f64
  }
  return %r : f64
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#W = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @rows(%a: tensor<?x?xf64, #CSR>) -> (f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %others = tulle.range %c1 to %m
  %w = tulle.assemble (%m, %n) {
    // expected-error @+1 {{an iteration of its loop makes more than one row}}
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["i"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %s = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%j, %i) : f64
      }
    }
  } : tensor<?x?xf64, #W>
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i, of = ["s"]> {
    %it = tulle.locate %w level(0) at %i : tensor<?x?xf64, #W> -> !tulle.iterator<#W, 0>
    %s = tulle.space %w level(1) under %it : !tulle.iterator<#W, 0> : tensor<?x?xf64, #W> -> !tulle.space<#W, 1>
    %sum = tulle.iterate %k, %p in %s : !tulle.space<#W, 1> iter_args(%x = %acc) -> (f64) loop = <reduction, index = k> {
      %v = tulle.load %w[%p : !tulle.iterator<#W, 1>] : tensor<?x?xf64, #W> -> f64
      %z = arith.addf %x, %v : f64
      tulle.yield %z : f64
    }
    tulle.yield %sum : f64
  }
  return %r : f64
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#W = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @plan(%a: tensor<?x?xf64, #CSR>) -> (f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %rows = tulle.range %c0 to %m
  %others = tulle.range %c1 to %m
  %w = tulle.assemble (%m, %n) attributes {plan = #tulle<plan count>} {
    // expected-error @+1 {{a row's memory is that of the largest row, and no plan of assemble sizes it}}
    tulle.iterate %i in %rows : !tulle.range loop = <parallel, index = i, of = ["w"], directives = <compute_at = ["i"]>> {
      %it = tulle.locate %a level(0) at %i : tensor<?x?xf64, #CSR> -> !tulle.iterator<#CSR, 0>
      %s = tulle.space %a level(1) under %it : !tulle.iterator<#CSR, 0> : tensor<?x?xf64, #CSR> -> !tulle.space<#CSR, 1>
      tulle.iterate %j, %p in %s : !tulle.space<#CSR, 1> {
        %v = tulle.load %a[%p : !tulle.iterator<#CSR, 1>] : tensor<?x?xf64, #CSR> -> f64
        tulle.insert %v at (%i, %j) : f64
      }
    }
  } : tensor<?x?xf64, #W>
  %r = tulle.iterate %i in %rows : !tulle.range iter_args(%acc = %zero) -> (f64) loop = <reduction, index = i, of = ["s"]> {
    %it = tulle.locate %w level(0) at %i : tensor<?x?xf64, #W> -> !tulle.iterator<#W, 0>
    %s = tulle.space %w level(1) under %it : !tulle.iterator<#W, 0> : tensor<?x?xf64, #W> -> !tulle.space<#W, 1>
    %sum = tulle.iterate %k, %p in %s : !tulle.space<#W, 1> iter_args(%x = %acc) -> (f64) loop = <reduction, index = k> {
      %v = tulle.load %w[%p : !tulle.iterator<#W, 1>] : tensor<?x?xf64, #W> -> f64
      %z = arith.addf %x, %v : f64
      tulle.yield %z : f64
    }
    tulle.yield %sum : f64
  }
  return %r : f64
}
