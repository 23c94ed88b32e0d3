// Stages 3 and 4: the bounds of segments, and workspaces.

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

def Tulle_FilledBufferOp : Tulle_Op<"filled_buffer",
    [TypesMatchWith<"the value is an element", "result", "value", "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "Memory of the call, every element of which holds one value";
  let description = [{
    ```mlir
    %workspace = tulle.filled_buffer %n, %zero : memref<?xf64>
    ```
    As memref.alloc and a fill, without the fill where the engine keeps memory that an earlier statement, or iteration of the program, has
    given back with `tulle.return_filled_buffer`: a workspace then costs what is done in it, and not its size.
  }];
  let arguments = (ins Index:$size, AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value);
  let results = (outs Res<MemRefRankOf<[AnySignlessInteger, AnyFloat], [1]>, "", [MemAlloc, MemWrite]>:$result);
  let assemblyFormat = "$size `,` $value attr-dict `:` type($result)";
}

def Tulle_ReturnFilledBufferOp : Tulle_Op<"return_filled_buffer",
    [TypesMatchWith<"the value is an element", "buffer", "value", "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "Gives back the memory of a tulle.filled_buffer, every element of which holds the value again";
  let description = [{
    ```mlir
    tulle.return_filled_buffer %workspace, %zero : memref<?xf64>
    ```
    The memory may not be used after it. What is not given back so is freed when the call ends.
  }];
  let arguments = (ins Arg<MemRefRankOf<[AnySignlessInteger, AnyFloat], [1]>, "", [MemFree]>:$buffer,
                       AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value);
  let assemblyFormat = "$buffer `,` $value attr-dict `:` type($buffer)";
}
