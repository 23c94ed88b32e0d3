// Stage 2: tables by which a sparse level is reached at a coordinate.

def Tulle_TableType : MemRefRankOf<[AnyTypeOf<[I32, I64]>], [1]>;

def Tulle_PositionTableOp : Tulle_Op<"position_table", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Writes the position of every coordinate of a space into a table";
  let description = [{
    `table[c]` becomes the position of coordinate `c`, of those that the space stores. The other elements keep what they have:
    tulle.lookup knows positions of other spaces of the level, and all ones, for what they are, so that a table is
    written once before its first use and never cleared.

    Constraints:
    1. The space's level is unique, and compressed or loose_compressed: each position belongs to one parent.
    2. The table has an element for each coordinate of the level, and holds positions of that level of one tensor only, or all ones.
  }];
  let arguments = (ins Tulle_SpaceType:$space, Tulle_TableType:$table);
  let assemblyFormat = "$space `in` $table attr-dict `:` qualified(type($space)) `,` type($table)";
  let hasVerifier = 1;
}

def Tulle_LookupOp : Tulle_Op<"lookup", [MemoryEffects<[MemRead]>]> {
  let summary = "The iterator at a coordinate of a space that is in a table, if it is stored there";
  let description = [{
    Where nothing is found, `found` is false and the iterator must not be used: code that uses it stands under `scf.if %found`.

    Constraints:
    1. tulle.position_table wrote the space into the table.
    2. The level is one that tulle.position_table takes, and the iterator's.
  }];
  let arguments = (ins Tulle_SpaceType:$space, Tulle_TableType:$table, Index:$coordinate);
  let results = (outs Tulle_IteratorType:$result, I1:$found);
  let assemblyFormat = [{
    $coordinate `of` $space `in` $table attr-dict `:` qualified(type($space)) `,` type($table) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}
