// Levels that are built by position: attribute queries that size them, then stores of entries at their
// positions.
#pragma once
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/ColumnTiles.h"
#include "passes/assemble/algorithms/Counters.h"
#include "passes/assemble/choose/Strategies.h"

namespace tulle::assemble {

/// The level that numbers the entries of each row, where it and the row make the positions: the slots of a
/// row without an entry are then its last ones (ELL).
std::optional<unsigned> numberedPadding(const Target &target, const Order &order);

/// The dimension whose entries the positions of a dense level count; null where that is not all it does.
std::optional<unsigned> countedDimension(const format::Expr &e, const levels::LevelFormat &format);

/// Builds all levels from the top. A level is first queried, if its size depends on the entries, then sized;
/// when all have their sizes, a last copy of the loops inserts each entry into them. A copy has counters, and
/// knows the entry before: these are restarted with each.
class Scatter {
public:
  /// `pairs` (ScatterLevelsOp), and whether positions that are stored to after each other are in the cache
  /// (i1), if known.
  Scatter(Target &target, const Stream &stream, mlir::Value pairs, bool parallel, mlir::Value cacheResident)
      : b(target.builder), target(target), stream(stream), order(stream.order), pairs(pairs),
        cacheResident(cacheResident), ranks(target, order),
        iterations(ranks.any() ? std::nullopt : iterationDimension(*stream.loops)),
        ownCounters(target, order, iterations),
        tiledLevel(ranks.any() ? std::nullopt : TiledLevel::find(target, order)), builds(target.levels()),
        parents(target.constant(1)) {
    for (auto [l, build] : llvm::enumerate(builds))
      build.level = unsigned(l);
    if (parallel && canRunInParallel())
      chunks = threads();
  }

  /// Makes the target's buffers.
  void run();

private:
  const levels::LevelFormat &format(unsigned l) const { return *levels::find(target.format(l)); }
  const format::Level &level(unsigned l) const { return target.encoding().levels[l]; }

  /// What a copy of the loops finds out.
  struct Query {
    llvm::ArrayRef<unsigned> levels;  ///< that are queried
    unsigned end = 0;                 ///< behind the last of these
    bool ofRanks = false;             ///< and the ranks are
    bool needsNumbers = false;        ///< of counters
    mlir::Value rankCounts;           ///< entries of each coordinate that is ranked, if the copy counts them
    levels::Values counts;            ///< per level: of a dimension, whose longest count answers the query
    std::optional<unsigned> numbered; ///< the level whose query is how many entries iterations have
  };

  mlir::Value zero() const { return target.constant(0); }
  mlir::Value chunkCount() const { return chunks ? chunks : target.constant(1); }
  mlir::Value numberOf(const parallel::Chunk *chunk) const { return chunk ? chunk->index : zero(); }
  /// Whether a level must be told which entries are its first ones.
  bool tellsFirst(unsigned l) const {
    return insertionOf(level(l)) != levels::Insertion::Computed && !isLeaf(target.encoding(), l);
  }
  /// Whether the iterations of the outermost loop are the coordinates that tiles are made of.
  bool tileIterations() const { return iterations == tiledLevel->dim; }

  /// Whether coordinates alone give the positions: different ones are stored apart, whatever was inserted
  /// before.
  bool computesPositions() const {
    return !ranks.any() && !tiledLevel && llvm::all_of(llvm::seq(target.levels()), [&](unsigned l) {
      return insertionOf(level(l)) == levels::Insertion::Computed &&
             !format::contains(order.levels[l], format::ExprKind::Counter);
    });
  }
  bool canRunInParallel() const;
  mlir::Value threads() const;
  void forEachChunk(llvm::function_ref<void(const parallel::Chunk *)> body);
  void atIterations(mlir::Operation *loop, llvm::function_ref<void(mlir::Value)> start,
                    llvm::function_ref<void(mlir::Value)> end);
  void analyse();
  void query(llvm::ArrayRef<unsigned> queried);
  Query startQuery(llvm::ArrayRef<unsigned> queried);
  bool isCounted(const Query &query, unsigned l) const;
  void queryEntry(const Query &query, mlir::ValueRange dims);
  levels::Answering answeringOf(const Query &query) const;
  llvm::SmallVector<mlir::Value> answeringCoordinates(const Query &query, mlir::ValueRange dims) const;
  mlir::Value queryLongestIteration(OnCoordinates atEntry, const Query &query, levels::Answering answering,
                                    llvm::SmallVectorImpl<mlir::Value> &extremes);
  void size(unsigned l);
  void restart();
  levels::Values coordinates(mlir::ValueRange dims, bool numbered = true);
  std::pair<Target *, mlir::Value> insertEntry(mlir::ValueRange dims, mlir::ValueRange at);
  void store();
  void storeInTiles(OnInsert insert);
  void storeDirectly(OnInsert insert);
  void fillPadding();
  bool canFillRows() const;
  void fillRow(mlir::Value row);
  bool copyWholeRow();
  mlir::Operation *storeChunk(const parallel::Chunk *chunk, OnInsert insert);
  void fillRowPadding();
  void finishSegments(unsigned bucket);

  mlir::OpBuilder &b;
  Target &target;
  const Stream &stream;
  const Order &order;
  mlir::Value pairs, cacheResident;
  Ranks ranks;
  std::optional<unsigned> iterations; ///< the dimension that the outermost loop iterates over, if it does
  Counters ownCounters;
  Counters *counters = &ownCounters;    ///< in a parallel region, those of the chunk
  bool ranked = false;                  ///< the ranks are known
  mlir::Value entryCounts;              ///< of the rows whose entries a level numbers: the rest is padding
  bool padsIterations = false;          ///< padding is filled when an iteration, which is a row, ends
  mlir::Value fillsRows;                ///< a row is filled when its iteration begins (i1), if it can be
  std::optional<TiledLevel> tiledLevel; ///< whose coordinates are assembled a tile at a time
  std::optional<ColumnTiles> tiles;     ///< of the chunk in the making
  llvm::SmallVector<levels::LevelBuild> builds;
  std::vector<Register>
      last; ///< coordinates of the entry before, as deep as levels must tell their first ones
  mlir::Value parents, batches; ///< positions of the levels that have their size
  mlir::Value chunks;           ///< of the stream, for threads; null without threads
};

} // namespace tulle::assemble
