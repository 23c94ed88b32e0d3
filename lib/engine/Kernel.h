// What compiling leaves behind: machine code and how to call it. One kernel serves every program that differs
// only in sizes.
#pragma once
#include "engine/Engine.h"
#include "pipeline/Stages.h"
#include <functional>
#include <memory>
#include <string_view>

namespace llvm::orc {
class JITDylib;
}

namespace tulle::engine {

/// A program as object code, before it is linked: what the disk cache holds, and other processes are sent.
struct ObjectCode {
  std::vector<CompiledStatement> statements;
  std::vector<notation::Loop> loops; ///< of statements as they are here
  std::vector<std::string> remarks;
  std::string object;
};

/// Object code (an ELF or Mach-O relocatable file), linked into the process: it lives as long as this.
/// Thread-safe. Throws InternalError.
class LoadedObject {
public:
  using Entry = void (*)(void **slots);
  LoadedObject(std::string_view object, std::string_view name);
  /// The function of that name. Throws InternalError when the object has none.
  Entry lookup(std::string_view name) const;

private:
  struct Unload {
    void operator()(llvm::orc::JITDylib *library) const;
  };
  std::unique_ptr<llvm::orc::JITDylib, Unload> library;
};

/// Linked code.
struct Kernel {
  std::vector<CompiledStatement> statements;
  std::vector<notation::Loop> loops; ///< as those of the program, by number
  std::vector<std::string> remarks;
  std::string object; ///< before it was linked, for other processes
  std::unique_ptr<LoadedObject> code;
};

/// What the object code of any program depends on: options, CPU and this compiler.
std::string cacheKeyHead(const Options &options);

/// The kernel of that key: from memory, from what another process has compiled, from disk, or from `compile`;
/// and which of them it was.
std::pair<std::shared_ptr<const Kernel>, const char *>
findOrCompile(const std::string &key, const Options &options, const std::function<ObjectCode()> &compile);

/// What the passes are told.
pipeline::Options pipelineOptions(const Options &options, bool index32);

/// Throws Error for values no option may have.
void checkOptions(const Options &options);

/// Whether coordinates of these sizes, and positions of so many entries, fit a signed 32-bit integer.
bool indicesFit32(const std::vector<int64_t> &dims, int64_t entries = 0);

/// The same for every tensor of a program.
bool coordinatesFit32(const notation::Program &program);

/// What code for slices is compiled for: with `?` for offsets and sizes, and for strides that are not 1.
format::Encoding withOpenSlices(format::Encoding encoding);
notation::Program withOpenSlices(notation::Program program);

/// Whether the code of a program is for the sizes that its tensors have, and no others.
bool dependsOnSizes(const notation::Program &program);

/// Whether code for one encoding can read data stored in the other: widths mean nothing where no level stores
/// numbers.
bool sameStorage(const format::Encoding &a, const format::Encoding &b);

/// Whether every element is stored, the last dimension fastest, widths aside: the format `dense`.
bool isRowMajor(const format::Encoding &encoding);

/// The operand whose pattern the result of a statement has, by its tensor.
std::optional<unsigned> operandWithPattern(const notation::Program &program, unsigned statement);

} // namespace tulle::engine
