// #tulle.schedule.

def Tulle_ScheduleAttr : AttrDef<Tulle_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "What the schedule of a statement says; the compiler chooses the rest";
  let description = [{
    The discardable attribute `tulle.schedule` of a linalg.generic. Loops are named as in `#tulle.loop`: `j`, or the digit `j/4` of it.

    | parameter | says |
    |---|---|
    | `reorder` | these loops stand in each other in this order, outermost first |
    | `strategy` | how the co-iteration over the loop is lowered |
    | `assemble` | how the memory of the new tensor is sized |

    ```mlir
    #tulle.schedule<reorder = ["i", "k", "j"], strategy = {k = #tulle<strategy gallop>}, assemble = count>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::ArrayAttr">:$reorder,
                        OptionalParameter<"::mlir::DictionaryAttr">:$strategy,
                        OptionalParameter<"::tulle::dialect::AssemblyPlanAttr">:$assemble);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The strategy of a loop; nothing where the schedule has none.
    std::optional<Strategy> strategyOf(::llvm::StringRef loop) const;
  }];
}
