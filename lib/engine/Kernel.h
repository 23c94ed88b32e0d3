// What compiling leaves behind: machine code and how to call it. One kernel serves every program that differs
// only in sizes.
#pragma once
#include "engine/Engine.h"
#include "pipeline/Stages.h"
#include <functional>
#include <memory>
#include <string_view>

namespace tulle::engine {

/// A program as object code, before it is linked: what the disk cache holds.
struct ObjectCode {
  std::vector<CompiledStatement> statements;
  std::vector<std::string> remarks;
  std::string object;
};

/// A linked object. Its code lives as long as this.
class LoadedObject {
public:
  using Entry = void (*)(void **slots);
  virtual ~LoadedObject() = default;
  /// The function of that name. Throws InternalError when the object has none.
  virtual Entry lookup(std::string_view name) const = 0;
};

/// Links `object` (an ELF or Mach-O relocatable file) into the process. Thread-safe. Throws InternalError.
std::unique_ptr<LoadedObject> loadObject(std::string_view object, std::string_view name);

/// Linked code.
struct Kernel {
  std::vector<CompiledStatement> statements;
  std::vector<std::string> remarks;
  std::unique_ptr<LoadedObject> code;
};

std::shared_ptr<const Kernel> link(ObjectCode code);

/// What the object code of any program depends on: options, CPU and this compiler.
std::string cacheKeyHead(const Options &options);

/// Everything the object code of a program depends on, as text: the program, the types and formats of its
/// tensors, the options, the CPU and this compiler. Sizes only where the code depends on them.
std::string cacheKey(const notation::Program &program, const Options &options);

/// The kernel of that key: from memory, from disk, or from `compile`; and which of them it was.
std::pair<std::shared_ptr<const Kernel>, const char *>
findOrCompile(const std::string &key, const Options &options, const std::function<ObjectCode()> &compile);

/// Runs the stages. Throws Error for programs that cannot be compiled, InternalError for our own mistakes.
ObjectCode compileToObject(const notation::Program &program, const Options &options);

/// What the passes are told.
pipeline::Options pipelineOptions(const Options &options, bool index32);

/// The stage of that name. Throws Error where there is none.
pipeline::Stage stageNamed(std::string_view name);

/// Throws Error for values no option may have.
void checkOptions(const Options &options);

/// Whether coordinates of these sizes, and positions of so many entries, fit a signed 32-bit integer.
bool indicesFit32(const std::vector<int64_t> &dims, int64_t entries = 0);

/// The same for every tensor of a program.
bool coordinatesFit32(const notation::Program &program);

} // namespace tulle::engine
