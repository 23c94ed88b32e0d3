// The primitives of a schedule as ops of the transform dialect, each on a linalg.generic.
include "dialect/TulleOps.td"
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// An op that says something of each statement: it changes `tulle.schedule`, and the handle stays valid.
class Tulle_PrimitiveOp<string mnemonic> : Op<Transform_Dialect, "tulle." # mnemonic,
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TransformOpInterface, TransformEachOpTrait,
     ReportTrackingListenerFailuresOpTrait]> {
  let cppNamespace = "::tulle::transform";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(::mlir::transform::TransformRewriter &rewriter,
                                                   ::mlir::linalg::GenericOp target,
                                                   ::mlir::transform::ApplyToEachResultList &results,
                                                   ::mlir::transform::TransformState &state);
  }];
}

def Tulle_ReorderOp : Tulle_PrimitiveOp<"reorder"> {
  let summary = "The loops over these indices stand in each other in this order, outermost first";
  let description = [{
    ```mlir
    transform.tulle.reorder %C ["i", "k", "j"] : !transform.any_op
    ```
    Loops are named as in `#tulle.loop`: `i`, or the digit `i/4` of it. A second one for a statement is an error.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrArrayAttr:$loops);
  let assemblyFormat = "$target $loops attr-dict `:` type($target)";
}

def Tulle_CoiterationStrategyOp : Tulle_PrimitiveOp<"strategy"> {
  let summary = "How the sets of coordinates are iterated that several sparse operands have in a loop";
  let description = [{
    ```mlir
    transform.tulle.strategy %y over "j" gallop : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop, Tulle_StrategyAttr:$strategy);
  let assemblyFormat = "$target `over` $loop $strategy attr-dict `:` type($target)";
}

def Tulle_AssembleWithOp : Tulle_PrimitiveOp<"assemble"> {
  let summary = "How the memory of the statement's new tensor is sized";
  let description = [{
    ```mlir
    transform.tulle.assemble %C count : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, Tulle_PlanAttr:$plan);
  let assemblyFormat = "$target $plan attr-dict `:` type($target)";
}

def Tulle_AccumulateInOp : Tulle_PrimitiveOp<"workspace"> {
  let summary = "What accumulates a row of the statement's new tensor that lives in one iteration of a loop";
  let description = [{
    ```mlir
    transform.tulle.compute_at %w ["i"] : !transform.any_op
    transform.tulle.workspace %w hashed : !transform.any_op
    ```
    `bitmap` is an array with a bit set of the coordinates that are stored, and what there is without the op; `hashed` is a hash table.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, Tulle_AssemblyStrategyAttr:$kind);
  let assemblyFormat = "$target $kind attr-dict `:` type($target)";
}

def Tulle_ConvertOperandOp : Tulle_PrimitiveOp<"convert"> {
  let summary = "The statement computes on an operand in another format";
  let description = [{
    ```mlir
    transform.tulle.convert %C operand "A" to (#CSC) : !transform.any_op
    ```
    A `tulle.convert` stands before the statement. The operand is named as the function's argument (`tulle.name`); widths are those of the format
    given.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$operand, Tulle_EncodingAttr:$format);
  let assemblyFormat = "$target `operand` $operand `to` `(` qualified($format) `)` attr-dict `:` type($target)";
}

def Tulle_ParallelizeOp : Tulle_PrimitiveOp<"parallelize"> {
  let summary = "How the iterations of a loop are divided among threads";
  let description = [{
    ```mlir
    transform.tulle.parallelize %y over "i" disjoint : !transform.any_op
    ```
    `auto` leaves the way to the compiler, `none` the loop to one thread.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop, Tulle_ThreadsAttr:$threads);
  let assemblyFormat = "$target `over` $loop $threads attr-dict `:` type($target)";
}

class Tulle_CountOp<string mnemonic> : Tulle_PrimitiveOp<mnemonic> {
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop, ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let assemblyFormat = "$target `over` $loop `by` $count attr-dict `:` type($target)";
}

def Tulle_VectorizeOp : Tulle_CountOp<"vectorize"> {
  let summary = "How many iterations of a loop a vector instruction does";
  let description = [{
    ```mlir
    transform.tulle.vectorize %y over "j" by 8 : !transform.any_op
    ```
    A power of two; 1: no vectors.
  }];
}

def Tulle_UnrollOp : Tulle_CountOp<"unroll"> {
  let summary = "How many iterations, or vectors of them, stand in a loop's body";
  let description = [{
    ```mlir
    transform.tulle.unroll %y over "j" by 4 : !transform.any_op
    ```
    A power of two.
  }];
}

def Tulle_JamOp : Tulle_CountOp<"jam"> {
  let summary = "How many iterations of a loop stand in the bodies of the loops inside of it (unroll and jam)";
  let description = [{
    ```mlir
    transform.tulle.jam %C over "j" by 4 : !transform.any_op
    ```
  }];
}

def Tulle_PrefetchOp : Tulle_PrimitiveOp<"prefetch"> {
  let summary = "How many iterations of a loop ahead an operand's memory is prefetched";
  let description = [{
    ```mlir
    transform.tulle.prefetch %y operand "x" over "j" by 16 : !transform.any_op
    ```
    0: it is not prefetched.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$operand, StrAttr:$loop,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$distance);
  let assemblyFormat = "$target `operand` $operand `over` $loop `by` $distance attr-dict `:` type($target)";
}

def Tulle_CacheOp : Tulle_PrimitiveOp<"cache"> {
  let summary = "The loops inside of a loop read a copy of an operand on the stack, or have in registers what they read or update of a tensor";
  let description = [{
    ```mlir
    transform.tulle.cache %C operand "B" over "i" in stack : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$operand, StrAttr:$loop, Tulle_CachePlaceAttr:$place);
  let assemblyFormat = "$target `operand` $operand `over` $loop `in` $place attr-dict `:` type($target)";
}

class Tulle_TilesOp<string mnemonic> : Tulle_PrimitiveOp<mnemonic> {
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop, StrArrayAttr:$into,
                       ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let assemblyFormat = "$target `over` $loop `into` $into `by` $count attr-dict `:` type($target)";
}

def Tulle_SplitOp : Tulle_TilesOp<"split"> {
  let summary = "A loop becomes one over tiles of so many coordinates, and one within a tile";
  let description = [{
    ```mlir
    transform.tulle.split %C over "j" into ["j0", "j1"] by 64 : !transform.any_op
    ```
  }];
}

def Tulle_DivideOp : Tulle_TilesOp<"divide"> {
  let summary = "A loop becomes one over so many tiles, and one within a tile";
  let description = [{
    ```mlir
    transform.tulle.divide %C over "j" into ["j0", "j1"] by 4 : !transform.any_op
    ```
  }];
}

def Tulle_PosOp : Tulle_PrimitiveOp<"pos"> {
  let summary = "A loop counts what an operand stores there: its tiles are equal numbers of entries";
  let description = [{
    ```mlir
    transform.tulle.pos %y operand "A" over "j" as "p" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$operand, StrAttr:$loop, StrAttr:$position);
  let assemblyFormat = "$target `operand` $operand `over` $loop `as` $position attr-dict `:` type($target)";
}

def Tulle_FuseOp : Tulle_PrimitiveOp<"fuse"> {
  let summary = "A loop and the one right inside of it are one loop";
  let description = [{
    ```mlir
    transform.tulle.fuse %y ["i", "j"] as "f" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrArrayAttr:$loops, StrAttr:$fused);
  let assemblyFormat = "$target $loops `as` $fused attr-dict `:` type($target)";
}

def Tulle_RfactorOp : Tulle_PrimitiveOp<"rfactor"> {
  let summary = "Each iteration of a loop has a partial result, and these are combined afterwards";
  let description = [{
    ```mlir
    transform.tulle.rfactor %y over "j0" into "w" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop, StrAttr:$tensor);
  let assemblyFormat = "$target `over` $loop `into` $tensor attr-dict `:` type($target)";
}

def Tulle_BoundOp : Tulle_CountOp<"bound"> {
  let summary = "The size that an index has";
  let description = [{
    ```mlir
    transform.tulle.bound %C over "k" by 16 : !transform.any_op
    ```
    The code is for that size alone: who runs it makes sure that the tensors have it.
  }];
}

def Tulle_ComputeAtOp : Tulle_PrimitiveOp<"compute_at"> {
  let summary = "The statement is computed in the last of these loops of what reads it";
  let description = [{
    ```mlir
    transform.tulle.compute_at %e ["i_block", "i"] : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrArrayAttr:$loops);
  let assemblyFormat = "$target $loops attr-dict `:` type($target)";
}

def Tulle_ComputeRootOp : Tulle_PrimitiveOp<"compute_root"> {
  let summary = "The statement is computed in loops of its own";
  let description = [{
    ```mlir
    transform.tulle.compute_root %e : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}
