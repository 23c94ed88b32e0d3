// Any module that MLIR reads is taken to LLVM by the sparsifier's pipeline, or refused by an error; so is it
// by the import alone. Inputs are mutated token by token, and line by line: most of what bytes make is no
// MLIR.
#include "ModuleText.h"
#include "format/Encoding.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "pipeline/Registration.h"
#include "pipeline/Sparsifier.h"
#include "support/Diagnostic.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mlir;

/// Debian's LLVM does not mark the arenas it shares with our code, and keeps what it made for the next
/// module.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_leaks=0"; }

static const DialectRegistry &dialects() {
  static const DialectRegistry registry = [] {
    DialectRegistry made;
    registerAllDialects(made);
    registerAllExtensions(made);
    tulle::pipeline::registerDialects(made);
    return made;
  }();
  return registry;
}

/// MLIR 22's parser of encodings crashes on maps whose blocks do not fit each other; Tulle's refuses them.
static bool hasOnlyFormats(const std::string &text) {
  static const std::string name = "#sparse_tensor.encoding<{";
  for (size_t begin = text.find(name); begin != std::string::npos; begin = text.find(name, begin + 1)) {
    const size_t end = text.find("}>", begin);
    try {
      if (!tulle::format::inverseMap(tulle::format::parseEncoding(
              text.substr(begin, end == std::string::npos ? end : end + 2 - begin))))
        return false;
    } catch (const tulle::support::SyntaxError &) {
      return false;
    }
  }
  return true;
}

/// Runs the passes on a copy; one that fails must say why.
static void run(ModuleOp module, function_ref<LogicalResult(OpPassManager &)> add, int &errors) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(module.getContext());
  if (failed(add(manager)))
    std::abort();
  errors = 0;
  if (failed(manager.run(*copy)) && errors == 0) {
    std::fprintf(stderr, "the pipeline failed without an error\n");
    std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  if (!hasOnlyFormats(text))
    return -1; // no input worth keeping
  MLIRContext context(dialects(), MLIRContext::Threading::DISABLED);
  int errors = 0;
  ScopedDiagnosticHandler count(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return -1;
  run(
      *module,
      [](OpPassManager &manager) {
        manager.addPass(tulle::passes::createImportSparseTensor());
        manager.addPass(tulle::passes::createExportSparseTensor());
        return success();
      },
      errors);
  run(*module, [](OpPassManager &manager) { return tulle::pipeline::addSparsifier(manager, {}); }, errors);
  return 0;
}

using tulle::fuzz::Random;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  if (random(20) == 0)
    return LLVMFuzzerMutate(data, size, most);
  const std::string text(reinterpret_cast<const char *>(data), size);
  const std::string mutated = tulle::fuzz::mutate(text, random).substr(0, most);
  std::memcpy(data, mutated.data(), mutated.size());
  return mutated.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second,
                                            size_t secondSize, uint8_t *out, size_t most, unsigned seed) {
  Random random(seed);
  const std::string mixed =
      tulle::fuzz::mix(std::string(reinterpret_cast<const char *>(first), firstSize),
                       std::string(reinterpret_cast<const char *>(second), secondSize), random)
          .substr(0, most);
  std::memcpy(out, mixed.data(), mixed.size());
  return mixed.size();
}
