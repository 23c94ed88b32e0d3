// The linker works on files, in a folder that is gone afterwards.
#include "aot/SharedLibrary.h"
#include "engine/Codegen.h"
#include "support/Errors.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <cstdlib>
#include <optional>
#include <vector>

namespace tulle::aot {

namespace {

class TemporaryFolder {
public:
  TemporaryFolder() {
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("tulle-compile", path))
      throwError("no folder for the linker's files: {}", error.message());
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  std::string file(const char *name) const { return (path + "/" + name).str(); }

private:
  llvm::SmallString<128> path;
};

/// A compiler, and the options that make it one for the target.
std::vector<std::string> compilerFor(const std::string &triple) {
  const llvm::Triple target(triple);
  const bool isNative = target.getArch() == llvm::Triple(engine::host().triple).getArch();
  const std::string prefix = target.getArchName().str() + "-linux-gnu-";
  std::vector<std::string> names;
  if (const char *chosen = std::getenv("CC"); chosen && *chosen && isNative)
    names.push_back(chosen);
  names.push_back(prefix + "gcc");
  if (isNative)
    names.insert(names.end(), {"cc", "gcc", "clang", "clang-22"});
  for (const std::string &name : names)
    if (auto found = llvm::sys::findProgramByName(name))
      return {*found};
  throwError(
      "a shared library is linked by a C compiler, and there is none for {} (looked for {}); install one, "
      "or write a .o and link it where there is one: cc -shared KERNEL.o -o KERNEL.so -lm",
      triple, names.front());
}

} // namespace

static std::string contentsOf(const std::string &file) {
  auto bytes = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return bytes ? (*bytes)->getBuffer().str() : "";
}

std::string linkShared(const std::string &object, const std::string &triple, bool openMp) {
  const TemporaryFolder folder;
  const std::string input = folder.file("kernel.o"), output = folder.file("kernel.so"),
                    log = folder.file("log");
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(input, error);
    stream << object;
    stream.close();
    if (error || stream.has_error())
      throwError("the linker's files cannot be written: {}",
                 error ? error.message() : stream.error().message());
  }
  std::vector<std::string> command = compilerFor(triple);
  command.insert(command.end(), {"-shared", "-o", output, input, "-Wl,-z,defs", "-lm"});
  if (openMp)
    command.push_back("-fopenmp");
  std::vector<llvm::StringRef> words(command.begin(), command.end());
  const std::optional<llvm::StringRef> redirects[] = {"", log, log};
  std::string why;
  const int code = llvm::sys::ExecuteAndWait(command.front(), words, std::nullopt, redirects, 0, 0, &why);
  const std::string library = contentsOf(output);
  if (code != 0 || library.empty())
    throwError("{} could not link the shared library: {}{}", command.front(), why, contentsOf(log));
  return library;
}

} // namespace tulle::aot
