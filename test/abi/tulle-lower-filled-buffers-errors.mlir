// RUN: tulle-opt %s --tulle-lower-filled-buffers --verify-diagnostics --split-input-file

func.func @bits(%n: index, %no: i1) {
  // expected-error @below {{'tulle.filled_buffer' op expected elements of 1, 2, 4 or 8 bytes, got 'i1'}}
  %buffer = tulle.filled_buffer %n, %no : memref<?xi1>
  tulle.return_filled_buffer %buffer, %no : memref<?xi1>
  return
}

// -----

func.func @wide(%n: index, %x: f128) {
  // expected-error @below {{'tulle.filled_buffer' op expected elements of 1, 2, 4 or 8 bytes, got 'f128'}}
  %buffer = tulle.filled_buffer %n, %x : memref<?xf128>
  tulle.return_filled_buffer %buffer, %x : memref<?xf128>
  return
}
