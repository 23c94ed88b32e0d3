// Tensors made from a short text: `random:7`, `grid2d:1000`, `uniform:200000:200000:16`, … (fixed seeds, same
// bits everywhere).
#pragma once
#include "runtime/io/Io.h"

namespace tulle::runtime {

/// True when `spec` names a generator rather than a file.
bool isGenerator(std::string_view spec);

/// random[:seed[:density]] (uniform in [0,1); density < 1: that fraction stored), ones, iota fill `dims`;
/// grid2d:N (5-point), grid3d27:N (27-point), uniform:rows:cols:nnz-per-row, nm:rows:cols:n:m (n of every m
/// columns of a row), rmat:scale:degree imply their sizes, and so do orders, of integers:
/// permutation:size[:seed], and the coordinates along curves, rows * cols x 2, hilbert:rows:cols and
/// morton:rows:cols. Sizes must agree with `dims` where those are given (non-empty). Throws Error for bad
/// arguments and sizes beyond memory.
FileContents generate(std::string_view spec, const std::vector<int64_t> &dims, ElementType type);

/// The sizes a spec implies; nullopt when it takes them from the expression.
std::optional<std::vector<int64_t>> impliedDims(std::string_view spec);

} // namespace tulle::runtime
