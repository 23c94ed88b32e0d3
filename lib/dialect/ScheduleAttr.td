// #tulle.schedule and #tulle.directives.

def Tulle_Threads : Tulle_Enum<"Threads", "how the iterations of a loop are divided among threads",
                              ["Auto", "None", "Entries", "Disjoint", "Reduce", "Private", "Destination"]>;
def Tulle_ThreadsAttr : EnumAttr<Tulle_Dialect, Tulle_Threads, "threads">;

def Tulle_CachePlace : Tulle_Enum<"CachePlace", "where loops inside of a loop have a copy of what they read", ["Stack", "Registers"]>;
def Tulle_CachePlaceAttr : EnumAttr<Tulle_Dialect, Tulle_CachePlace, "cache_place">;

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
    | `jam` | how many iterations stand in the bodies of the loops inside of it |
    | `prefetch` | by operand, how many iterations ahead its memory is prefetched; 0: it is not |
    | `cache` | by tensor, where the loops inside have what they read of it (`#tulle<cache_place …>`): in a copy on the stack, or in registers, which hold what they update of it, too |
    | `rfactor` | what the tensor of partial results is called: each iteration has one, and they are combined afterwards |
    | `if_possible` | `compute_at` is the compiler's choice: where it cannot be, the statement has loops of its own, and nothing is reported |

    ```mlir
    #tulle.directives<parallelize = #tulle<threads disjoint>, unroll = 4, prefetch = {x = 16 : i64}>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::ArrayAttr">:$compute_at,
                        OptionalParameter<"::tulle::dialect::ThreadsAttr">:$parallelize,
                        OptionalParameter<"uint64_t">:$vectorize,
                        OptionalParameter<"uint64_t">:$unroll,
                        OptionalParameter<"uint64_t">:$jam,
                        OptionalParameter<"::mlir::DictionaryAttr">:$prefetch,
                        OptionalParameter<"::mlir::DictionaryAttr">:$cache,
                        OptionalParameter<"::mlir::StringAttr">:$rfactor,
                        OptionalParameter<"::mlir::UnitAttr">:$if_possible);
  let builders = [AttrBuilder<(ins "const ::tulle::dialect::Directives &":$all)>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    Directives all() const;
    DirectivesAttr withThreads(Threads threads) const;
    /// Null where nothing else is said.
    DirectivesAttr withoutPlace() const;
    /// The same without partial results.
    DirectivesAttr withoutRfactor() const;
    /// With what `other` says of what these do not; `other` may be null.
    DirectivesAttr orElse(DirectivesAttr other) const;
    /// How many iterations ahead an operand is prefetched; nothing where that is left to the compiler.
    std::optional<int64_t> prefetchOf(::llvm::StringRef operand) const;
    /// The tensors that are cached there.
    ::llvm::SmallVector<::mlir::StringAttr> cachedIn(CachePlace place) const;
    /// Null where nothing else is said.
    DirectivesAttr withoutCache(CachePlace place) const;
  }];
}

def Tulle_ScheduledAttr : AttrDef<Tulle_Dialect, "Scheduled"> {
  let mnemonic = "scheduled";
  let summary = "What one primitive of a schedule says of a loop, and where it stands in the text";
  let description = [{
    The discardable attribute `tulle.scheduled` of a function lists those that no pass has done yet: passes that do what the directives of a
    loop say take them off the list, and what is left is an error (`tulle-check-schedule`). `of` is the statement, where the program has
    several.

    ```mlir
    #tulle.scheduled<loop = "j", of = "y", says = <unroll = 4>, at = loc("--schedule":1:1 to :13)>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$loop, OptionalParameter<"::mlir::StringAttr">:$of,
                        "::tulle::dialect::DirectivesAttr":$says, "::mlir::LocationAttr":$at);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tulle_SplitAttr : AttrDef<Tulle_Dialect, "Split"> {
  let mnemonic = "split";
  let summary = "A loop becomes one over tiles of its coordinates, and one within a tile";
  let description = [{
    Tiles have `size` coordinates, the last one those that are left; or, with `divides`, there are `size` of them.

    ```mlir
    #tulle.split<loop = "j", outer = "j0", inner = "j1", size = 64>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$loop, "::mlir::StringAttr":$outer, "::mlir::StringAttr":$inner, "int64_t":$size,
                        DefaultValuedParameter<"bool", "false">:$divides);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tulle_PositionAttr : AttrDef<Tulle_Dialect, "Position"> {
  let mnemonic = "position";
  let summary = "A loop counts what an operand stores there";
  let description = [{
    Tiles of `position` hold equal numbers of stored entries, where tiles of `loop` hold equal numbers of coordinates.

    ```mlir
    #tulle.position<loop = "j", position = "p", operand = "A">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$loop, "::mlir::StringAttr":$position, "::mlir::StringAttr":$operand);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tulle_FuseAttr : AttrDef<Tulle_Dialect, "Fuse"> {
  let mnemonic = "fuse";
  let summary = "A loop and the one right inside of it are one, over pairs of their coordinates in order";
  let description = [{
    ```mlir
    #tulle.fuse<outer = "i", inner = "j", fused = "f">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$outer, "::mlir::StringAttr":$inner, "::mlir::StringAttr":$fused);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tulle_ScheduleAttr : AttrDef<Tulle_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "What the schedule of a statement says; the compiler chooses the rest";
  let description = [{
    The discardable attribute `tulle.schedule` of a linalg.generic. Loops are named as in `#tulle.loop`: `j`, or the digit `j/4` of it.

    | parameter | says |
    |---|---|
    | `bound` | by index, the size that it has |
    | `derived` | loops that become others (`#tulle.split`, `#tulle.position`, `#tulle.fuse`), in order: a later one may take what an earlier one made |
    | `reorder` | these loops stand in each other in this order, outermost first |
    | `strategy` | how the co-iteration over the loop is lowered |
    | `loops` | the directives of a loop |
    | `compute_at` | the statement is computed in the last of these loops of what reads it; `[]`: in loops of its own |
    | `assemble` | how the memory of the new tensor is sized |
    | `workspace` | where a row of the new tensor is accumulated that lives in one iteration of a loop: `bitmap` or `hashed` |
    | `if_possible` | `compute_at` is the compiler's choice, as in `#tulle.directives` |

    ```mlir
    #tulle.schedule<reorder = ["i", "k", "j"], strategy = {k = #tulle<strategy gallop>}, assemble = count>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::DictionaryAttr">:$bound,
                        OptionalParameter<"::mlir::ArrayAttr">:$derived,
                        OptionalParameter<"::mlir::ArrayAttr">:$reorder,
                        OptionalParameter<"::mlir::DictionaryAttr">:$strategy,
                        OptionalParameter<"::mlir::DictionaryAttr">:$loops,
                        OptionalParameter<"::mlir::ArrayAttr">:$compute_at,
                        OptionalParameter<"::tulle::dialect::AssemblyPlanAttr">:$assemble,
                        OptionalParameter<"::tulle::dialect::AssemblyStrategyAttr">:$workspace,
                        OptionalParameter<"::mlir::UnitAttr">:$if_possible);
  let builders = [AttrBuilder<(ins "const ::tulle::dialect::SchedulePrimitives &":$all)>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    SchedulePrimitives all() const;
    /// The strategy of a loop; nothing where the schedule has none.
    std::optional<Strategy> strategyOf(::llvm::StringRef loop) const;
    /// What is said of a loop; null where that is nothing.
    DirectivesAttr directivesOf(::llvm::StringRef loop) const;
    /// The size that the schedule says an index has.
    std::optional<int64_t> boundOf(::llvm::StringRef index) const;
  }];
}
