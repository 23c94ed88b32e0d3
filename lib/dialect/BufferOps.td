// Stage 3: reads of the buffers of a level.

def Tulle_PositionsType : MemRefRankOf<[I8, I16, I32, I64], [1]>;

def Tulle_SegmentOp : Tulle_Op<"segment", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "The bounds of a segment: an element of a level's positions, and the next one";
  let description = [{
    ```mlir
    %begin, %end = tulle.segment %A_pos1[%i] : memref<?xi32>
    ```
    Elements are zero-extended. The loop from `begin` to `end` iterates over the positions below position `i` of the level above:
    passes query this op, not the shape of the bounds. Canonicalization makes loads of a segment that no loop iterates over, and
    `tulle-expand-segments` of all.
  }];
  let arguments = (ins Arg<Tulle_PositionsType, "the level's positions", [MemRead]>:$positions, Index:$at);
  let results = (outs Index:$begin, Index:$end);
  let assemblyFormat = "$positions `[` $at `]` attr-dict `:` type($positions)";
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Replaces the op by a load of each bound that is used.
    void expand(::mlir::RewriterBase &rewriter);
  }];
}
