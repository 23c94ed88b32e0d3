// Conversions are read off the arguments, orders and strategies off the loops of each statement, plans off
// the assemblies; places and threads off the loops of the whole program.
#include "passes/program/PrintSchedule.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tulle::passes::program {
using namespace mlir;
using namespace tulle::dialect;

namespace {

/// The loops around an innermost one, outermost first.
using Nest = SmallVector<LoopAttr>;

class StatementSchedule {
public:
  StatementSchedule(func::FuncOp function, std::string target)
      : function(function), target(std::move(target)) {}

  std::string print() {
    conversions();
    splits();
    order();
    strategies();
    plan();
    return std::move(text);
  }

private:
  func::FuncOp function;
  std::string target; ///< of the primitives: `C: `, or nothing
  std::string text;

  void say(const Twine &primitive) { text += target + primitive.str() + ";\n"; }
  void remark(const Twine &what) { text += "// " + target + what.str() + "\n"; }

  void conversions() {
    llvm::StringMap<unsigned> uses; // of each tensor, in any format
    for (unsigned k = 0; k < function.getNumArguments(); ++k)
      if (auto name = function.getArgAttrOfType<StringAttr>(k, kNameAttr))
        ++uses[name.getValue()];
    for (unsigned k = 0; k < function.getNumArguments(); ++k) {
      auto source = function.getArgAttrOfType<EncodingAttr>(k, kSourceAttr);
      auto name = function.getArgAttrOfType<StringAttr>(k, kNameAttr);
      if (!source || !name)
        continue;
      const format::Encoding &made =
          dialect::getEncoding(cast<RankedTensorType>(function.getArgument(k).getType())).getValue();
      if (uses[name.getValue()] > 1 || format::hasSlices(source.getValue()))
        remark(name.getValue() + " is converted to " + format::displayName(made));
      else
        say("convert(" + name.getValue() + ", { " + format::printBody(made) + " })");
    }
  }

  void splits() {
    if (auto all = function->getAttrOfType<ArrayAttr>(kSplitsAttr))
      for (auto split : all.getAsRange<SplitAttr>())
        say("split(" + split.getLoop().getValue() + ", " + split.getOuter().getValue() + ", " +
            split.getInner().getValue() + ", " + Twine(split.getSize()) + ")");
  }

  static void nestsBelow(Operation *op, Nest &above, SmallVectorImpl<Nest> &nests) {
    const LoopAttr loop = loopOverSets(op);
    if (loop)
      above.push_back(loop);
    const size_t before = nests.size();
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        nestsBelow(&inner, above, nests);
    if (!loop)
      return;
    if (nests.size() == before)
      nests.push_back(above);
    above.pop_back();
  }

  /// The order that all nests of the statement follow; nothing where there is none, or a loop has no index.
  static std::optional<SmallVector<StringAttr>> commonOrder(ArrayRef<Nest> nests) {
    SmallVector<StringAttr> order;
    for (const Nest &nest : nests)
      if (nest.size() > order.size())
        order = llvm::map_to_vector(nest, [](LoopAttr loop) { return loop.getIndex(); });
    for (const Nest &nest : nests) {
      StringAttr *next = order.begin();
      for (LoopAttr loop : nest) {
        next = loop.getIndex() ? std::find(next, order.end(), loop.getIndex()) : order.end();
        if (next++ == order.end())
          return std::nullopt;
      }
    }
    return order;
  }

  void order() {
    SmallVector<Nest> nests;
    Nest above;
    nestsBelow(function, above, nests);
    std::optional<SmallVector<StringAttr>> order = commonOrder(nests);
    if (!order)
      remark("the loops follow an operand as it is stored, or are several nests in different orders");
    else if (!order->empty())
      say("reorder(" +
          llvm::join(llvm::map_range(*order, [](StringAttr name) { return name.getValue(); }), ", ") + ")");
  }

  /// Whether the strategy says something of the loop: all but merges are for intersections.
  static bool applies(CoiterateOp op) {
    const int64_t all = (int64_t(1) << op.getSpaces().size()) - 1;
    const bool intersects = !op.getFlags() && !op.getRange() && op.getCases() == ArrayRef<int64_t>{all};
    return op.getStrategy() == Strategy::Merge || (op.getStrategy() != Strategy::Auto && intersects);
  }

  void strategies() {
    SmallVector<CoiterateOp> loops;
    function.walk<WalkOrder::PreOrder>([&](CoiterateOp op) {
      const bool known = llvm::any_of(loops, [&](CoiterateOp other) {
        return other.getLoop().getIndex() == op.getLoop().getIndex() &&
               other.getStrategy() == op.getStrategy();
      });
      if (applies(op) && !known)
        loops.push_back(op);
    });
    for (CoiterateOp op : loops)
      say("strategy(" + op.getLoop().getIndex().getValue() + ", " + stringifyStrategy(op.getStrategy()) +
          ")");
  }

  /// Whether the schedule says in which loop a row of it is made.
  static bool hasPlace(AssembleOp op) {
    return llvm::any_of(op.getBody().getOps<IterateOp>(), [](IterateOp loop) {
      const DirectivesAttr said = loop.getLoop().getDirectives();
      return said && said.getComputeAt() && !said.getComputeAt().empty();
    });
  }

  void plan() {
    std::optional<AssemblyPlan> plan;
    function.walk([&](AssembleOp op) {
      if (hasPlace(op)) // a row at a time, whose memory is that of the largest row
        return;
      plan = op.getPlan() == AssemblyPlan::Auto ? AssemblyPlan::Grow : op.getPlan();
    });
    auto result = function.getResultAttrOfType<StringAttr>(0, kNameAttr);
    if (plan && result)
      text += "assemble(" + result.str() + ", " + stringifyAssemblyPlan(*plan).str() + ");\n";
  }
};

} // namespace

ProgramSchedule::ProgramSchedule(ModuleOp module) {
  llvm::StringMap<unsigned> seen;
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getNumResults() > 0 && function.getResultAttr(0, kNameAttr))
      functions.push_back(function);
  for (auto [k, function] : llvm::enumerate(functions)) {
    const StringRef result = function.getResultAttrOfType<StringAttr>(0, kNameAttr).getValue();
    const unsigned number = ++seen[result];
    std::string name = number == 1 ? result.str() : (result + "#" + Twine(number)).str();
    text += StatementSchedule(function, functions.size() == 1 ? "" : name + ": ").print();
    auto reads = [&](func::FuncOp later) {
      return llvm::any_of(later.getArguments(), [&](BlockArgument arg) {
        auto other = later.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr);
        return other && other.getValue() == result;
      });
    };
    statements.push_back({std::move(name), llvm::any_of(ArrayRef(functions).drop_front(k + 1), reads)});
  }
}

std::string ProgramSchedule::print(ModuleOp fused) const { return text + places(fused) + threads(fused); }

/// By statement, the loops that it shares with a later one: the innermost, and one over blocks around it.
std::string ProgramSchedule::places(ModuleOp fused) const {
  auto indexOf = [](LoopAttr loop) { return loop.getIndex().getValue(); };
  llvm::StringMap<SmallVector<LoopAttr>> loops;
  llvm::StringSet<> joined; // of functions of several statements
  for (auto function : fused.getOps<func::FuncOp>()) {
    llvm::SetVector<Attribute> here;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      const LoopAttr loop = loopOverSets(op);
      if (!loop || !loop.getOf())
        return;
      here.insert_range(loop.getOf());
      for (Attribute statement : loop.getOf().getValue().drop_back())
        if (loop.getIndex()) {
          SmallVector<LoopAttr> &path = loops[cast<StringAttr>(statement).getValue()];
          if (!path.empty() && !path.back().getBlocks())
            path.pop_back();
          path.push_back(loop);
        }
    });
    for (Attribute statement : here)
      if (here.size() > 1)
        joined.insert(cast<StringAttr>(statement).getValue());
  }
  std::string said;
  for (const Statement &s : statements)
    if (auto path = loops.find(s.name); path != loops.end())
      said +=
          "compute_at(" + s.name + ", " + llvm::join(llvm::map_range(path->second, indexOf), ", ") + ");\n";
    else if (s.isRead && joined.contains(s.name))
      said += "compute_root(" + s.name + ");\n";
  return said;
}

/// By statement, how its outermost loops are divided, where all of an index are in one way.
std::string ProgramSchedule::threads(ModuleOp fused) const {
  llvm::MapVector<std::pair<StringRef, StringRef>, std::optional<Threads>> ways;
  fused.walk<WalkOrder::PreOrder>([&](Operation *op) {
    const LoopAttr loop = loopOverSets(op);
    const DirectivesAttr said = loop ? loop.getDirectives() : DirectivesAttr();
    const bool inner = op->getParentOfType<IterateOp>() || op->getParentOfType<CoiterateOp>();
    const ThreadsAttr threads = said ? said.getParallelize() : ThreadsAttr();
    if (!loop || !loop.getIndex() || (inner && !threads))
      return;
    const std::optional<Threads> way = threads ? std::optional(threads.getValue()) : std::nullopt;
    auto [known, isNew] = ways.try_emplace({loop.lastStatement(), loop.visitedIndex()}, way);
    if (!isNew && known->second != way)
      known->second = std::nullopt;
  });
  std::string said;
  for (auto &[loop, way] : ways)
    if (way)
      said += (loop.first.empty() ? "" : loop.first.str() + ": ") + "parallelize(" + loop.second.str() +
              ", " + stringifyThreads(*way).str() + ");\n";
  return said;
}

} // namespace tulle::passes::program
