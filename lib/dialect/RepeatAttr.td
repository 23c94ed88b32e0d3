// #tulle.repeat.

def Tulle_RepeatAttr : AttrDef<Tulle_Dialect, "Repeat"> {
  let mnemonic = "repeat";
  let summary = "A loop of a program: consecutive functions that run again and again";
  let description = [{
    An element of the discardable attribute `tulle.loops` of a function, which lists the loops around it, outermost first. The functions of
    a loop follow each other in the module, and run in their order: at least once, at most `most` times, and not again once the tensor
    `until`, a truth value that the last of them computes, is true. Loops with the same number are one loop.

    ```mlir
    func.func @statement1(…) attributes {tulle.loops = [#tulle.repeat<number = 0, most = 500, until = "until">]}
    ```
  }];
  let parameters = (ins "int64_t":$number, "int64_t":$most, OptionalParameter<"::mlir::StringAttr">:$until);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
