// The tulle dialect: attributes, types and ops.
#pragma once
#include "format/Encoding.h"
#include "format/Layout.h"
#include "iteration/Cpu.h"
#include "iteration/Set.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tulle::format {
/// Encodings are uniqued by their canonical text.
llvm::hash_code hash_value(const Encoding &encoding);
} // namespace tulle::format
namespace tulle::iteration {
/// Processors likewise.
llvm::hash_code hash_value(const Cpu &cpu);
} // namespace tulle::iteration

namespace tulle::dialect {
struct Directives;
struct SchedulePrimitives;
} // namespace tulle::dialect

#include "dialect/TulleDialect.h.inc"
#include "dialect/TulleEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TulleAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/TulleTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/TulleOps.h.inc"

namespace tulle::dialect {

/// The parameters of #tulle.directives.
struct Directives {
  mlir::ArrayAttr computeAt = {};
  ThreadsAttr parallelize = {};
  uint64_t vectorize = 0, unroll = 0, jam = 0;
  mlir::DictionaryAttr prefetch = {}, cache = {};
  mlir::StringAttr rfactor = {};
  mlir::UnitAttr ifPossible = {};
};
/// The parameters of #tulle.schedule.
struct SchedulePrimitives {
  mlir::DictionaryAttr bound = {};
  mlir::ArrayAttr derived = {}, reorder = {};
  mlir::DictionaryAttr strategy = {}, loops = {};
  mlir::ArrayAttr computeAt = {};
  AssemblyPlanAttr assemble = {};
  AssemblyStrategyAttr workspace = {};
  mlir::UnitAttr ifPossible = {};
};

/// The tensor's encoding; dense in row-major order when it has none.
EncodingAttr getEncoding(mlir::RankedTensorType type);
/// The same shape and element type with another encoding (none when it is dense row-major).
mlir::RankedTensorType withEncoding(mlir::RankedTensorType type, const format::Encoding &encoding);
/// The selection that a tensor of integers is: one more dimension, of which each integer is a coordinate.
mlir::RankedTensorType selectionOf(mlir::RankedTensorType integers);
/// A memref of the dimensions that are not given, at one coordinate of each that is.
mlir::MemRefType sliceType(mlir::MemRefType whole, llvm::ArrayRef<int64_t> given);
/// What `--strategy` may be: the names of the enum.
std::vector<std::string> strategyNames();
/// What an scf.for is by its `tulle.loop`.
LoopAttr loopOf(mlir::Operation *loop);
/// The `loop` of a tulle.iterate or tulle.coiterate; null for other ops.
LoopAttr loopOverSets(mlir::Operation *op);
void setLoopOverSets(mlir::Operation *op, LoopAttr loop);
/// The schedule of a linalg.generic; null without one.
ScheduleAttr scheduleOf(mlir::Operation *statement);
/// Where a primitive (`reorder`, `strategy j`) stands in the user's text, else the statement's own location,
/// which is a FusedLoc of such places, each with its primitive as metadata.
mlir::Location locationOf(mlir::Operation *statement, llvm::StringRef primitive);
/// Where the first primitive that makes loops of others stands.
mlir::Location derivedLocation(mlir::Operation *statement);
/// Where the first primitive that says something of a loop alone stands.
mlir::Location directiveLocation(mlir::Operation *statement, llvm::StringRef loop);
/// What the directives say, each primitive by itself, with its name.
llvm::SmallVector<std::pair<llvm::StringRef, DirectivesAttr>> primitivesOf(DirectivesAttr said);
/// Says of the function that `op` is in that a pass has done this of what the schedule says of the loop.
void noteDone(mlir::Operation *op, LoopAttr loop, const Directives &done);
/// What the schedule says of the loop, where it is still to be done, is said of a loop with that index, which
/// it becomes.
void renameScheduled(mlir::Operation *op, LoopAttr loop, mlir::StringAttr index);
/// The same of what an scf.for caches of a tensor.
void noteCached(mlir::Operation *loop, mlir::StringAttr tensor);
/// The element type that has the IR type; nullopt where none does.
std::optional<ElementType> elementType(mlir::Type type);
/// format::whyNotExecutable for elements of an IR type.
std::string whyNotExecutable(const format::Encoding &encoding, mlir::Type element);

} // namespace tulle::dialect
