// LLVM's default pipeline for a target's processor, with the loops and functions that kernels need treated as
// kernels need it. The object is linked by LLVM's ORC: a library of its own for each, so that it can be
// freed.
#include "engine/Codegen.h"
#include "dialect/Attributes.h"
#include "engine/Call.h"
#include "iteration/CostModel.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tulle/error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopRotationUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

namespace tulle::engine {

//===--- Code ---===//

/// Processors cache decoded instructions by line: a loop that straddles two runs slower (experiments 025).
constexpr unsigned kLoopAlignment = 64; // bytes

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Target &target, bool quick) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::TargetOptions options;
  options.LoopAlignment = kLoopAlignment;
  const std::optional<llvm::CodeModel::Model> model =
      target.isLinked ? std::optional(llvm::CodeModel::Small) : std::nullopt;
  auto machine = llvm::orc::JITTargetMachineBuilder(llvm::Triple(target.triple))
                     .setCodeModel(model)
                     .setCPU(target.cpu)
                     .setFeatures(target.features)
                     .setOptions(options)
                     .setRelocationModel(llvm::Reloc::PIC_)
                     .setCodeGenOptLevel(quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default)
                     .createTargetMachine();
  if (!machine)
    throw InternalError("no code generator for " + target.triple + " (" + target.cpu +
                        "): " + llvm::toString(machine.takeError()));
  return std::move(*machine);
}

/// What LLVM does with a module.
struct Effort {
  bool unrolls = true;
  bool packs = true; ///< scalars to vectors
  bool simplifies = true;
};

/// For huge modules, which canonicalization has simplified before: LLVM's default pipeline takes five times
/// as long for them, most of it in instcombine and loop-rotate (experiment 054).
constexpr const char *kHugePipeline = "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
                                      "loop-mssa(licm),gvn,adce,simplifycfg)";

namespace {

/// Rotates the loops that only store a constant: LLVM makes memset of rotated ones.
struct RotateFills : llvm::PassInfoMixin<RotateFills> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto &dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    auto &assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
    auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto &target = analyses.getResult<llvm::TargetIRAnalysis>(function);
    const llvm::SimplifyQuery query(function.getDataLayout(), nullptr, &dominators, &assumptions);
    bool changed = false;
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      if (isFill(*loop))
        changed |= llvm::LoopRotation(loop, &loops, &target, &assumptions, &dominators, &evolution,
                                      /*MSSAU=*/nullptr, query, /*RotationOnly=*/false,
                                      /*Threshold=*/kMostInstructions, /*IsUtilMode=*/false);
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

private:
  static constexpr unsigned kMostInstructions = 16;

  static bool isFill(const llvm::Loop &loop) {
    unsigned instructions = 0, stores = 0;
    for (const llvm::BasicBlock *block : loop.blocks())
      for (const llvm::Instruction &instruction : *block) {
        const auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
        const bool fills = store && llvm::isa<llvm::Constant>(store->getValueOperand());
        if (instruction.mayReadOrWriteMemory() && !fills)
          return false;
        stores += fills;
        ++instructions;
      }
    return stores == 1 && instructions <= kMostInstructions;
  }
};

} // namespace

/// What LLVM does with a huge module.
static void addHugePipeline(llvm::PassBuilder &builder, llvm::ModulePassManager &passes) {
  if (llvm::Error error = builder.parsePassPipeline(passes, kHugePipeline))
    throw InternalError(llvm::toString(std::move(error)));
  llvm::FunctionPassManager fills;
  fills.addPass(llvm::LoopSimplifyPass());
  fills.addPass(llvm::LCSSAPass());
  fills.addPass(RotateFills());
  fills.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopIdiomRecognizePass()));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(fills)));
}

static void optimize(llvm::Module &module, const Target &target, llvm::TargetMachine &machine, bool quick,
                     Effort effort) {
  for (llvm::Function &function : module) {
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
    // A row's few entries are copied by a loop: a call for each would take most of the time.
    function.addFnAttr("no-builtin-memcpy");
    function.addFnAttr("no-builtin-memmove");
    // New memory is no other memory; LLVM knows that of malloc only.
    if (function.getName() == "_mlir_memref_to_llvm_alloc" || function.getName() == "tulle_allocate_filled") {
      function.addRetAttr(llvm::Attribute::NoAlias);
      function.addRetAttr(llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(64)));
    }
    if (function.getName().starts_with(dialect::kErrorPrefix)) {
      function.addFnAttr(llvm::Attribute::NoReturn);
      function.addFnAttr(llvm::Attribute::Cold);
    }
  }
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = !quick && effort.packs;
  tuning.LoopVectorization = tuning.LoopUnrolling = tuning.LoopInterleaving = !quick && effort.unrolls;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  if (quick || effort.simplifies)
    passes = builder.buildPerModuleDefaultPipeline(quick ? llvm::OptimizationLevel::O0
                                                         : llvm::OptimizationLevel::O3);
  else
    addHugePipeline(builder, passes);
  passes.run(module, modules);
}

static Effort effortFor(mlir::ModuleOp module, const llvm::Module &code) {
  auto any = [&](llvm::StringRef attribute) {
    return llvm::any_of(*module.getBody(), [&](mlir::Operation &op) { return op.hasAttr(attribute); });
  };
  const iteration::Costs costs;
  const int64_t size = code.getInstructionCount();
  const bool large = size > (any(dialect::kLargeAttr) ? costs.largeModule : costs.longModule);
  return {.unrolls = !large,
          .packs = !large && !any(dialect::kScalarLanesAttr),
          .simplifies = size <= costs.hugeModule};
}

namespace {

/// While alive, collects the errors of a context: without a handler, one of the code generator ends the
/// process.
class ErrorCollector {
public:
  explicit ErrorCollector(llvm::LLVMContext &context) : context(context) {
    context.setDiagnosticHandlerCallBack(collect, &text, /*RespectFilters=*/true);
  }
  ~ErrorCollector() { context.setDiagnosticHandlerCallBack(nullptr, nullptr); }
  ErrorCollector(const ErrorCollector &) = delete;

  std::string text;

private:
  static void collect(const llvm::DiagnosticInfo *info, void *text) {
    if (info->getSeverity() != llvm::DS_Error)
      return;
    llvm::raw_string_ostream stream(*static_cast<std::string *>(text));
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
  }

  llvm::LLVMContext &context;
};

} // namespace

std::unique_ptr<llvm::Module> optimizedModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                                              const Target &target, llvm::TargetMachine &machine,
                                              bool quick) {
  const ErrorCollector errors(context);
  std::unique_ptr<llvm::Module> llvmModule = mlir::translateModuleToLLVMIR(module, context, "tulle");
  if (!llvmModule)
    return nullptr;
  llvmModule->setTargetTriple(llvm::Triple(target.triple));
  llvmModule->setDataLayout(machine.createDataLayout());
  optimize(*llvmModule, target, machine, quick, effortFor(module, *llvmModule));
  if (!errors.text.empty())
    throw InternalError("code generation failed: " + errors.text);
  return llvmModule;
}

std::string emitCode(llvm::Module &module, llvm::TargetMachine &machine, CodeForm form) {
  const ErrorCollector errors(module.getContext());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  if (form == CodeForm::LlvmIr) {
    module.print(stream, nullptr);
  } else {
    llvm::legacy::PassManager codegen;
    auto type =
        form == CodeForm::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
    if (machine.addPassesToEmitFile(codegen, stream, nullptr, type))
      throw InternalError("the code generator cannot write this kind of file");
    codegen.run(module);
  }
  if (!errors.text.empty())
    throw InternalError("code generation failed: " + errors.text);
  return std::string(text);
}

std::string generateCode(mlir::ModuleOp module, CodeForm form, bool quick, const Target &target) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, quick);
  const std::unique_ptr<llvm::Module> code = optimizedModule(module, context, target, *machine, quick);
  return code ? emitCode(*code, *machine, form) : "";
}

//===--- Linking ---===//

namespace {

namespace orc = llvm::orc;

/// On CPUs without instructions for it. The code generator passes bf16 in the low bits of a vector register,
/// where a float's bits are too.
float truncateToBf16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  const bool isNan = (bits & 0x7fffffff) > 0x7f800000; // else to nearest even
  uint32_t narrow = isNan ? (bits >> 16) | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return std::bit_cast<float>(narrow);
}

float truncateDoubleToBf16(double x) {
  // Rounding to odd first keeps the second rounding exact.
  float f = float(x);
  uint32_t bits = std::bit_cast<uint32_t>(f);
  if (double(f) != x && x == x && !(bits & 1))
    bits += (std::abs(double(f)) < std::abs(x)) ? 1 : -1;
  return truncateToBf16(std::bit_cast<float>(bits));
}

void addRuntimeSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto add = [&](const char *name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported};
  };
  for (const RuntimeSymbol &symbol : runtimeSymbols())
    symbols[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                 llvm::JITSymbolFlags::Exported};
  add("__truncsfbf2", truncateToBf16);
  add("__truncdfbf2", truncateDoubleToBf16);
  llvm::cantFail(jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))));
}

/// The value, or an InternalError for a linker's error.
template <class T> T linked(llvm::Expected<T> value) {
  if (!value)
    throw InternalError("compiled code could not be linked: " + llvm::toString(value.takeError()));
  return std::forward<T>(*value);
}

/// One for the process, never destroyed: kernels may be called until the very end.
orc::LLJIT &sharedJit() {
  static orc::LLJIT &jit = []() -> orc::LLJIT & {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto created = linked(
        orc::LLJITBuilder().setPlatformSetUp(orc::setUpInactivePlatform).setNumCompileThreads(0).create());
    addRuntimeSymbols(*created);
    return *created.release();
  }();
  return jit;
}

} // namespace

void LoadedObject::Unload::operator()(orc::JITDylib *library) const {
  if (llvm::Error error = sharedJit().getExecutionSession().removeJITDylib(*library))
    llvm::consumeError(std::move(error)); // only memory is lost
}

LoadedObject::LoadedObject(std::string_view object, std::string_view name) {
  static std::atomic<uint64_t> serial = 0;
  orc::LLJIT &jit = sharedJit();
  std::string unique = std::string(name) + "." + std::to_string(serial++);
  library.reset(&linked<orc::JITDylib &>(jit.createJITDylib(unique)));
  library->addToLinkOrder(jit.getMainJITDylib());
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object), unique);
  if (llvm::Error error = jit.addObjectFile(*library, std::move(buffer)))
    throw InternalError("compiled code could not be linked: " + llvm::toString(std::move(error)));
}

LoadedObject::Entry LoadedObject::lookup(std::string_view name) const {
  return linked(sharedJit().lookup(*library, llvm::StringRef(name))).toPtr<Entry>();
}

} // namespace tulle::engine
