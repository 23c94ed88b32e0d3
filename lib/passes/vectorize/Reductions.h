// Vector accumulators of reductions.
#pragma once
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {

/// x with x (op) v == v for every v, where there is one.
std::optional<mlir::TypedAttr> identity(mlir::vector::CombiningKind kind, mlir::Type type);

/// The initial vector of a reduction: its identity, or the initial value where combining that several times
/// changes nothing (minima, maxima).
mlir::Value initialLanes(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction,
                         const Lanes &lanes, mlir::Value init);

/// a (op) c
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, mlir::Value a,
                    mlir::Value c);

/// The horizontal reduction of the lanes, combined with `init`.
mlir::Value reduceLanes(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, mlir::Value lanes,
                        mlir::Value init);

/// One vector whose lane r is the horizontal reduction of `vectors[r]`; as many vectors as lanes, a power of
/// two.
mlir::Value reduceEach(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction,
                       llvm::SmallVector<mlir::Value> vectors);

} // namespace tulle::passes
