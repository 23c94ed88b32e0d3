// Modules of stage 5 as machine code, for the machine this runs on.
#pragma once
#include "iteration/Cpu.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tulle::engine {

/// What machine code depends on besides the program: part of every cache key.
struct Host {
  std::string triple, cpu, features;
};
const Host &host();

/// What the cost model knows of its processor: the row that LLVM's name and features say, caches as the
/// operating system says.
const iteration::Cpu &hostCpu();

enum class CodeForm : uint8_t { LlvmIr, Assembly, Object };

/// Translates a module in the LLVM dialect, optimizes it for the host (`quick`: a little) and returns it in
/// the given form. The module's context must know the translations (pipeline::registerAll). Empty when an
/// operation has no translation: the context's diagnostics say which. Throws InternalError where the host has
/// no code generator.
std::string generateCode(mlir::ModuleOp module, CodeForm form, bool quick = false);

} // namespace tulle::engine
