// Modules of stage 5 as machine code for this CPU.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tulle::engine {

enum class CodeForm : uint8_t { LlvmIr, Assembly, Object };

/// Translates a module in the LLVM dialect, optimizes it for the host (`quick`: a little) and returns it in
/// the given form. The module's context must know the translations (pipeline::registerAll). Empty when an
/// operation has no translation: the context's diagnostics say which. Throws InternalError where the host has
/// no code generator.
std::string generateCode(mlir::ModuleOp module, CodeForm form, bool quick = false);

} // namespace tulle::engine
