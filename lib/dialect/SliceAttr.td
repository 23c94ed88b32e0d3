// #tulle.slice_number.

def Tulle_SlicePart : Tulle_Enum<"SlicePart", "the numbers of a slice", ["Offset", "Size", "Stride"]>;
def Tulle_SlicePartAttr : EnumAttr<Tulle_Dialect, Tulle_SlicePart, "slice_part">;

def Tulle_SliceNumberAttr : AttrDef<Tulle_Dialect, "SliceNumber"> {
  let mnemonic = "slice_number";
  let summary = "Which number of the slice that the caller's tensor is an argument of type index holds";
  let description = [{
    The discardable attribute `tulle.slice` of an argument: where the encoding of the tensor `tensor` (its `tulle.name`) has a `?` in the slice
    of dimension `dim`, the caller gives the number with each call.

    ```mlir
    func.func @statement0(%A: tensor<?x?xf64, #CSR> {tulle.name = "A", tulle.whole = #SLICE},
                          %from: index {tulle.name = "A.offset0", tulle.slice = #tulle.slice_number<tensor = "A", dim = 0, part = offset>})
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$tensor, "uint64_t":$dim,
                        EnumParameter<Tulle_SlicePart>:$part);
  let assemblyFormat = "`<` struct(params) `>`";
}
