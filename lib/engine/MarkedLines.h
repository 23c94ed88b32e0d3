// The texts of stages line by line, with the statement that each line is of: as locations say it, which what
// becomes of a statement keeps.
#pragma once
#include "engine/Compilation.h"

namespace tulle::engine {

/// A module as it is printed.
std::vector<ExplainedLine> markedLines(mlir::ModuleOp module);

/// Has the code of a module in the LLVM dialect say which statement an instruction is of. Throws
/// InternalError.
void addLineTables(mlir::ModuleOp module);

/// LLVM IR and assembly of such a module, without what says it.
std::vector<ExplainedLine> markedLlvmIr(const std::string &code);
std::vector<ExplainedLine> markedAssembly(const std::string &code);

} // namespace tulle::engine
