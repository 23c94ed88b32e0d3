#include "engine/MarkedLines.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "passes/import/Import.h"
#include "support/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <regex>

namespace tulle::engine {

static std::vector<std::string> split(llvm::StringRef text) {
  std::vector<std::string> lines;
  for (llvm::StringRef line : llvm::split(text.rtrim('\n'), '\n'))
    lines.push_back(line.str());
  return lines;
}

/// The statement of a location; of one that several statements made, the first.
static void mark(ExplainedLine &line, mlir::Location location) {
  location->walk([&](mlir::Location part) {
    auto place = mlir::dyn_cast<mlir::FileLineColRange>(part);
    if (!place || place.getFilename() != passes::kProgramText)
      return mlir::WalkResult::advance();
    line.line = place.getStartLine();
    line.column = place.getStartColumn();
    return mlir::WalkResult::interrupt();
  });
}

std::vector<ExplainedLine> markedLines(mlir::ModuleOp module) {
  mlir::AsmState::LocationMap places;
  mlir::AsmState state(module, mlir::OpPrintingFlags().printNameLocAsPrefix(), &places);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, state);
  std::vector<ExplainedLine> lines;
  for (std::string &line : split(text))
    lines.push_back({std::move(line)});
  module->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    // Constants stand where folding puts them.
    const unsigned number = places.lookup(op).first;
    if (number > 0 && number <= lines.size() && !op->hasTrait<mlir::OpTrait::ConstantLike>())
      mark(lines[number - 1], op->getLoc());
  });
  return lines;
}

void addLineTables(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  mlir::LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = mlir::LLVM::DIEmissionKind::LineTablesOnly;
  passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass(options));
  if (mlir::failed(passes.run(module)))
    throw InternalError("the code was given no lines");
}

std::vector<ExplainedLine> markedLlvmIr(const std::string &code) {
  static const std::regex definition("^!(\\d+) = !DILocation\\(line: (\\d+), column: (\\d+)"),
      use(", !dbg !(\\d+)"), function(" !dbg !\\d+ ");
  const std::vector<std::string> texts = split(code);
  std::map<std::string, std::pair<unsigned, unsigned>> places;
  std::smatch match;
  for (const std::string &text : texts)
    if (std::regex_search(text, match, definition))
      places[match[1]] = {unsigned(std::stoul(match[2])), unsigned(std::stoul(match[3]))};
  std::vector<ExplainedLine> lines;
  for (const std::string &text : texts) {
    if (text.starts_with("!"))
      continue;
    ExplainedLine line;
    if (std::regex_search(text, match, use))
      if (auto found = places.find(match[1]); found != places.end())
        std::tie(line.line, line.column) = found->second;
    line.text = std::regex_replace(std::regex_replace(text, use, ""), function, " ");
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<ExplainedLine> markedAssembly(const std::string &code) {
  static const std::regex place("^\\s*\\.loc\\s+\\d+ (\\d+) (\\d+)"),
      debugging("^(\\.L(func|tmp|debug|info|str|sec|line)\\w*:|\\s*\\.(file|cfi_\\w+)\\b)");
  std::vector<ExplainedLine> lines;
  ExplainedLine at;
  std::smatch match;
  for (const std::string &text : split(code)) {
    if (text.find(".section\t.debug") != std::string::npos)
      break; // what follows is the table
    if (std::regex_search(text, match, place)) {
      at.line = unsigned(std::stoul(match[1]));
      at.column = unsigned(std::stoul(match[2]));
      continue;
    }
    if (std::regex_search(text, debugging))
      continue;
    const bool instruction = text.starts_with("\t") && !text.starts_with("\t.");
    lines.push_back({text, instruction ? at.line : 0, instruction ? at.column : 0});
  }
  return lines;
}

} // namespace tulle::engine
