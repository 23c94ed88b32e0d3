// Builds the loops of one statement: stage 1 to stage 2.
#pragma once
#include "iteration/CostModel.h"
#include "levels/Indices.h"
#include "passes/sparsify/Statement.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace tulle::passes {

/// How far one operand has followed the loops.
struct OperandState {
  llvm::SmallVector<mlir::Value> iterators; ///< of the levels reached so far
  bool absent = false;                      ///< no entry here
  mlir::Value value;                        ///< loaded, once all levels are reached
  /// Whether there is an entry here is known only where the code runs, by the flag `present`. Without one the
  /// iterators are of no entry, and the value is the fill.
  bool uncertain = false;
  mlir::Value present;
};

/// The coordinates that a loop with presence flags visits: those that all required operands have, and one of
/// the others if `oneOf`. With `universe`, all coordinates.
struct FlaggedSet {
  llvm::SmallVector<bool> required; ///< per participant
  bool oneOf = false, universe = false;
  std::string print() const;
};

/// What a loop visits: the coordinates of its minterms, ascending, or of the set that its flags are for.
struct VisitedSet {
  llvm::SmallVector<unsigned> participants;
  llvm::SmallVector<unsigned> minterms = {};
  std::optional<FlaggedSet> flags = {};

  bool empty() const { return !flags && minterms.empty(); }
  /// Whether coordinates that no participant has are among them.
  bool hasGaps() const { return flags ? flags->universe : minterms[0] == 0; }
};

/// What a loop over tiles, or within one, visits.
struct Tile {
  mlir::Value begin, end; ///< coordinates; or positions
  const iteration::Position *position = nullptr;
  std::optional<SparseStatement::CountedLevel> counted = {}; ///< whose positions these are
};

/// Everything that the body of a loop depends on. Copied where the code branches.
struct LoopState {
  std::vector<OperandState> operands;   ///< inputs, then the result
  std::vector<mlir::Value> coordinates; ///< per loop of the plan; null outside it
  /// What the loops carry: the result tensor, or the scalar accumulated for one of its elements (of a new
  /// tensor, next to it whether anything was); nothing in the outer loops of a new tensor.
  levels::Values carried;
  bool scalar = false;               ///< `carried` is the scalar
  std::map<std::string, Tile> tiles; ///< that have been computed, by loop
};

class LoopEmitter : levels::IndicesAt {
  using Carried = levels::Values;

public:
  LoopEmitter(mlir::OpBuilder &builder, SparseStatement &statement, const iteration::Plan &plan,
              dialect::Strategy strategy);
  /// Whether a case for each set of operands that may meet would be too much code.
  bool isOverBudget();
  /// The result tensor; null after a diagnostic.
  Value emit();
  /// The same with loops over the levels of one operand outside, which bind the first loops of the plan.
  Value emit(const StorageTraversal &traversal);
  /// Fails with a diagnostic where the schedule has a strategy for a loop that cannot have it.
  mlir::LogicalResult checkSchedule() const;
  /// Lists what the schedule says of loops as what is to be done in the function.
  void listSchedule() const;

private:
  // Emitter.cpp: the loops
  /// Outside of all loops.
  LoopState outermost() const;
  Value filledInit();
  Carried loops(LoopState s, unsigned depth);
  Carried element(LoopState s, unsigned depth);
  /// The element at `iterator` of the result: what `contributions` makes of it in a register, then stored.
  Carried accumulate(const LoopState &s, Value iterator,
                     llvm::function_ref<Carried(const LoopState &)> contributions);
  Carried leaf(LoopState s);
  /// `done`: what values of the body are known to be.
  Carried body(LoopState &s, llvm::DenseMap<Value, Value> done = llvm::DenseMap<Value, Value>());
  mlir::arith::SelectOp contributionWhere(const LoopState &s);
  Value bodyValue(LoopState &s, Value v, llvm::DenseMap<Value, Value> &done);
  Carried loop(LoopState &s, unsigned depth, const VisitedSet &set, bool counted);
  /// Whether the loop would visit one coordinate at most, which its only participant has.
  bool isGiven(unsigned depth, const VisitedSet &set) const;
  Carried atGiven(LoopState s, unsigned depth, unsigned operand);
  bool countsCoordinates(unsigned depth) const;
  bool areGapsAlike(const LoopState &s, unsigned depth, llvm::ArrayRef<unsigned> participants);
  Value times(Value value, Value count);
  /// `stored`: the loop over what is stored, or null where nothing stored is visited.
  Carried remainder(LoopState s, unsigned depth, llvm::ArrayRef<unsigned> participants,
                    llvm::function_ref<Carried()> stored);
  /// The code of one loop iteration in `block`, whose arguments are the coordinate, one iterator per present
  /// participant, their presence flags, if they have some, and the carried values.
  void fillBody(mlir::Block &block, LoopState s, unsigned depth, const VisitedSet &set, unsigned minterm,
                bool counted);
  /// A value as wide as the type: floats are extended or rounded.
  Value resized(Value value, mlir::Type type);
  dialect::SearchOp searchNext(LoopState &s, unsigned operand);

  // Analysis.cpp: loops whose body stands once, with a presence flag for each operand
  bool usesFlags(const LoopState &s, unsigned depth, llvm::ArrayRef<unsigned> participants);
  /// Inside of such a loop: participants that the set does not require are uncertain.
  LoopState withFlags(const LoopState &s, llvm::ArrayRef<unsigned> participants, const FlaggedSet &set) const;
  FlaggedSet flaggedSet(const LoopState &s, llvm::ArrayRef<unsigned> participants);
  Carried flaggedLeaf(LoopState s);
  void search(LoopState &s, unsigned operand);
  Value condition(const LoopState &s, unsigned operand);
  Carried fills(llvm::ArrayRef<unsigned> operands);
  bool isUncertain(const LoopState &s) const;
  bool isRead(const LoopState &s, unsigned operand);
  void dropUnread(LoopState &s);

  // Analysis.cpp: which loops these are
  iteration::Choice<unsigned> chooseFlags(const LoopState &s, unsigned depth);
  void useFlags(const LoopState &s, unsigned depth);
  /// Adds what the loops from `depth` on would be in operations, until `size` is above `enough`.
  void measure(LoopState s, unsigned depth, int64_t copies, int64_t enough, int64_t &size);
  int64_t leafSize(const LoopState &s);

  // StorageTraversal.cpp: an operand traversed as it is stored
  Carried traverseLevels(LoopState s, const StorageTraversal &traversal, llvm::ArrayRef<Value> coordinates);
  Carried traverseLeaf(LoopState s, const StorageTraversal &traversal, llvm::ArrayRef<Value> coordinates);
  Carried traversalLoop(LoopState s, Value over, dialect::LoopAttr attr,
                        llvm::function_ref<Carried(LoopState, Value, Value)> body);
  mlir::StringAttr indexOfLevel(const StorageTraversal &traversal, size_t level);
  bool separatesResults(const StorageTraversal &traversal, size_t level) const;
  bool isInterchanged(const StorageTraversal &traversal, size_t level);

  // Results.cpp: narrow results whose elements are added to again and again
  bool sumsWide() const;
  /// The elements of the result below the levels that `s` has reached: what `contributions` makes of them in
  /// a workspace of the type they are summed in, then narrowed once and stored.
  Carried inWorkspace(const LoopState &s, llvm::function_ref<Carried(const LoopState &)> contributions);
  struct Workspace {
    Value tensor, memory;
    std::vector<Value> fixed; ///< per level of the result: its coordinate; null for the levels here
    std::vector<Value> sizes; ///< per level of the result: null, but for the levels here
  };
  unsigned workspaceDepth() const;
  Workspace makeWorkspace(const LoopState &s);
  Value copyLevels(const Workspace &made, Value from, Value to, unsigned level, unsigned own, Value inResult,
                   Value inWorkspace);
  Value copySlots(Value from, Value to);

  // Results.cpp: results that are new tensors
  Value assemble();
  bool isIndexedBy(const SparseOperand &operand, unsigned index) const;
  template <typename Op> Value storedCounts(llvm::ArrayRef<unsigned> operands);
  std::pair<Value, Value> insertionBounds();
  Carried newElement(LoopState s, unsigned depth);
  void insert(const LoopState &s, Value value);
  Carried insertWhere(Value condition, const LoopState &s, llvm::function_ref<Value()> value);
  Value isNot(Value x, Value y);
  Value startValue();
  mlir::AffineMap insertionOrder() const;
  std::optional<dialect::Combine> combiner() const;

  // Emitter.cpp: how operands follow the loops
  void advance(LoopState &s);
  void advance(LoopState &s, unsigned operand);
  void locateLevels(LoopState &s, unsigned operand);
  void follow(LoopState &s, unsigned operand);
  bool coordinateOf(const LoopState &s, const SparseOperand &operand, size_t level, Value &out);
  Value indexValue(const LoopState &s, unsigned index);
  Value subscriptValue(const LoopState &s, const SparseOperand &operand, unsigned dim);
  Value extent(LoopState &s, unsigned depth);
  Value extent(const LoopState &s, const iteration::LoopVar &digit);
  std::optional<iteration::LoopVar> digitsFrom(unsigned index, unsigned depth) const;
  Value dimSize(unsigned index);
  Value space(const LoopState &s, unsigned operand);
  Value partOf(Value space, const SparseOperand &operand, unsigned dim);
  Value inWhole(const SparseOperand &operand, unsigned dim, Value coordinate);
  Value iteratorOf(const LoopState &s, unsigned operand) const;
  mlir::Type iteratorType(unsigned operand, size_t level) const;
  std::optional<unsigned> nextSearch(const LoopState &s) const;

  // Tiling.cpp: loops over tiles, and within one
  std::pair<Value, llvm::SmallVector<Value>> visitedSpaces(LoopState &s, unsigned depth,
                                                           const VisitedSet &set);
  std::pair<Value, llvm::SmallVector<Value>> rowsOfTile(LoopState &s, const iteration::Fused &pair,
                                                        llvm::ArrayRef<unsigned> participants);
  std::pair<Value, Value> rows(const LoopState &s, const iteration::Fused &pair,
                               const SparseStatement::CountedLevel &counted);
  static LoopState reaching(LoopState s, unsigned operand, size_t level);
  std::pair<Value, Value> bounds(LoopState &s, unsigned depth);
  Tile tileAt(LoopState &s, unsigned depth);
  std::optional<Tile> positionsIn(LoopState &s, unsigned depth);
  Tile tileOf(LoopState &s, unsigned index, const std::string &loop);
  Tile makeTile(LoopState &s, unsigned index, const std::string &loop);
  Tile allPositions(LoopState &s, unsigned index, const iteration::Position &position);
  Value countedSpace(LoopState &s, unsigned index, const Tile &tile);
  std::pair<Value, Value> coordinatesOf(LoopState &s, const Tile &tile);

  // Analysis.cpp: what must be visited
  Presence presence(const LoopState &s) const;
  /// As in the loop's case for a minterm: its participants have the coordinate, the others are absent.
  Presence presence(const LoopState &s, llvm::ArrayRef<unsigned> participants, uint64_t minterm) const;
  bool isIterated(unsigned input) const;
  /// Inputs that may have entries below, and that no other leads.
  llvm::SmallVector<unsigned> openInputs(const LoopState &s) const;
  llvm::SmallVector<unsigned> participants(const LoopState &s, unsigned depth) const;
  LoopState withMinterm(LoopState s, llvm::ArrayRef<unsigned> participants, uint64_t minterm) const;
  LoopState inCase(const LoopState &s, llvm::ArrayRef<unsigned> participants, uint64_t minterm) const;
  llvm::SmallVector<unsigned> visited(const LoopState &s, unsigned depth,
                                      llvm::ArrayRef<unsigned> participants);
  bool visitsEach(const LoopState &s, unsigned depth, llvm::ArrayRef<unsigned> participants);
  bool writesEverySlot(LoopState s, unsigned depth);
  /// What the loop of this depth is.
  mlir::LogicalResult checkDirectives(mlir::StringAttr loop, dialect::DirectivesAttr said) const;
  dialect::LoopAttr loopAttr(unsigned depth);
  dialect::LoopAttr loopAttr(dialect::LoopKind kind, mlir::StringAttr index);
  dialect::Strategy strategyOf(unsigned depth, const VisitedSet &set);
  bool isReduction(unsigned depth) const { return statement.reduction[plan.order[depth].index]; }
  /// Whether several iterations may meet at one element of the result.
  bool repeats(unsigned depth) const {
    const unsigned index = plan.order[depth].index;
    return statement.reduction[index] && !givers[index] && !spread[index];
  }
  unsigned resultDepth() const;

  SparseStatement &statement;
  const iteration::Plan &plan;
  dialect::Strategy strategy;       ///< of sets of coordinates, where the schedule has none
  llvm::StringSet<> scheduledLoops; ///< that have the strategy of the schedule
  llvm::SetVector<mlir::StringAttr> madeLoops, coiterations;
  BodyAlgebra algebra;
  std::vector<Value> sizes;                    ///< per index
  std::vector<std::optional<unsigned>> givers; ///< per index: SparseStatement::giverOf
  std::vector<bool> spread;                    ///< per index: SparseStatement::isSpread
  std::vector<bool> readByBody;                ///< per input: its value is used
  std::vector<bool> testedByBody;              ///< per input: whether it stores an entry is used
  bool onceEach = false;                       ///< no reduction runs outside the result's loops
  /// Loops of this depth and those outside have presence flags where several operands meet; one more than
  /// there are loops: what is searched inside of them has, too.
  unsigned flagged = 0;
  bool compact = false;                 ///< code is over the budget: few copies of what two lists share
  bool large = false;                   ///< so that LLVM should not make more of each loop
  FlagAlgebra *flags = nullptr;         ///< of the body that is being emitted
  const Workspace *workspace = nullptr; ///< where the result's elements are while they are summed
  bool failed = false;
};

} // namespace tulle::passes
