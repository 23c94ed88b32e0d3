// #tulle.encoding, and the types that name one of its levels.

/// Read by reference: the context keeps it, and copies would be made at every look.
def Tulle_EncodingParameter : AttrParameter<"::tulle::format::Encoding", "", "const ::tulle::format::Encoding &">;

def Tulle_EncodingAttr : AttrDef<Tulle_Dialect, "Encoding",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "encoding";
  let summary = "The map from a tensor's dimensions to storage levels, and the format of each level";
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
  code getFormat = [{
    const ::tulle::format::LevelFormat &getFormat() const { return getEncoding().getValue().levels[getLevel()].format; }
  }];
  let extraClassDeclaration = getFormat;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, EncodingAttr encoding,
                                            unsigned level) {
      if (level < encoding.getValue().levels.size())
        return ::mlir::success();
      return emitError() << "expected a level below " << encoding.getValue().levels.size() << ", got " << level;
    }
  }];
}

def Tulle_SpaceType : Tulle_LevelType<"Space", "space"> {
  let summary = "The stored coordinates of one level below one parent position";
  let extraClassDeclaration = getFormat # [{
    /// The type of the positions of its coordinates.
    IteratorType getIterator() const;
  }];
}

def Tulle_IteratorType : Tulle_LevelType<"Iterator", "iterator"> {
  let summary = "A position at one level (a segment of equal coordinates where the level is nonunique)";
}

def Tulle_RangeType : Tulle_Type<"Range", "range"> {
  let summary = "All coordinates lo <= c < hi";
}

def Tulle_SpaceOrRange : AnyTypeOf<[Tulle_SpaceType, Tulle_RangeType]>;
