// A strategy must be there, and fit.
// RUN: tulle-opt %s --tulle-expand-assembly --split-input-file --verify-diagnostics

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @absent(%n: index, %v: f64) {
  // expected-error @+1 {{expected a strategy, which tulle-choose-assembly sets}}
  %0 = tulle.assemble(%n, %n) {
    tulle.insert %v at (%n, %n) : f64
  } : tensor<?x?xf64, #CSR>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @misfit(%n: index, %v: f64) {
  // expected-error @+1 {{expected a strategy that fits the tensor and the order of its entries, got append}}
  %0 = tulle.assemble(%n, %n) attributes {strategy = #tulle<assembly append>} {
    tulle.insert %v at (%n, %n) : f64
  } : tensor<?x?xf64, #CSR>
  return
}
