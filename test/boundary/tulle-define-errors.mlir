// RUN: tulle-opt %s --tulle-define-errors | FileCheck %s

// CHECK-LABEL: func.func private @tulle_checked_size(
// CHECK-SAME: %{{.*}}: i64, %[[P:.*]]: i64, %[[E:.*]]: i64) -> i64
// CHECK: %[[LOW:.*]], %[[HIGH:.*]] = arith.mulsi_extended %[[P]], %[[E]]
// CHECK: cf.assert %{{.*}}, "a level has more positions than any memory holds
// CHECK: return %[[LOW]]
func.func private @tulle_checked_size(i64, i64, i64) -> i64
// CHECK-LABEL: func.func private @tulle_fits(
// CHECK: arith.cmpi ule
func.func private @tulle_fits(i64) -> i1
// CHECK-LABEL: func.func private @tulle_error_width(
// CHECK: cf.assert %false, "a coordinate or position does not fit the width of its field
func.func private @tulle_error_width(i64, i64, i64)
// What nobody calls is not there.
// CHECK-NOT: @tulle_error_group
