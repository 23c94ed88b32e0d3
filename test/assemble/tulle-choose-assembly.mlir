// The order of the entries and the levels of the tensor decide; a strategy that the op has stays.
// RUN: tulle-opt %s --tulle-choose-assembly --split-input-file --verify-diagnostics | FileCheck %s

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// CHECK-LABEL: @strategies
func.func @strategies(%n: index, %v: f64, %B: tensor<?x?xf64, #CSR>) {
  // CHECK: tulle.assemble{{.*}}strategy = #tulle<assembly append>
  %0 = tulle.assemble(%n, %n) attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
    tulle.insert %v at (%n, %n) : f64
  } : tensor<?x?xf64, #CSR>
  // CHECK: tulle.assemble{{.*}}strategy = #tulle<assembly workspace>
  %1 = tulle.assemble(%n, %n) attributes {order = affine_map<(i, j) -> (i)>} {
    tulle.insert %v at (%n, %n) : f64
  } : tensor<?x?xf64, #CSR>
  // CHECK: tulle.assemble{{.*}}strategy = #tulle<assembly scatter>
  %2 = tulle.assemble(%n, %n) attributes {order = affine_map<(i, j) -> (j, i)>, unique} {
    tulle.insert %v at (%n, %n) : f64
  } : tensor<?x?xf64, #CSR>
  // CHECK: tulle.assemble{{.*}}strategy = #tulle<assembly radix_sort>
  %3 = tulle.assemble(%n, %n) attributes {order = affine_map<(i, j) -> (j, i)>, strategy = #tulle<assembly radix_sort>, unique} {
    tulle.insert %v at (%n, %n) : f64
  } : tensor<?x?xf64, #CSR>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @misfit(%n: index, %v: f64) {
  // expected-error @+1 {{expected a strategy that fits the tensor and the order of its entries, got append}}
  %0 = tulle.assemble(%n, %n) attributes {order = affine_map<(i, j) -> (j, i)>, strategy = #tulle<assembly append>} {
    tulle.insert %v at (%n, %n) : f64
  } : tensor<?x?xf64, #CSR>
  return
}
