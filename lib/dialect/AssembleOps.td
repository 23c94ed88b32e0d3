// Stage 2: tensors that come into being.

def Tulle_CombineAdd : I32EnumAttrCase<"Add", 0, "add">;
def Tulle_CombineMul : I32EnumAttrCase<"Mul", 1, "mul">;
def Tulle_CombineMin : I32EnumAttrCase<"Min", 2, "min">;
def Tulle_CombineMax : I32EnumAttrCase<"Max", 3, "max">;
def Tulle_CombineAnd : I32EnumAttrCase<"And", 4, "and">;
def Tulle_CombineOr : I32EnumAttrCase<"Or", 5, "or">;
def Tulle_CombineXor : I32EnumAttrCase<"Xor", 6, "xor">;
def Tulle_Combine : I32EnumAttr<"Combine", "what becomes of several values at one coordinate",
    [Tulle_CombineAdd, Tulle_CombineMul, Tulle_CombineMin, Tulle_CombineMax, Tulle_CombineAnd, Tulle_CombineOr,
     Tulle_CombineXor]> {
  let cppNamespace = "::tulle::dialect";
  let genSpecializedAttr = 0;
}
def Tulle_CombineAttr : EnumAttr<Tulle_Dialect, Tulle_Combine, "combine">;

def Tulle_PlanAuto : I32EnumAttrCase<"Auto", 0, "auto">;
def Tulle_PlanCount : I32EnumAttrCase<"Count", 1, "count">;
def Tulle_PlanBound : I32EnumAttrCase<"Bound", 2, "bound">;
def Tulle_PlanGrow : I32EnumAttrCase<"Grow", 3, "grow">;
def Tulle_Plan : I32EnumAttr<"AssemblyPlan", "how the memory of a new tensor is sized",
    [Tulle_PlanAuto, Tulle_PlanCount, Tulle_PlanBound, Tulle_PlanGrow]> {
  let cppNamespace = "::tulle::dialect";
  let genSpecializedAttr = 0;
}
def Tulle_PlanAttr : EnumAttr<Tulle_Dialect, Tulle_Plan, "plan">;

def Tulle_AssembleOp : Tulle_Op<"assemble", [AttrSizedOperandSegments, NoTerminator, SingleBlock, RecursiveMemoryEffects, AutomaticAllocationScope]> {
  let summary = "A new tensor that holds the entries its region inserts";
  let description = [{
    ```mlir
    %C = tulle.assemble (%m, %n) bound %count attributes {order = affine_map<(i, j) -> (i, j)>, unique} {
      tulle.iterate …  {
        tulle.insert %v at (%i, %j) : f64
      }
    } : tensor<?x?xf64, #DIA>
    ```
    The region is a description as much as a program: assembly runs copies of its loops, to count first and to store then, so all
    its effects are its inserts.

    Facts about the stream of entries, which whoever writes the loops knows:
    - `order`: expressions of the dimensions' coordinates by which the entries arrive in ascending lexicographic order. Without
      results, or absent: they arrive in any order.
    - `unique`: no coordinates are inserted twice. Otherwise values at equal coordinates are combined by `combine`.
    - `bound`: at most this many inserts run.
    - `entries`: at most this many coordinates are inserted at, however often.

    With `share`, buffers of the tensor that the entries come from may become the new tensor's, where both store the same
    (tulle.convert).

    Constraints:
    1. One size for each dimension; static sizes agree with the type.
    2. `order` has one dimension for each of the tensor's, and no symbols.
    3. The region has no arguments, and inserts of nested tulle.assemble are not its own.
    4. The encoding has no `explicitVal`.
  }];
  let arguments = (ins Variadic<Index>:$sizes, Optional<Index>:$bound, Optional<Index>:$entries, OptionalAttr<AffineMapAttr>:$order, UnitAttr:$unique,
                       DefaultValuedAttr<Tulle_CombineAttr, "::tulle::dialect::Combine::Add">:$combine,
                       DefaultValuedAttr<Tulle_PlanAttr, "::tulle::dialect::AssemblyPlan::Auto">:$plan, UnitAttr:$share);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $sizes `)` (`bound` $bound^)? (`entries` $entries^)? attr-dict-with-keyword $body `:` type($result)";
  let hasVerifier = 1;
}

def Tulle_InsertOp : Tulle_Op<"insert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Puts an entry into the tensor that the enclosing tulle.assemble makes";
  let description = [{
    Constraints:
    1. There is an enclosing tulle.assemble; the coordinates are those of its tensor's dimensions.
    2. The value has the tensor's element type.
  }];
  let arguments = (ins AnyType:$value, Variadic<Index>:$coordinates);
  let assemblyFormat = "$value `at` `(` $coordinates `)` attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tulle_StorageOp : Tulle_Op<"storage", [AttrSizedOperandSegments]> {
  let summary = "The tensor that buffers and sizes make up";
  let description = [{
    The tensor is what the buffers hold where the op stands: it reads them.

    Constraints:
    1. `buffers` are the fields of format::layout of the tensor's encoding, with their types.
    2. One size for each dimension.
  }];
  let arguments = (ins Arg<Variadic<AnyMemRef>, "", [MemRead]>:$buffers, Variadic<Index>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`(` $buffers `)` `sizes` `(` $sizes `)` attr-dict `:` type($buffers) `->` type($result)";
  let hasVerifier = 1;
}
