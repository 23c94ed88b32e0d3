// A linalg.generic read as a sparse statement: operands with level maps and subscripts, and where the result
// starts.
#pragma once
#include "dialect/Dialect.h"
#include "iteration/Tiles.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/sparsify/Algebra.h"

namespace tulle::passes {

/// The tensor whose integers are checked, or made coordinates, as these are.
mlir::Value beforeChecks(mlir::Value integers);
/// The op that an operand is a slice by, of as many dimensions as the tensor; null for others.
mlir::tensor::ExtractSliceOp sliceBehind(mlir::Value operand);

/// Whether there is a slice, and it is the function that cuts it, not its caller.
bool isCut(mlir::tensor::ExtractSliceOp slice);
/// Whether all of the dimension is in the slice.
bool isWhole(mlir::tensor::ExtractSliceOp slice, unsigned dim);

/// One input, or (last) the result.
struct SparseOperand {
  mlir::Value tensor; ///< of a slice, what it was cut from
  /// Coordinates of the slice have the subscripts; null for others.
  mlir::tensor::ExtractSliceOp slice;
  dialect::EncodingAttr encoding;
  std::vector<format::Digit> digits; ///< one per level; none where the map is not made of digits
  std::vector<iteration::Subscript> subscripts;
  bool sparse = false;   ///< some level does not store every coordinate
  bool total = false;    ///< no level has padding where the format allows it
  bool distinct = false; ///< a selection that selects each coordinate of its last dimension once at most
  bool extent = false;   ///< only says how far an index runs; never read
  /// No loop over a dimension follows its levels, because they are no digits of dimensions or not in order:
  /// it can only be traversed as it is stored.
  bool byStorage = false;
  /// An operand that stores the same coordinates at the same positions in the first `led` levels: that one is
  /// iterated for both. This one has dense levels at most below these.
  std::optional<unsigned> leader;
  size_t led = 0;
};

struct SparseStatement {
  mlir::linalg::GenericOp generic;
  std::vector<SparseOperand> operands; ///< inputs, then the result
  std::vector<bool> reduction;         ///< per index
  mlir::Value init;                    ///< the result's storage before any fill
  mlir::Attribute start;               ///< every slot's value before the statement, if a constant
  std::optional<unsigned> pattern;     ///< input whose pattern a sparse result shares
  bool assembled = false;              ///< the result is a new sparse tensor: the loops insert its entries
  iteration::WantedOrder wanted;       ///< of its loops, by its schedule
  iteration::Tiles tiles;              ///< of its loops, by its schedule

  /// An operand without which nothing changes, and which has one coordinate of the index at most, for those
  /// of its levels above: the last of its levels is a `singleton` one.
  std::optional<unsigned> giverOf(unsigned index) const;
  /// Whether values of the index, which is reduced, differ in a coordinate of the result: it selects one
  /// there, each once.
  bool isSpread(unsigned index) const;
  /// The operand that is iterated for this one.
  unsigned leaderOf(unsigned operand) const { return operands[operand].leader.value_or(operand); }
  /// Whether nothing changes where the input stores nothing.
  bool isRequired(unsigned input) const;
  SparseOperand &result() { return operands.back(); }
  const SparseOperand &result() const { return operands.back(); }
  std::vector<iteration::Operand> planOperands() const;
  /// Without loops over tiles.
  std::variant<iteration::Plan, iteration::Conversion> plan() const {
    return iteration::plan(reduction, planOperands(), wanted);
  }
  /// Adds the loops over tiles; fails with a diagnostic where that cannot be.
  mlir::LogicalResult addTiles(iteration::Plan &plan) const;
  /// The level whose positions a loop counts: the first operand of that name that the plan iterates there, or
  /// what leads it; of a fused loop, the inner one of two levels that the two loops are over. Nothing where
  /// there is none.
  struct CountedLevel {
    unsigned operand;
    size_t level;
  };
  std::optional<CountedLevel> countedLevel(const iteration::Plan &plan,
                                           const iteration::Position &position) const;
  /// Whether the loop over that level visits what it stores, and nothing else.
  bool visitsOnly(const iteration::Plan &plan, const CountedLevel &counted) const;
  format::Encoding storedOrder() const;

  /// Fails with a diagnostic for what is not a statement over tensors that can hold data: several results,
  /// semi-affine subscripts, a sparse result with neither `tulle.like` nor `tensor.empty`.
  static mlir::FailureOr<SparseStatement> read(mlir::linalg::GenericOp generic);
};

/// Of a statement with an operand that no loop over a dimension can follow, because its levels are no digits
/// of dimensions (diagonals, padded and ranked rows, Morton blocks), or hold their coordinates in no order
/// (hash tables): the loops run over the levels of that operand, as it is stored; the coordinates of its
/// dimensions follow from those of its levels, and the others are located or searched there.
struct StorageTraversal {
  unsigned operand = 0;
  iteration::Plan plan; ///< the operand's indices, then the others
  unsigned bound = 0;   ///< how many loops of the plan the traversal stands for
};

/// Possible where nothing changes at coordinates the operand does not store, and it is the only sparse input
/// or the one whose pattern the result has.
std::optional<StorageTraversal> planStorageTraversal(const SparseStatement &statement);

/// The first operand that can only be traversed as it is stored, with the encoding of digits it is converted
/// to where it cannot be traversed so either.
std::optional<iteration::Conversion> conversionToDigits(const SparseStatement &statement);

/// What the loops become, by the schedule; what becomes of loops that the statement does not have is left to
/// whoever knows its loops. `reduction`: by index.
iteration::Tiles tilesOf(mlir::linalg::GenericOp generic, const std::vector<bool> &reduction);
/// The loops of a schedule's order, by name, outermost first.
std::vector<std::string> wantedLoops(mlir::linalg::GenericOp generic);
/// Has the loops stand in this order, as if a schedule said so.
void setOrder(mlir::linalg::GenericOp generic, const iteration::WantedOrder &order);
/// What the user calls the indices, else `d0`, `d1`, ….
std::vector<std::string> nameOfIndices(mlir::linalg::GenericOp generic);
/// What the user calls an operand: its tensor's name, else its number.
std::string nameOfOperand(mlir::linalg::GenericOp generic, unsigned operand);

} // namespace tulle::passes
