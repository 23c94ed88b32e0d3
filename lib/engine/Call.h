// Calling a compiled statement: slots, the memory of the call, and the ways out of generated code.
#pragma once
#include "engine/Kernel.h"
#include "engine/Parallel.h"

namespace tulle::engine {

/// Runs a statement on tensors stored as it wants them. `made` is the result of a statement that returns a
/// new tensor: encoding, type and dims are set, and it receives its buffers, each with exactly its size.
/// `name` is what errors call the result. Returns the milliseconds in generated code. Throws Error when
/// memory does not suffice (before it is touched), a coordinate or position does not fit its width, or the
/// result's format cannot hold the entries; nothing that the call allocated is left then. Thread-safe.
double call(const CompiledStatement &code, const std::vector<const runtime::Tensor *> &arguments,
            std::string_view name = {}, runtime::Tensor *made = nullptr, const ThreadSettings &threads = {});

/// A coordinate or position that does not fit: more than an Error, because a wider format can be tried.
class WidthError : public Error {
  using Error::Error;
};

/// What generated code may call (HACKING.md, contract 5), by symbol name. Only inside `call`.
struct RuntimeSymbol {
  const char *name;
  void *address;
};
std::span<const RuntimeSymbol> runtimeSymbols();

} // namespace tulle::engine
