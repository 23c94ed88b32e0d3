// RUN: tulle-opt %s --tulle-define-errors | FileCheck %s

// CHECK: llvm.mlir.global internal constant @[[WIDTH:.*]]("error: a coordinate or position does not fit the width of its field
// CHECK-LABEL: func.func private @tulle_checked_size(
// CHECK-SAME: %{{.*}}: i64, %[[P:.*]]: i64, %[[E:.*]]: i64) -> i64
// CHECK: %[[LOW:.*]], %[[HIGH:.*]] = arith.mulsi_extended %[[P]], %[[E]]
// CHECK: scf.if
// CHECK: } else {
// CHECK: llvm.call @write(%c2{{.*}}
// CHECK: llvm.call @abort()
// CHECK: return %[[LOW]]
func.func private @tulle_checked_size(i64, i64, i64) -> i64
// CHECK-LABEL: func.func private @tulle_fits(
// CHECK: arith.cmpi ule
func.func private @tulle_fits(i64) -> i1
// CHECK-LABEL: func.func private @tulle_error_width(
// CHECK: llvm.mlir.addressof @[[WIDTH]]
// CHECK: llvm.call @write(
// CHECK: llvm.call @abort()
func.func private @tulle_error_width(i64, i64, i64)
// What nobody calls is not there.
// CHECK-NOT: @tulle_error_group
