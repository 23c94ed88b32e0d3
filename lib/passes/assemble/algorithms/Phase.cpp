// Marks ops that have no phase yet when a phase ends, so that the innermost phase wins.
#include "passes/assemble/algorithms/Phase.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace tulle::assemble {

using PhaseLoc = FusedLocWith<StringAttr>;

static StringRef phaseOf(Operation *op) {
  auto loc = dyn_cast<PhaseLoc>(op->getLoc());
  return loc ? loc.getMetadata().getValue() : StringRef();
}

static Operation *lastBefore(OpBuilder &b) {
  return b.getInsertionPoint() == b.getInsertionBlock()->begin() ? nullptr
                                                                 : &*std::prev(b.getInsertionPoint());
}

Phase::Phase(OpBuilder &b, std::string text)
    : b(b), block(b.getInsertionBlock()), before(lastBefore(b)), text(std::move(text)) {}

Phase::~Phase() {
  auto metadata = StringAttr::get(b.getContext(), text);
  auto mark = [&](Operation *op) {
    if (phaseOf(op).empty())
      op->setLoc(FusedLoc::get({op->getLoc()}, metadata, b.getContext()));
  };
  auto end = b.getInsertionBlock() == block ? b.getInsertionPoint() : block->end();
  for (auto op = before ? std::next(before->getIterator()) : block->begin(); op != end; ++op)
    op->walk(mark);
}

std::string printWithPhases(ModuleOp module) {
  AsmState::LocationMap lines;
  AsmState state(module, OpPrintingFlags().printNameLocAsPrefix(), &lines);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, state);
  // Constants stand where folding puts them.
  std::map<unsigned, StringRef> phases; // by line, from 1
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (StringRef phase = phaseOf(op); !phase.empty() && !op->hasTrait<OpTrait::ConstantLike>())
      phases.emplace(lines.lookup(op).first, phase);
  });
  std::string out;
  StringRef present;
  unsigned number = 0;
  for (StringRef line : llvm::split(text, '\n')) {
    if (auto found = phases.find(++number); found != phases.end() && found->second != present) {
      present = found->second;
      out += (line.take_while([](char c) { return c == ' '; }) + "// " + present + "\n").str();
    }
    out += line;
    out += '\n';
  }
  while (StringRef(out).ends_with("\n\n"))
    out.pop_back();
  return out;
}

} // namespace tulle::assemble
