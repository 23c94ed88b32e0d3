// Discardable attributes by which one stage tells a later one what the ops do not say. The dialect refuses
// others, and these on other ops or with other values (Attributes.cpp).
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tulle::dialect {

//===--- Of arguments of a function ---===//

/// The tensor's name; results repeat the name of the tensor they replace. Of a linalg.generic in a program of
/// several statements: the statement's name, `y` or `y#2`.
inline constexpr llvm::StringLiteral kNameAttr = "tulle.name";
/// How many entries the tensor stores, where the caller knows (i64).
inline constexpr llvm::StringLiteral kEntriesAttr = "tulle.entries";
/// How many entries a segment of its last level has in the mean, where the caller knows, rounded down to a
/// power of two (i64): code for some tensors serves for those of about the same shape.
inline constexpr llvm::StringLiteral kSegmentAttr = "tulle.segment_length";
/// How many bytes its elements take, all stored, where the caller knows and caches of a core do not hold
/// them, rounded down to a power of two (i64).
inline constexpr llvm::StringLiteral kBytesAttr = "tulle.bytes";
/// Its elements take fewer bytes, where the caller knows that caches hold them (i64).
inline constexpr llvm::StringLiteral kBytesBelowAttr = "tulle.bytes_below";
/// A number; arguments of one type with the same number store the same coordinates at the same positions,
/// because one was made with the other's pattern.
inline constexpr llvm::StringLiteral kPatternAttr = "tulle.pattern";
/// A number for the size of each dimension; dimensions with the same number are equally long, because one
/// index runs over both.
inline constexpr llvm::StringLiteral kSizesAttr = "tulle.sizes";
/// A number for each dimension, or -1: arguments with the same number there have no entries at the same
/// coordinate of that dimension.
inline constexpr llvm::StringLiteral kDisjointAttr = "tulle.disjoint";
/// Every position that the tensor stores is an entry, though its format may have padding.
inline constexpr llvm::StringLiteral kNoPaddingAttr = "tulle.no_padding";
/// Results are written to this argument, first by the statement of that number.
inline constexpr llvm::StringLiteral kStatementAttr = "tulle.statement";
/// The encoding, with slices, of the tensor that the caller has; the argument is the tensor that these were
/// cut from.
inline constexpr llvm::StringLiteral kWholeAttr = "tulle.whole";
/// The number of a slice that the argument, of type index, is (SliceNumberAttr).
inline constexpr llvm::StringLiteral kSliceAttr = "tulle.slice";

/// The encoding that the caller's tensor has before it converts it to the argument's.
inline constexpr llvm::StringLiteral kSourceAttr = "tulle.source";

//===--- Of results of a function ---===//

/// Only later statements of the program read it.
inline constexpr llvm::StringLiteral kIntermediateAttr = "tulle.intermediate";

//===--- Of functions ---===//

/// The loops of the program around it, outermost first (an array of RepeatAttr).
inline constexpr llvm::StringLiteral kLoopsAttr = "tulle.loops";

/// What the compiler splits of the loops of the function's statement, for explanations: loops do not say it
/// (an array of SplitAttr).
inline constexpr llvm::StringLiteral kSplitsAttr = "tulle.splits";

/// What a schedule says of loops, and no pass has done yet (an array of ScheduledAttr; noteDone takes off
/// it).
inline constexpr llvm::StringLiteral kScheduledAttr = "tulle.scheduled";

//===--- Of a module ---===//

/// The processor that the code is for (CpuAttr).
inline constexpr llvm::StringLiteral kCpuAttr = "tulle.cpu";

//===--- Of linalg.generic ---===//

/// What its indices are called.
inline constexpr llvm::StringLiteral kIndicesAttr = "tulle.indices";
/// Its new sparse tensor does not store what equals its fill.
inline constexpr llvm::StringLiteral kDropAttr = "tulle.drop_fill";
/// What its schedule says (ScheduleAttr; read it by scheduleOf).
inline constexpr llvm::StringLiteral kScheduleAttr = "tulle.schedule";

//===--- Of loops and functions ---===//

/// Of a function whose loops load lanes one by one on purpose: LLVM's SLP vectorizer would bring the gathers
/// back that they avoid.
inline constexpr llvm::StringLiteral kScalarLanesAttr = "tulle.scalar_lanes";
/// Of a function: the buffers among its arguments do not overlap, or are only read.
inline constexpr llvm::StringLiteral kNoaliasAttr = "tulle.noalias";
/// Of an scf.for: what it is (LoopAttr; read it by loopOf).
inline constexpr llvm::StringLiteral kLoopAttr = "tulle.loop";
/// Of a function whose loops are many: LLVM does not make more of each (iteration::Costs::largeStatement).
inline constexpr llvm::StringLiteral kLargeAttr = "tulle.large";
/// Of the names of functions that end the call with an error: they do not return.
inline constexpr llvm::StringLiteral kErrorPrefix = "tulle_error_";
/// Of the function that says which of the tensors that a call makes, in their order, the code goes on with.
inline constexpr llvm::StringLiteral kMakingFunction = "tulle_making";
/// Of those of parallel regions: `task<n>_<function>(task, captures…)` is a region, and
/// `launch<n>_<function>(tasks, captures…)` runs all of its tasks.
inline constexpr llvm::StringLiteral kTaskPrefix = "task", kLaunchPrefix = "launch";

} // namespace tulle::dialect
