#include "MlirSparsifier.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>
#include <stdexcept>
#include <unistd.h>

namespace tulle::bench {

struct MlirKernel::Impl {
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<mlir::ExecutionEngine> engine;
  void (*entry)(void **) = nullptr;
  bool returnsMemref = false;
  std::vector<std::vector<int64_t>> descriptors; ///< pointer, pointer, offset, sizes, strides
  std::vector<void *> pointers, slots;
  int64_t result[5] = {};
  void *packed = nullptr;

  void lookUp(const char *name, void (*&function)(void **)) {
    auto found = engine->lookupPacked(name);
    if (!found)
      throw std::runtime_error(llvm::toString(found.takeError()));
    function = *found;
  }
};

/// Where MLIR's own run-time library is; nothing where it is not installed.
static std::vector<llvm::StringRef> runtimeLibraries() {
  static const char *path = MLIR_RUNTIME_LIBRARY;
  return access(path, R_OK) == 0 ? std::vector<llvm::StringRef>{path} : std::vector<llvm::StringRef>{};
}

static std::unique_ptr<llvm::TargetMachine> hostMachine() {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    throw std::runtime_error("no host target");
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  auto machine = builder->createTargetMachine();
  if (!machine)
    throw std::runtime_error("no target machine");
  return std::move(*machine);
}

static mlir::DialectRegistry &registry() {
  static mlir::DialectRegistry registry;
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    mlir::registerAllPasses();
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    mlir::registerAllToLLVMIRTranslations(registry);
  });
  return registry;
}

MlirKernel::MlirKernel(const std::string &text, const std::string &sparsifierOptions, bool returnsMemref)
    : impl(std::make_unique<Impl>()) {
  impl->returnsMemref = returnsMemref;
  impl->context = std::make_unique<mlir::MLIRContext>(registry(), mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, impl->context.get());
  mlir::PassManager passes(impl->context.get());
  if (!module || failed(mlir::parsePassPipeline("sparsifier{" + sparsifierOptions + "}", passes)) ||
      failed(passes.run(*module)))
    throw std::runtime_error("MLIR's sparsifier failed");
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  mlir::ExecutionEngineOptions options;
  auto optimize = mlir::makeOptimizingTransformer(3, 0, machine.get());
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  const std::vector<llvm::StringRef> libraries = runtimeLibraries();
  options.sharedLibPaths = libraries;
  auto engine = mlir::ExecutionEngine::create(*module, options, hostMachine());
  if (!engine)
    throw std::runtime_error(llvm::toString(engine.takeError()));
  impl->engine = std::move(*engine);
  impl->lookUp("_mlir_ciface_kernel", impl->entry);
}

MlirKernel::~MlirKernel() {
  void (*release)(void **) = nullptr;
  if (!impl->packed)
    return;
  impl->lookUp("_mlir_ciface_release", release);
  void *slots[] = {&impl->packed};
  release(slots);
}

void MlirKernel::pack(const std::vector<MemRef> &arguments) {
  void (*entry)(void **) = nullptr;
  impl->lookUp("_mlir_ciface_pack", entry);
  bind(arguments);
  void *made = nullptr;
  impl->slots.push_back(&made);
  entry(impl->slots.data());
  impl->packed = made;
}

void MlirKernel::bind(const std::vector<MemRef> &arguments) {
  impl->descriptors.clear();
  impl->pointers.clear();
  for (const MemRef &argument : arguments) {
    int64_t address = reinterpret_cast<int64_t>(argument.data);
    std::vector<int64_t> descriptor = {address, address, 0};
    descriptor.insert(descriptor.end(), argument.sizes.begin(), argument.sizes.end());
    std::vector<int64_t> strides(argument.sizes.size(), 1);
    for (size_t d = strides.size(); d-- > 1;)
      strides[d - 1] = strides[d] * argument.sizes[d];
    descriptor.insert(descriptor.end(), strides.begin(), strides.end());
    impl->descriptors.push_back(std::move(descriptor));
  }
  if (impl->returnsMemref)
    impl->pointers.push_back(impl->result);
  for (std::vector<int64_t> &descriptor : impl->descriptors)
    impl->pointers.push_back(descriptor.data());
  impl->slots.clear();
  if (impl->packed)
    impl->slots.push_back(&impl->packed);
  for (void *&pointer : impl->pointers)
    impl->slots.push_back(&pointer);
}

void MlirKernel::run() { impl->entry(impl->slots.data()); }

} // namespace tulle::bench
