// #tulle.encoding, and the types that name one of its levels.

/// Read by reference: the context keeps it, and copies would be made at every look.
def Tulle_EncodingParameter : AttrParameter<"::tulle::format::Encoding", "", "const ::tulle::format::Encoding &">;

def Tulle_EncodingAttr : AttrDef<Tulle_Dialect, "Encoding",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "encoding";
  let summary = "How a tensor's dimensions become storage levels, and how each level is stored";
  let description = [{
    The text between `<` and `>` is the encoding language of docs/design/formats.md, the same that the command line
    takes. A tensor type without an encoding is dense in row-major order.

    ```mlir
    #CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
    func.func @f(%A: tensor<?x?xf64, #CSR>)
    ```
  }];
  let parameters = (ins Tulle_EncodingParameter:$value);
  let hasCustomAssemblyFormat = 1;
}

class Tulle_Type<string name, string typeMnemonic> : TypeDef<Tulle_Dialect, name> {
  let mnemonic = typeMnemonic;
}

/// A type that names one level of an encoding; the encoding has that level.
class Tulle_LevelType<string name, string typeMnemonic> : Tulle_Type<name, typeMnemonic> {
  let parameters = (ins "::tulle::dialect::EncodingAttr":$encoding, "unsigned":$level);
  let assemblyFormat = "`<` qualified($encoding) `,` $level `>`";
  let genVerifyDecl = 1;
}

def Tulle_SpaceType : Tulle_LevelType<"Space", "space"> {
  let summary = "The stored coordinates of one level below one parent position";
}

def Tulle_IteratorType : Tulle_LevelType<"Iterator", "iterator"> {
  let summary = "A position at one level (a segment of equal coordinates where the level is nonunique)";
}

def Tulle_RangeType : Tulle_Type<"Range", "range"> {
  let summary = "All coordinates lo <= c < hi";
}
