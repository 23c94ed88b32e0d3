// The primitives of a schedule as attributes of the statement's linalg.generic, and where they stand in the
// text.
#include "passes/import/ImportSchedule.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "llvm/ADT/MapVector.h"

namespace tulle::passes {
using namespace mlir;

Location scheduleLocation(Builder &b, const notation::Program &program, const support::SourceRange &range) {
  const support::TextPosition begin = support::positionOf(program.schedule, range.begin),
                              end = support::positionOf(program.schedule, range.end);
  return FileLineColRange::get(b.getStringAttr(program.scheduleName), begin.line, begin.column, end.line,
                               end.column);
}

namespace {

class ScheduleImporter {
public:
  ScheduleImporter(const notation::Program &program, const notation::Statement &statement)
      : program(program), statement(statement) {}

  void run(linalg::GenericOp generic, bool main, bool computed) const {
    const notation::LoopSchedule &said = statement.loops;
    Builder b(generic.getContext());
    SmallVector<Location> places;
    auto place = [&](const std::string &primitive, const support::SourceRange &range) {
      places.push_back(
          FusedLoc::get({scheduleLocation(b, program, range)}, b.getStringAttr(primitive), b.getContext()));
    };
    SmallVector<StringRef> order(said.order.begin(), said.order.end());
    SmallVector<NamedAttribute> strategies;
    if (!order.empty())
      place("reorder", said.orderRange);
    for (const notation::LoopSchedule::Strategy &s : said.strategies) {
      if (!main)
        break;
      strategies.push_back(b.getNamedAttr(
          s.loop, dialect::StrategyAttr::get(b.getContext(), *dialect::symbolizeStrategy(s.strategy))));
      place("strategy " + s.loop, s.range);
    }
    DictionaryAttr loops = directives(b, place);
    ArrayAttr at;
    if (said.place)
      at = b.getStrArrayAttr(SmallVector<StringRef>(said.place->loops.begin(), said.place->loops.end()));
    if (at)
      place("compute_at", said.place->range);
    const bool planned = computed && statement.plan != notation::AssemblyPlan::Auto;
    dialect::SchedulePrimitives all;
    if (main)
      all.derived = derived(b, place);
    all.bound = bounds(b);
    all.reorder = order.empty() ? ArrayAttr() : b.getStrArrayAttr(order);
    all.strategy = strategies.empty() ? DictionaryAttr() : b.getDictionaryAttr(strategies);
    all.loops = loops;
    all.computeAt = at;
    if (planned) // the dialect's plans are those of the notation
      all.assemble = dialect::AssemblyPlanAttr::get(b.getContext(), dialect::AssemblyPlan(statement.plan));
    if (computed && said.workspace != notation::WorkspaceKind::Dense)
      all.workspace =
          dialect::AssemblyStrategyAttr::get(b.getContext(), said.workspace == notation::WorkspaceKind::Bitmap
                                                                 ? dialect::AssemblyStrategy::Bitmap
                                                                 : dialect::AssemblyStrategy::Hashed);
    auto made = dialect::ScheduleAttr::get(b.getContext(), all);
    if (made == dialect::ScheduleAttr::get(b.getContext(), dialect::SchedulePrimitives()))
      return;
    generic->setAttr(dialect::kScheduleAttr, made);
    if (!places.empty())
      generic->setLoc(FusedLoc::get(places, b.getStringAttr("schedule"), b.getContext()));
  }

private:
  using Places = function_ref<void(const std::string &, const support::SourceRange &)>;

  /// What loops become; null where that is nothing.
  ArrayAttr derived(Builder &b, Places place) const {
    using Derived = notation::LoopSchedule::Derived;
    SmallVector<Attribute> made;
    for (const Derived &d : statement.loops.derived) {
      auto from = b.getStringAttr(d.from.front()), into = b.getStringAttr(d.into.front());
      switch (d.kind) {
      case Derived::Split:
      case Derived::Divide:
        made.push_back(dialect::SplitAttr::get(b.getContext(), from, into, b.getStringAttr(d.into.back()),
                                               d.size, d.kind == Derived::Divide));
        break;
      case Derived::Position:
        made.push_back(dialect::PositionAttr::get(b.getContext(), from, into,
                                                  b.getStringAttr(program.tensors[d.tensor].name)));
        break;
      case Derived::Fuse:
        made.push_back(dialect::FuseAttr::get(b.getContext(), from, b.getStringAttr(d.from.back()), into));
        break;
      }
      place("derived " + d.from.front(), d.range);
    }
    return made.empty() ? ArrayAttr() : b.getArrayAttr(made);
  }

  DictionaryAttr bounds(Builder &b) const {
    SmallVector<NamedAttribute> made;
    for (const notation::LoopSchedule::Bound &bound : statement.loops.bounds)
      made.push_back(b.getNamedAttr(bound.index, b.getI64IntegerAttr(bound.size)));
    return made.empty() ? DictionaryAttr() : b.getDictionaryAttr(made);
  }

  /// What one primitive says.
  dialect::DirectivesAttr directive(Builder &b, const notation::LoopSchedule::Directive &d) const {
    using Directive = notation::LoopSchedule::Directive;
    dialect::Directives own;
    switch (d.kind) {
    case Directive::Parallelize: // the dialect's ways, and places, are those of the notation
      own.parallelize = dialect::ThreadsAttr::get(b.getContext(), dialect::Threads(d.threads));
      break;
    case Directive::Vectorize:
      own.vectorize = uint64_t(d.count);
      break;
    case Directive::Unroll:
      own.unroll = uint64_t(d.count);
      break;
    case Directive::Jam:
      own.jam = uint64_t(d.count);
      break;
    case Directive::Prefetch:
      own.prefetch =
          b.getDictionaryAttr(b.getNamedAttr(program.tensors[d.tensor].name, b.getI64IntegerAttr(d.count)));
      break;
    case Directive::Cache:
      own.cache = b.getDictionaryAttr(
          b.getNamedAttr(program.tensors[d.tensor].name,
                         dialect::CachePlaceAttr::get(b.getContext(), dialect::CachePlace(d.place))));
      break;
    case Directive::Rfactor:
      own.rfactor = b.getStringAttr(d.partials);
      break;
    }
    return dialect::DirectivesAttr::get(b.getContext(), own);
  }

  /// By loop; null where nothing is said of any.
  DictionaryAttr directives(Builder &b, Places place) const {
    using Directive = notation::LoopSchedule::Directive;
    llvm::MapVector<StringRef, dialect::DirectivesAttr> loops;
    for (const Directive &d : statement.loops.directives) {
      dialect::DirectivesAttr &all = loops[d.loop];
      all = directive(b, d).orElse(all);
      place(std::string(notation::nameOf(d.kind)) + " " + d.loop, d.range);
    }
    SmallVector<NamedAttribute> named;
    for (auto &[loop, all] : loops)
      named.push_back(b.getNamedAttr(loop, all));
    return named.empty() ? DictionaryAttr() : b.getDictionaryAttr(named);
  }

  const notation::Program &program;
  const notation::Statement &statement;
};

} // namespace

void importSchedule(linalg::GenericOp generic, const notation::Program &program,
                    const notation::Statement &statement, bool main, bool computed) {
  ScheduleImporter(program, statement).run(generic, main, computed);
}

} // namespace tulle::passes
