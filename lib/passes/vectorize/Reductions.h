// Partial results of reductions in several lanes.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {

/// x with x (op) v == v for every v, where there is one.
std::optional<mlir::TypedAttr> identity(mlir::vector::CombiningKind kind, mlir::Type type);

/// What the lanes of a reduction start from: its identity, or its initial value where starting several lanes
/// from that changes nothing.
mlir::Value startLanes(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, const Lanes &lanes,
                       mlir::Value init);

/// a (op) c
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, mlir::Value a,
                    mlir::Value c);

/// The lanes combined with each other and with `init`.
mlir::Value combineLanes(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction,
                         mlir::Value lanes, mlir::Value init);

/// One vector whose lane r is the lanes of `vectors[r]` combined; as many vectors as lanes, a power of two.
mlir::Value combineEach(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction,
                        llvm::SmallVector<mlir::Value> vectors);

} // namespace tulle::passes
