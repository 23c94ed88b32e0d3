// Ops that build tensors refuse entries that they cannot build one from.
// RUN: tulle-opt %s --split-input-file --verify-diagnostics --tulle-lower-append-blocks --tulle-lower-workspace --tulle-lower-scatter-levels

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @blocks(%n: index, %v: f64) {
  %e = tulle.entries {
    tulle.insert %v at (%n, %n) : f64
  } : !tulle.entries<2, f64>
  // expected-error @+1 {{expected entries in an order, and of loops, that it can build the tensor from}}
  %b:3 = tulle.append_blocks %e sizes(%n, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @fibers(%n: index, %v: f64) {
  %e = tulle.entries {
    tulle.insert %v at (%n, %n) : f64
  } : !tulle.entries<2, f64>
  // expected-error @+1 {{expected entries in an order, and of loops, that it can build the tensor from}}
  %b:3 = tulle.workspace %e sizes(%n, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  return
}

// -----

#CSF = #tulle.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>

func.func @positions(%n: index, %v: f64) {
  %e = tulle.entries {
    tulle.insert %v at (%n, %n) : f64
  } : !tulle.entries<2, f64>
  // expected-error @+1 {{expected entries in an order, and of loops, that it can build the tensor from}}
  %b:5 = tulle.scatter_levels %e sizes(%n, %n) for tensor<?x?xf64, #CSF> : !tulle.entries<2, f64> -> memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xi64>, memref<?xf64>
  return
}
