// Runs of elements of large buffers, which no cache holds, are written past the caches.
#pragma once
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// Bytes of a cache line: what goes past the caches is whole lines.
constexpr int64_t kCacheLine = 64;

/// Whether a buffer is written by streaming stores (i1): no cache holds it, and a line that is read only to
/// be overwritten costs as much again.
mlir::Value isStreamed(const Target &target, mlir::Value buffer);
/// Elements first … first + count - 1 of `from` go to element `at` of `to` and on; both have the same element
/// type, and `to` starts at a cache line. Other threads see what went past the caches behind `fence` only.
void copyElements(const Target &target, mlir::Value from, mlir::Value first, mlir::Value to, mlir::Value at,
                  mlir::Value count);
/// Elements first … last - 1 of `to` become `value`, in the same way.
void fillElements(const Target &target, mlir::Value to, mlir::Value first, mlir::Value last,
                  mlir::Value value);
void fence(const levels::Emitter &e);

} // namespace tulle::assemble
