// Each constraint of an algorithm is verified.
// RUN: tulle-opt %s --split-input-file --verify-diagnostics


func.func @rows(%b: memref<?xindex>, %n: index) {
  // expected-error @+1 {{expected rows that begin at 0 (constraint 1)}}
  %0 = tulle.scan %b[%n to %n] rows %n init %n : memref<?xindex>
  return
}

// -----

func.func @no_entries(%e: !tulle.entries<1, f64>) {
  // expected-error @+1 {{expected the result of a tulle.entries (constraint 1)}}
  tulle.for_each_entry %e {
  ^bb0(%i: index, %v: f64):
  } : !tulle.entries<1, f64>
  return
}

// -----

func.func @arguments(%n: index, %v: f64) {
  %e = tulle.entries {
    tulle.insert %v at (%n) : f64
  } : !tulle.entries<1, f64>
  // expected-error @+1 {{expected 1 coordinates and a value of type 'f64' as block arguments (constraint 2)}}
  tulle.for_each_entry %e {
  ^bb0(%i: index):
  } : !tulle.entries<1, f64>
  return
}

// -----

func.func @value(%n: index, %v: f32) {
  %e = tulle.entries {
    // expected-error @+1 {{expected a value of type 'f64', got 'f32' (constraint 2)}}
    tulle.insert %v at (%n) : f32
  } : !tulle.entries<1, f64>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @levels(%list: memref<?xi64>, %n: index) {
  // expected-error @+1 {{expected from 1 to 2 levels, got 3 (constraint 1)}}
  %0, %1 = tulle.sort %list, %list count %n by 3 for tensor<?x?xf64, #CSR> : memref<?xi64>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @count(%list: memref<?xi64>, %n: index) {
  // expected-error @+1 {{expected a count of a list, and of nothing else (constraint 3)}}
  %b:3 = tulle.append %list sizes(%n, %n) for tensor<?x?xf64, #CSR> : memref<?xi64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @source(%e: !tulle.entries<2, f64>, %n: index) {
  // expected-error @+1 {{expected the result of a tulle.entries (constraint 3)}}
  %b:3 = tulle.workspace %e sizes(%n, %n) for tensor<?x?xf64, #CSR> : !tulle.entries<2, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  return
}

// -----

#rows = #tulle.encoding<{ map = (i) -> (i : compressed(nonordered)) }>

func.func @row(%n: index, %v: f64) {
  %e = tulle.entries {
    tulle.insert %v at (%n) : f64
  } : !tulle.entries<1, f64>
  // expected-error @+1 {{expected a tensor of one compressed level, which is ordered (constraint 4)}}
  %b:3 = tulle.accumulate %e sizes(%n) for tensor<?xf64, #rows> : !tulle.entries<1, f64> -> memref<?xi64>, memref<?xi64>, memref<?xf64>
  return
}

// -----

#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func @buffers(%list: memref<?xi64>, %n: index) {
  // expected-error @+1 {{expected 3 buffers, got 1 (constraint 1)}}
  %0 = tulle.append %list count %n sizes(%n, %n) for tensor<?x?xf64, #CSR> : memref<?xi64> -> memref<?xf64>
  return
}

// -----

func.func @last_level(%p: memref<?xi64>, %c: memref<?xi64>, %v: memref<?xf64>, %n: index) {
  // expected-error @+1 {{expected a tensor whose last level is compressed or loose_compressed (constraint 1)}}
  tulle.sort_segments %c, %v segments %p[%n to %n] start %n for tensor<?x?xf64> : memref<?xi64>, memref<?xf64>, memref<?xi64>
  return
}
