// #tulle.schedule and #tulle.directives.

def Tulle_Threads : Tulle_Enum<"Threads", "how the iterations of a loop are divided among threads",
                              ["Auto", "None", "Entries", "Disjoint", "Reduce", "Private"]>;
def Tulle_ThreadsAttr : EnumAttr<Tulle_Dialect, Tulle_Threads, "threads">;

def Tulle_DirectivesAttr : AttrDef<Tulle_Dialect, "Directives"> {
  let mnemonic = "directives";
  let summary = "What a schedule says of one loop, and what passes decided about it";
  let description = [{
    | parameter | says |
    |---|---|
    | `compute_at` | the loop's statement is computed in the last of these loops of what reads it; `[]`: in loops of its own |
    | `parallelize` | how iterations are divided among threads |
    | `vectorize` | how many iterations a vector instruction does |
    | `unroll` | how many iterations stand in the loop's body |

    ```mlir
    #tulle.directives<parallelize = #tulle<threads disjoint>, unroll = 4>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::ArrayAttr">:$compute_at,
                        OptionalParameter<"::tulle::dialect::ThreadsAttr">:$parallelize,
                        OptionalParameter<"uint64_t">:$vectorize,
                        OptionalParameter<"uint64_t">:$unroll);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    DirectivesAttr withThreads(Threads threads) const;
    /// Null where nothing else is said.
    DirectivesAttr withoutPlace() const;
    /// With what `other` says of what these do not; `other` may be null.
    DirectivesAttr orElse(DirectivesAttr other) const;
  }];
}

def Tulle_ScheduleAttr : AttrDef<Tulle_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "What the schedule of a statement says; the compiler chooses the rest";
  let description = [{
    The discardable attribute `tulle.schedule` of a linalg.generic. Loops are named as in `#tulle.loop`: `j`, or the digit `j/4` of it.

    | parameter | says |
    |---|---|
    | `reorder` | these loops stand in each other in this order, outermost first |
    | `strategy` | how the co-iteration over the loop is lowered |
    | `loops` | the directives of a loop |
    | `compute_at` | the statement is computed in the last of these loops of what reads it; `[]`: in loops of its own |
    | `assemble` | how the memory of the new tensor is sized |

    ```mlir
    #tulle.schedule<reorder = ["i", "k", "j"], strategy = {k = #tulle<strategy gallop>}, assemble = count>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::ArrayAttr">:$reorder,
                        OptionalParameter<"::mlir::DictionaryAttr">:$strategy,
                        OptionalParameter<"::mlir::DictionaryAttr">:$loops,
                        OptionalParameter<"::mlir::ArrayAttr">:$compute_at,
                        OptionalParameter<"::tulle::dialect::AssemblyPlanAttr">:$assemble);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The strategy of a loop; nothing where the schedule has none.
    std::optional<Strategy> strategyOf(::llvm::StringRef loop) const;
    /// What is said of a loop; null where that is nothing.
    DirectivesAttr directivesOf(::llvm::StringRef loop) const;
  }];
}
