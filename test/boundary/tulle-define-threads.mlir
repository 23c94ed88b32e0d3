// RUN: tulle-opt %s --tulle-define-threads --split-input-file | FileCheck %s

// CHECK-NOT: llvm.func @tulle_
// CHECK-DAG: llvm.func @GOMP_parallel(!llvm.ptr, !llvm.ptr, i32, i32)
// CHECK-DAG: llvm.func internal @tulle_parallel
// CHECK-DAG: llvm.call @GOMP_parallel(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-DAG: llvm.func internal @tulle_work
// CHECK-DAG: llvm.atomicrmw add
// CHECK-DAG: llvm.func internal @tulle_threads
// CHECK-DAG: llvm.func internal @tulle_ordered_scan
llvm.func @tulle_parallel(i64, !llvm.ptr, !llvm.ptr)
llvm.func @tulle_threads(i64) -> i64
llvm.func @tulle_ordered_scan(i64, i64, i64) -> i64
llvm.func @omp_get_max_threads() -> i32

// -----

// Nothing runs in parallel here.
// CHECK-LABEL: @serial
// CHECK-NOT: GOMP_parallel
llvm.func @serial() {
  llvm.return
}
