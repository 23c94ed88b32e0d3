// Modules of stage 5 as machine code, for the machine this runs on or another one.
#pragma once
#include "iteration/Cpu.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace tulle::engine {

/// What machine code depends on besides the program: part of every cache key.
struct Target {
  std::string triple, cpu, features; ///< as LLVM calls them
  iteration::Cpu plan;               ///< what the cost model knows of its processor
  bool isLinked = false; ///< by a linker, so that code and data lie within 2 GiB, as they need not of a JIT
};
/// This machine; where $TULLE_CPU names a processor (as LLVM does), that one, so that several machines can
/// share code: Error where this machine could not run it. Its plan is the row that name and features say,
/// caches as the operating system says.
const Target &host();

enum class CodeForm : uint8_t { LlvmIr, Assembly, Object };

/// Translates a module in the LLVM dialect, optimizes it for the target (`quick`: a little) and returns it in
/// the given form. The module's context must know the translations (pipeline::registerAll). Empty when an
/// operation has no translation: the context's diagnostics say which. Throws InternalError where the target
/// has no code generator.
std::string generateCode(mlir::ModuleOp module, CodeForm form, bool quick = false,
                         const Target &target = host());

// The steps of generateCode, for who puts several modules into one object.

/// The code generator of a target, which must have been initialized unless it is the host's. Throws
/// InternalError.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Target &target, bool quick = false);
/// Translated and optimized; null when an operation has no translation.
std::unique_ptr<llvm::Module> optimizedModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                                              const Target &target, llvm::TargetMachine &machine, bool quick);
/// A module as text or object code. Throws InternalError.
std::string emitCode(llvm::Module &module, llvm::TargetMachine &machine, CodeForm form);

} // namespace tulle::engine
