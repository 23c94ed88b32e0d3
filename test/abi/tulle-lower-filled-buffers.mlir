// RUN: tulle-opt %s --tulle-lower-filled-buffers | FileCheck %s
// RUN: tulle-opt %s | tulle-opt | FileCheck %s --check-prefix=ROUND

// An element is its bytes and its bits, whatever its type.
// CHECK-LABEL: func.func @floats(
// CHECK-SAME: %[[N:.*]]: index
// CHECK-DAG: %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[WORD:.*]] = arith.bitcast %[[INF]] : f32 to i32
// CHECK: %[[BITS:.*]] = arith.extui %[[WORD]] : i32 to i64
// CHECK: %[[BYTES:.*]] = arith.constant 4 : i64
// CHECK: %[[DATA:.*]] = call @tulle_allocate_filled(%[[COUNT]], %[[BYTES]], %[[BITS]]) : (i64, i64, i64) -> !llvm.ptr
// CHECK: llvm.insertvalue %[[COUNT]], %{{.*}}[3, 0]
// CHECK: %[[BUFFER:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xf32>
// CHECK: memref.load %[[BUFFER]]
// CHECK: %[[POINTER:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK: %[[SIZE:.*]] = llvm.extractvalue %{{.*}}[3, 0]
// CHECK: call @tulle_free_filled(%[[POINTER]], %[[SIZE]], %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64, i64) -> ()
// ROUND: %[[B:.*]] = tulle.filled_buffer %{{.*}}, %[[V:.*]] : memref<?xf32>
// ROUND: tulle.return_filled_buffer %[[B]], %[[V]] : memref<?xf32>
func.func @floats(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %inf = arith.constant 0x7F800000 : f32
  %buffer = tulle.filled_buffer %n, %inf : memref<?xf32>
  %x = memref.load %buffer[%c0] : memref<?xf32>
  tulle.return_filled_buffer %buffer, %inf : memref<?xf32>
  return %x : f32
}

// CHECK-LABEL: func.func @words(
// CHECK: %[[BYTES:.*]] = arith.constant 8 : i64
// CHECK: call @tulle_allocate_filled(%{{.*}}, %[[BYTES]], %[[WORD:.*]]) :
func.func @words(%n: index, %word: i64) {
  %buffer = tulle.filled_buffer %n, %word : memref<?xi64>
  tulle.return_filled_buffer %buffer, %word : memref<?xi64>
  return
}
