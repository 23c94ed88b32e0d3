// One module for each processor, the run time, and the functions of the kernel become one module, in which
// nothing but these functions is visible.
#include "aot/Ahead.h"
#include "aot/Header.h"
#include "aot/SharedLibrary.h"
#include "aot/Steps.h"
#include "support/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace tulle::aot {

static constexpr unsigned char kRuntimeX86[] = {
#include "runtime-x86_64.inc"
};
static constexpr unsigned char kRuntimeAArch64[] = {
#include "runtime-aarch64.inc"
};

Form formOf(const std::string &file) {
  static constexpr std::pair<std::string_view, Form> endings[] = {{".o", Form::Object},
                                                                  {".a", Form::Archive},
                                                                  {".s", Form::Assembly},
                                                                  {".ll", Form::LlvmIr},
                                                                  {".so", Form::SharedLibrary}};
  for (auto [ending, form] : endings)
    if (file.ends_with(ending))
      return form;
  throwError("--output {}: unknown file type; expected a name that ends in .o, .a, .s, .ll or .so", file);
}

namespace {

/// Puts the parts of a kernel into one module.
class Assembler {
public:
  Assembler(llvm::LLVMContext &context, const std::string &triple)
      : context(context), triple(triple), machine(engine::makeTargetMachine(baseline(triple))) {}

  void add(std::unique_ptr<llvm::Module> module) {
    module->setTargetTriple(llvm::Triple(triple));
    module->setDataLayout(machine->createDataLayout());
    if (!all)
      all = std::move(module);
    else if (llvm::Linker::linkModules(*all, std::move(module)))
      throw InternalError("the parts of a kernel could not be linked");
  }

  /// What a program or a conversion became for one machine: its names get the prefix.
  void addVariant(std::unique_ptr<llvm::Module> module, const std::string &prefix) {
    for (llvm::GlobalObject &object : module->global_objects())
      if (!object.isDeclaration() && object.hasName()) {
        object.setName(prefix + object.getName());
        object.setLinkage(llvm::GlobalValue::ExternalLinkage);
      }
    add(std::move(module));
  }

  void addRuntime() {
    const bool isX86 = llvm::Triple(triple).getArch() == llvm::Triple::x86_64;
    const auto bytes =
        isX86 ? llvm::ArrayRef<uint8_t>(kRuntimeX86) : llvm::ArrayRef<uint8_t>(kRuntimeAArch64);
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::toStringRef(bytes), "runtime"), context);
    if (!module)
      throw InternalError("the run time of kernels cannot be read: " + llvm::toString(module.takeError()));
    add(std::move(*module));
  }

  /// Throws Error where a function that the kernel calls, or one of the C library, has the name: the code
  /// generator may call such a one, too.
  void requireNew(const std::string &name) const {
    llvm::LibFunc known;
    const bool isOfC = llvm::TargetLibraryInfoImpl(llvm::Triple(triple)).getLibFunc(name, known);
    const llvm::Function *function = all->getFunction(name);
    if (isOfC || (function && !function->hasLocalLinkage()))
      throwError("--name: '{}' is a function of the C library or of threads; choose another name", name);
  }

  void addText(const std::string &text) {
    llvm::SMDiagnostic error;
    std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
    if (!module)
      throw InternalError("the functions of a kernel cannot be read: " + error.getMessage().str() + "\n" +
                          error.getLineContents().str());
    add(std::move(module));
  }

  std::string finish(const std::vector<std::string> &exports, engine::CodeForm form) {
    keepRounding();
    llvm::internalizeModule(*all, [&](const llvm::GlobalValue &value) {
      return std::ranges::count(exports, value.getName().str()) > 0;
    });
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(machine.get());
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager sccs;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
    llvm::ModulePassManager passes;
    passes.addPass(llvm::GlobalDCEPass());
    passes.run(*all, modules);
    if (llvm::verifyModule(*all))
      throw InternalError("the module of a kernel is not valid");
    return engine::emitCode(*all, *machine, form);
  }

private:
  llvm::LLVMContext &context;
  const std::string triple;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> all;

  /// The code generator calls what rounds to bf16 when no call is seen yet.
  void keepRounding() {
    const bool rounds = llvm::any_of(*all, [](const llvm::Function &function) {
      return llvm::any_of(function, [](const llvm::BasicBlock &block) {
        return llvm::any_of(block, [](const llvm::Instruction &instruction) {
          return instruction.getType()->getScalarType()->isBFloatTy();
        });
      });
    });
    if (rounds)
      llvm::appendToCompilerUsed(*all, {all->getFunction("__truncsfbf2"), all->getFunction("__truncdfbf2")});
  }
};

} // namespace

/// Those of the options, the least demanding first.
static std::vector<Machine> machinesOf(const AheadOptions &options, const std::string &triple) {
  std::vector<std::string> names = options.march;
  if (names.empty())
    names.push_back(!options.target.empty() && llvm::Triple(triple).getArch() == llvm::Triple::aarch64
                        ? "generic"
                    : !options.target.empty() ? "x86-64"
                                              : "native");
  std::vector<Machine> machines;
  for (const std::string &name : names) {
    if (std::ranges::count(machines, name, &Machine::march))
      throwError("--march names {} twice; name each processor once", name);
    machines.push_back(machineNamed(triple, name));
  }
  std::ranges::stable_sort(machines, {}, [](const Machine &machine) {
    return std::accumulate(machine.needs.begin(), machine.needs.end(), 0,
                           [](int sum, const Need &need) { return sum + std::popcount(need.bits); });
  });
  return machines;
}

static std::string archiveOf(const std::string &object, const std::string &name) {
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef(object, name));
  auto archive =
      llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                 /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    throw InternalError("the archive could not be made: " + llvm::toString(archive.takeError()));
  return (*archive)->getBuffer().str();
}

static engine::CodeForm codeForm(Form form) {
  return form == Form::LlvmIr     ? engine::CodeForm::LlvmIr
         : form == Form::Assembly ? engine::CodeForm::Assembly
                                  : engine::CodeForm::Object;
}

namespace {

/// A kernel in the making, for each of its processors.
class Kernel {
public:
  explicit Kernel(const AheadOptions &options)
      : options(options), triple(targetTriple(options.target)), machines(machinesOf(options, triple)),
        assembler(context, triple) {}

  const std::vector<Machine> &processors() const { return machines; }

  void add(engine::Compilation &compiled, size_t machine, const std::string &prefix) {
    const engine::Target &target = machines[machine].target;
    std::unique_ptr<llvm::Module> code = engine::optimizedModule(
        compiled.code(), context, target, *engine::makeTargetMachine(target), options.engine.quick);
    if (!code)
      throw InternalError("the LLVM dialect could not be translated");
    assembler.addVariant(std::move(code), prefix);
  }

  void addConversions(const Interface &kernel, size_t machine) {
    for (const Step &step : kernel.steps)
      if (step.isConversion && conversions.insert(conversionName(step, machine)).second) {
        engine::Compilation conversion = conversionOf(kernel, step, options.engine, machines[machine].target);
        conversion.lower();
        add(conversion, machine, conversionName(step, machine));
      }
  }

  Ahead finish(const Interface &kernel, Form form) {
    Ahead ahead;
    ahead.text = kernel.text;
    ahead.header = headerOf(kernel);
    ahead.information = informationOf(kernel, machines, options.threads);
    assembler.addRuntime();
    for (const std::string &name : exportsOf(kernel))
      assembler.requireNew(name);
    assembler.addText(emitKernel(kernel, machines, options.threads, ahead.information));
    ahead.code = assembler.finish(exportsOf(kernel), codeForm(form));
    if (form == Form::Archive)
      ahead.code = archiveOf(ahead.code, options.name + ".o");
    if (form == Form::SharedLibrary)
      ahead.code = linkShared(ahead.code, triple, options.threads == Threads::OpenMp);
    return ahead;
  }

private:
  const AheadOptions &options;
  const std::string triple;
  const std::vector<Machine> machines;
  llvm::LLVMContext context;
  Assembler assembler;
  std::set<std::string> conversions;
};

} // namespace

Ahead compileAhead(const notation::Program &program, const AheadOptions &options, Form form) {
  checkName(options.name);
  engine::checkOptions(options.engine);
  Kernel made(options);
  std::optional<Interface> kernel;
  std::vector<std::string> remarks;
  const std::vector<Machine> &machines = made.processors();
  engine::Options anySize = options.engine;
  anySize.anySize = true;
  for (size_t v = 0; v < machines.size(); ++v) {
    engine::Compilation compilation = engine::compilationOf(program, anySize, machines[v].target);
    const engine::Signature signature = compilation.lower();
    Interface own = interfaceOf(program, signature, options.name);
    if (kernel && kernel->steps != own.steps)
      throwError("--march {}: this program has other steps there than for {}; compile a kernel for each",
                 machines[v].march, machines[0].march);
    kernel = std::move(own);
    remarks = signature.remarks;
    made.add(compilation, v, variantPrefix(v));
    made.addConversions(*kernel, v);
  }
  Ahead ahead = made.finish(*kernel, form);
  ahead.remarks = std::move(remarks);
  return ahead;
}

Ahead compileAhead(const ConversionFormats &formats, const AheadOptions &options, Form form) {
  checkName(options.name);
  engine::checkOptions(options.engine);
  const Interface kernel = interfaceOf(formats.type, formats.from, formats.to, options.name);
  Kernel made(options);
  for (size_t v = 0; v < made.processors().size(); ++v)
    made.addConversions(kernel, v);
  return made.finish(kernel, form);
}

} // namespace tulle::aot
