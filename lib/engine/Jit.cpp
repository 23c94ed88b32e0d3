// LLVM's ORC: a library of its own for each object, so that it can be freed, in one process-wide linker that
// knows the engine's functions.
#include "engine/Call.h"
#include "tulle/error.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <atomic>
#include <bit>
#include <cstring>

namespace tulle::engine {
namespace {

namespace orc = llvm::orc;

/// Narrow floats on CPUs without instructions for them. The code generator passes f16 and bf16 in the low
/// bits of a vector register, where a float's bits are too.
uint16_t roundToNearestEven(uint32_t bits, unsigned drop) {
  uint32_t half = 1u << (drop - 1), odd = (bits >> drop) & 1;
  return (bits + (half - 1) + odd) >> drop;
}

float truncateToBf16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  uint32_t narrow = (bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : roundToNearestEven(bits, 16);
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

/// One for the process, never destroyed: kernels may be called until the very end.
llvm::Expected<orc::LLJIT *> sharedJit() {
  static std::mutex mutex;
  static orc::LLJIT *jit = nullptr;
  std::lock_guard lock(mutex);
  if (jit)
    return jit;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto created =
      orc::LLJITBuilder().setPlatformSetUp(orc::setUpInactivePlatform).setNumCompileThreads(0).create();
  if (!created)
    return created.takeError();
  addRuntimeSymbols(**created);
  jit = created->release();
  return jit;
}

/// The value, or an InternalError for a linker's error.
template <class T> T linked(llvm::Expected<T> value) {
  if (!value)
    throw InternalError("compiled code could not be linked: " + llvm::toString(value.takeError()));
  return *value;
}

class OrcObject final : public LoadedObject {
public:
  OrcObject(orc::LLJIT &jit, orc::JITDylib &dylib) : jit(jit), dylib(dylib) {}
  ~OrcObject() override {
    if (llvm::Error error = jit.getExecutionSession().removeJITDylib(dylib))
      llvm::consumeError(std::move(error)); // only memory is lost
  }
  Entry lookup(std::string_view name) const override {
    return linked(jit.lookup(dylib, llvm::StringRef(name))).toPtr<Entry>();
  }

private:
  orc::LLJIT &jit;
  orc::JITDylib &dylib;
};

} // namespace

std::unique_ptr<LoadedObject> loadObject(std::string_view object, std::string_view name) {
  static std::atomic<uint64_t> serial = 0;
  orc::LLJIT &jit = *linked(sharedJit());
  std::string unique = std::string(name) + "." + std::to_string(serial++);
  orc::JITDylib &dylib = linked<orc::JITDylib &>(jit.createJITDylib(unique));
  auto loaded = std::make_unique<OrcObject>(jit, dylib);
  dylib.addToLinkOrder(jit.getMainJITDylib());
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object), unique);
  if (llvm::Error error = jit.addObjectFile(dylib, std::move(buffer)))
    throw InternalError("compiled code could not be linked: " + llvm::toString(std::move(error)));
  return loaded;
}

} // namespace tulle::engine
