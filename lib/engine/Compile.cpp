// Programs to kernels: found in memory by a key of everything their code depends on, else on disk, else
// compiled; and the text of every stage on the way.
#include "dialect/Dialect.h"
#include "engine/Codegen.h"
#include "engine/Compilation.h"
#include "engine/DiskCache.h"
#include "engine/Parallel.h"
#include "iteration/CostModel.h"
#include "notation/FixedSizes.h"
#include "notation/Sparsity.h"
#include "passes/import/Import.h"
#include "support/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Object/ObjectFile.h"
#include <chrono>
#include <dlfcn.h>
#include <fmt/ranges.h>
#include <limits>
#include <list>
#include <mutex>
#include <set>
#include <sys/stat.h>

namespace tulle::engine {

using pipeline::Stage;

static constexpr unsigned kMostThreads = 1024;

void checkOptions(const Options &options) {
  if (options.vectorLength > 64 || (options.vectorLength & (options.vectorLength - 1)) != 0)
    throwError("vector length {}: expected a power of 2 up to 64, or 0 to let the compiler choose",
               options.vectorLength);
  if (options.scalable && options.vectorLength == 0)
    throw Error("scalable vectors: give the vector length, the elements of one granule (2 of f64 for SVE)");
  if (std::vector<std::string> known = tailNames(); std::ranges::count(known, options.tail) == 0)
    throwError("tail '{}': expected one of {}", options.tail, fmt::join(known, ", "));
  if (options.threads > kMostThreads)
    throwError("threads = {}: expected at most {}, or 0 for all cores", options.threads, kMostThreads);
  if (std::vector<std::string> known = strategyNames(); std::ranges::count(known, options.strategy) == 0)
    throwError("strategy '{}': expected one of {}", options.strategy, fmt::join(known, ", "));
}

std::vector<std::string> tailNames() { return {"auto", "mask"}; }
std::vector<std::string> strategyNames() { return dialect::strategyNames(); }

bool indicesFit32(const std::vector<int64_t> &dims, int64_t entries) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  return entries <= most && std::all_of(dims.begin(), dims.end(), [](int64_t size) { return size <= most; });
}

bool coordinatesFit32(const notation::Program &program) {
  return std::all_of(program.tensors.begin(), program.tensors.end(),
                     [](const notation::TensorDecl &t) { return indicesFit32(t.dims, t.entries); });
}

pipeline::Options pipelineOptions(const Options &options, bool index32) {
  index32 &= !options.wideIndices;
  return {options.vectorLength,
          index32,
          emitsParallelCode(options),
          options.deterministic,
          options.quick,
          options.strategy,
          options.upstreamPasses,
          options.lowerFirst,
          options.scalable,
          options.tail,
          options.figures};
}

/// Changes whenever the library or program that holds this compiler is built anew; the same for copies of one
/// on several machines.
static std::string compilerVersion() {
  std::string version = "tulle " TULLE_VERSION " llvm " LLVM_VERSION_STRING;
  Dl_info info;
  bool found = dladdr(reinterpret_cast<void *>(&compilerVersion), &info) && info.dli_fname;
  // A program that was found through PATH is known to the loader by the name that was typed only.
  const char *path = found && info.dli_fname[0] == '/' ? info.dli_fname : "/proc/self/exe";
  if (auto file = llvm::object::ObjectFile::createObjectFile(path)) {
    if (const auto id = llvm::object::getBuildID(file->getBinary()); !id.empty())
      return version + " " + llvm::toHex(id, /*LowerCase=*/true);
  } else {
    llvm::consumeError(file.takeError());
  }
  // Of a linker that makes no build ID.
  if (struct stat file; stat(path, &file) == 0)
    version += fmt::format(" {} {}.{}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  return version;
}

/// Extents of subscripts such as `A(i+r)` become constants of the code; so do the sizes of a new tensor that
/// no operand has.
static bool dependsOnSizes(const notation::Program &program, const notation::Statement &statement) {
  bool depends = statement.part;
  std::set<unsigned> known; // indices with the size of an operand's dimension
  for (const notation::Access *access : notation::accesses(statement))
    for (const notation::Affine &subscript : access->subscripts)
      if (subscript.isVariable())
        known.insert(subscript.terms[0].first);
      else
        depends = true;
  if (!format::isAllDense(program.tensors[statement.lhs.tensor].encoding) && !statement.concat.isWhole())
    for (const notation::Affine &subscript : statement.lhs.subscripts)
      depends |= subscript.isVariable() && !known.contains(subscript.terms[0].first);
  return depends;
}

bool dependsOnSizes(const notation::Program &program) {
  return std::ranges::any_of(program.statements,
                             [&](const notation::Statement &s) { return dependsOnSizes(program, s); });
}

format::Encoding withOpenSlices(format::Encoding encoding) {
  for (format::Dimension &dimension : encoding.dims)
    if (std::optional<format::Slice> &slice = dimension.slice)
      slice = format::Slice{std::nullopt, std::nullopt, slice->stride == 1 ? slice->stride : std::nullopt};
  return encoding;
}

notation::Program withOpenSlices(notation::Program program) {
  for (notation::TensorDecl &tensor : program.tensors)
    if (format::hasSlices(tensor.encoding))
      tensor.encoding = withOpenSlices(tensor.encoding);
  return program;
}

std::string cacheKeyHead(const Options &options) {
  static const std::string compiler = compilerVersion();
  return fmt::format(
      "{}\n{} {} {}\nplanned for {}\nstrict {:d} drop {:d} vl {} scalable {:d} tail {} wide {:d} strategy {} "
      "parallel {:d} deterministic {:d} quick {:d} passes {} first {} figures {}\n",
      compiler, host().triple, host().cpu, host().features, iteration::printCpu(host().plan),
      options.strictFp, options.dropZeros, options.vectorLength, options.scalable, options.tail,
      options.wideIndices, options.strategy, emitsParallelCode(options), options.deterministic, options.quick,
      options.upstreamPasses, options.lowerFirst, options.figures);
}

/// Everything the object code of a program depends on, as text: the program, the types and formats of its
/// tensors, the options, the CPU and this compiler. Sizes only where the code depends on them.
static std::string cacheKey(const notation::Program &program, const Options &options) {
  const bool sizes = dependsOnSizes(program);
  const std::vector<std::vector<bool>> fixed = notation::fixedSizes(program);
  std::string key = cacheKeyHead(options) + "index32 " + std::to_string(coordinatesFit32(program)) + "\n";
  for (unsigned t = 0; t < program.tensors.size(); ++t) {
    const notation::TensorDecl &tensor = program.tensors[t];
    format::Encoding encoding =
        format::hasSlices(tensor.encoding) ? withOpenSlices(tensor.encoding) : tensor.encoding;
    if (format::isAllDense(encoding)) // widths of nothing
      encoding.posWidth = encoding.crdWidth = 0;
    key += tensor.name + " " + std::string(name(tensor.type)) + " " + format::print(encoding) +
           (tensor.input ? " input" : "") + (tensor.written ? " written" : "") +
           (tensor.result ? " result" : "") +
           (tensor.like ? " like " + program.tensors[*tensor.like].name : "");
    for (size_t d = 0; d < tensor.dims.size(); ++d)
      key += sizes || (!options.anySize && fixed[t][d]) ? " " + std::to_string(tensor.dims[d]) : " ?";
    key += "\n";
  }
  std::vector<int64_t> entries;
  for (const notation::TensorDecl &tensor : program.tensors)
    if (tensor.entries >= 0 && !format::isAllDense(tensor.encoding))
      entries.push_back(tensor.entries);
  if (entries.size() > 1) { // how many one operand has against another
    key += "entries";
    for (double ratio : iteration::relativeEntries(entries))
      key += " " + std::to_string(int64_t(ratio));
    key += "\n";
  }
  for (unsigned t = 0; t < program.tensors.size(); ++t) {
    if (const auto bytes = passes::tableBytes(program, t))
      key += program.tensors[t].name + " of " + std::to_string(*bytes) + " bytes\n";
    if (!options.anySize && passes::bytesBelow(program, t))
      key += program.tensors[t].name + " in caches\n";
    if (const auto length = passes::segmentLength(program, t))
      key += program.tensors[t].name + " segments of " + std::to_string(*length) + "\n";
  }
  return key + program.text + "\n" + notation::print(program) + notation::printSchedule(program);
}

Compilation compilationOf(const notation::Program &program, const Options &options, const Target &target) {
  std::vector<std::string> names;
  for (const notation::TensorDecl &tensor : program.tensors)
    names.push_back(tensor.name);
  return Compilation(
      program.text, std::move(names), pipelineOptions(options, coordinatesFit32(program)),
      [&](mlir::MLIRContext &context) {
        return passes::importProgram(context, program,
                                     {options.strictFp, options.anySize, options.dropZeros});
      },
      {program.schedule, program.scheduleName}, target);
}

static std::string printProgram(const notation::Program &program) {
  std::string text;
  for (const notation::TensorDecl &tensor : program.tensors)
    if (!tensor.condition)
      text += fmt::format("// {}: {}[{}] {}\n", tensor.name, name(tensor.type), fmt::join(tensor.dims, ","),
                          format::displayName(tensor.encoding));
  text += notation::print(program);
  if (std::string schedule = notation::printSchedule(program); !schedule.empty())
    text += "// schedule: " + schedule + "\n";
  return text;
}

std::string explain(const notation::Program &program, std::string_view stageName, const Options &options) {
  const Stage stage = pipeline::stageNamed(stageName);
  checkOptions(options);
  if (stage == Stage::Notation)
    return printProgram(program);
  std::string text;
  if (stage == Stage::Schedule) {
    const notation::Program loops = notation::splitDigits(program);
    for (const std::string &reason : notation::reasonsOfDigits(program, loops))
      text += "// " + reason + "\n";
    for (const std::string &primitive : notation::primitivesOfLoops(loops))
      text += primitive + ";\n";
  }
  return text + compilationOf(withOpenSlices(program), options).text(stage);
}

//===--- Kernels that are there already ---===//

static std::shared_ptr<const Kernel> link(ObjectCode code) {
  auto loaded = std::make_unique<LoadedObject>(code.object, "program");
  auto kernel =
      std::make_shared<Kernel>(Kernel{std::move(code.statements), std::move(code.loops),
                                      std::move(code.remarks), std::move(code.object), std::move(loaded)});
  for (size_t k = 0; k < kernel->statements.size(); ++k)
    kernel->statements[k].entry = kernel->code->lookup(kernel->statements[k].function + "_entry");
  return kernel;
}

namespace {

/// The kernels used last, for the whole process. Those dropped live on as long as an Executable holds them.
class MemoryCache {
public:
  std::shared_ptr<const Kernel> find(const std::string &key) {
    std::lock_guard lock(mutex);
    auto it = byKey.find(key);
    if (it == byKey.end())
      return nullptr;
    order.splice(order.begin(), order, it->second.second);
    return it->second.first;
  }

  void insert(const std::string &key, std::shared_ptr<const Kernel> kernel) {
    std::lock_guard lock(mutex);
    if (byKey.contains(key))
      return;
    order.push_front(key);
    byKey.emplace(key, std::pair(std::move(kernel), order.begin()));
    if (order.size() > capacity) {
      byKey.erase(order.back());
      order.pop_back();
    }
  }

private:
  static constexpr size_t capacity = 512;
  std::mutex mutex;
  std::list<std::string> order; ///< latest first
  std::map<std::string, std::pair<std::shared_ptr<const Kernel>, std::list<std::string>::iterator>> byKey;
};

MemoryCache &memoryCache() {
  static auto *cache = new MemoryCache; // never destroyed, as the linker that owns the code
  return *cache;
}

/// A kernel that was compiled elsewhere; nothing when there is none or it does not link (one of another
/// compiler that happens to agree).
std::shared_ptr<const Kernel> linkIfAny(std::optional<ObjectCode> code) {
  if (!code)
    return nullptr;
  try {
    return link(std::move(*code));
  } catch (const InternalError &) {
    return nullptr;
  }
}

} // namespace

std::pair<std::shared_ptr<const Kernel>, const char *>
findOrCompile(const std::string &key, const Options &options, const std::function<ObjectCode()> &compile) {
  if (std::shared_ptr<const Kernel> kernel = memoryCache().find(key))
    return {kernel, "memory cache"};
  std::filesystem::path directory = options.diskCache ? cacheDirectory() : std::filesystem::path();
  if (options.diskCache)
    (void)cacheLimit(); // throws where nobody could know what it means
  const char *origin = "object code";
  std::shared_ptr<const Kernel> kernel =
      options.objectCode ? linkIfAny(unpacked(key, *options.objectCode)) : nullptr;
  if (!kernel) {
    origin = "disk cache";
    kernel = linkIfAny(readCached(directory, key));
  }
  if (!kernel) {
    ObjectCode code = compile();
    writeCached(directory, key, code);
    kernel = link(std::move(code));
    origin = "compiled";
  }
  memoryCache().insert(key, kernel);
  return {kernel, origin};
}

/// Whether this program, of which `anySize` is the key without sizes, is one of the first for whose sizes it
/// is compiled: one whose sizes keep changing is not compiled each time.
static bool deservesCode(const std::string &anySize, const std::string &key) {
  constexpr size_t most = 8;
  static std::mutex mutex;
  static std::map<size_t, std::set<size_t>> keys; // hashes
  const std::hash<std::string> hash;
  std::lock_guard lock(mutex);
  std::set<size_t> &ofProgram = keys[hash(anySize)];
  if (ofProgram.size() < most)
    ofProgram.insert(hash(key));
  return ofProgram.contains(hash(key));
}

std::shared_ptr<Executable> compile(const notation::Program &program, const Options &given) {
  checkOptions(given);
  auto begin = std::chrono::steady_clock::now();
  Options options = given;
  std::string key = cacheKey(program, options);
  // A schedule may need sizes.
  if (!options.anySize && program.schedule.empty()) {
    options.anySize = true;
    std::string anySize = cacheKey(program, options);
    options.anySize = anySize != key && !deservesCode(anySize, key);
    if (options.anySize)
      key = std::move(anySize);
  }
  auto [kernel, origin] =
      findOrCompile(key, options, [&] { return compilationOf(withOpenSlices(program), options).object(); });
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  return std::make_shared<Executable>(program, std::move(kernel), elapsed.count(), origin, options);
}

std::string Executable::objectCode() const {
  return packed(cacheKey(checked, options),
                {kernel->statements, kernel->loops, kernel->remarks, kernel->object});
}

} // namespace tulle::engine
