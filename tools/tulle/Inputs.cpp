// Collects what options say of each name, reads the files, fits sizes together, then checks the program and
// stores each tensor in its format.
#include "Inputs.h"
#include "Progress.h"
#include "engine/CompareLengths.h"
#include "format/Checks.h"
#include "notation/Program.h"
#include "runtime/generate/Generate.h"
#include "runtime/tensor/Elements.h"
#include "runtime/tensor/Lengths.h"
#include "support/Errors.h"
#include <charconv>
#include <chrono>
#include <cstring>
#include <fmt/ranges.h>

namespace tulle::cli {

using notation::TensorUse;
using runtime::Entries;
using runtime::FileContents;
using runtime::Tensor;
using Clock = std::chrono::steady_clock;

static double msSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::pair<std::string, std::string> splitAssignment(std::string_view flag, const std::string &text) {
  size_t at = text.find('=');
  if (at == 0 || at == std::string::npos)
    throwError("{} '{}': expected NAME=VALUE", flag, text);
  if (at + 1 == text.size())
    throwError("{} '{}': nothing stands after '='; expected NAME=VALUE", flag, text);
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<int64_t> parseDims(const std::string &what, std::string_view text) {
  if (text.empty())
    throwError("{}: no size is given; write sizes such as 4x5", what);
  std::vector<int64_t> dims;
  const char *at = text.data(), *end = text.data() + text.size();
  while (at != end) {
    int64_t size = 0;
    auto [next, code] = std::from_chars(at, end, size);
    if (code == std::errc() && size < 0)
      throwError("{}: the size {} in '{}' is negative; sizes are 0 or more", what, size, text);
    if (code == std::errc::result_out_of_range)
      throwError("{}: a size in '{}' does not fit a signed 64-bit integer", what, text);
    bool separated = next != end && (*next == 'x' || *next == ',') && next + 1 != end;
    if (code != std::errc() || (next != end && !separated))
      throwError("{}: '{}' is not a list of sizes such as 4x5", what, text);
    dims.push_back(size);
    at = next == end ? end : next + 1;
  }
  return dims;
}

static const TensorUse &findUse(std::string_view flag, const std::string &name,
                                const std::vector<TensorUse> &uses) {
  std::vector<std::string> names;
  for (const TensorUse &use : uses) {
    if (use.name == name)
      return use;
    names.push_back(use.name);
  }
  throwError("{} {}: the program has no tensor '{}'; it uses {}", flag, name, name, fmt::join(names, ", "));
}

/// The values of a NAME=VALUE option by name; every name must be used in the program, once in the options.
static std::map<std::string, std::string>
collect(std::string_view flag, const std::vector<std::string> &texts, const std::vector<TensorUse> &uses) {
  std::map<std::string, std::string> values;
  for (const std::string &text : texts) {
    auto [name, value] = splitAssignment(flag, text);
    findUse(flag, name, uses);
    if (!values.emplace(name, value).second)
      throwError("{} {}: given twice; keep one of them", flag, name);
  }
  return values;
}

ElementType parseType(const std::string &what, const std::string &text) {
  if (auto type = parseElementType(text))
    return *type;
  throwError("{}: unknown type '{}'; expected f64 f32 f16 bf16 c64 c128 i8 i16 i32 i64 or bool", what, text);
}

static std::map<std::string, ElementType> collectTypes(const std::vector<std::string> &texts,
                                                       const std::vector<TensorUse> &uses) {
  std::map<std::string, ElementType> types;
  std::vector<std::string> named;
  for (const std::string &text : texts) {
    if (text.find('=') != std::string::npos) {
      named.push_back(text);
      continue;
    }
    for (const TensorUse &use : uses)
      types[use.name] = parseType("--type", text);
  }
  for (const auto &[name, text] : collect("--type", named, uses))
    types[name] = parseType("--type " + name, text);
  return types;
}

static void convertType(FileContents &contents, ElementType type) {
  if (contents.isStored) {
    Tensor &old = contents.stored;
    if (old.type == type)
      return;
    Tensor made = runtime::likePattern(old, type);
    runtime::convertElements(old.type, static_cast<const std::byte *>(old.values()), type,
                             static_cast<std::byte *>(made.values()), old.storedCount());
    contents.stored = std::move(made);
    return;
  }
  Entries &entries = contents.entries;
  if (entries.type == type)
    return;
  std::vector<std::byte> values(entries.count() * byteWidth(type));
  runtime::convertElements(entries.type, entries.values.data(), type, values.data(), entries.count());
  entries.values = std::move(values);
  entries.type = type;
}

/// Calls `work`; its errors, which know no file, begin with `name`.
template <class Work> static auto naming(const std::string &name, Work work) {
  try {
    return work();
  } catch (const Error &error) {
    throwError("{}: {}", name, error.what());
  }
}

/// Drops dimensions of size one, last first, until `order` are left.
static void dropUnitDims(FileContents &contents, unsigned order) {
  // A dense tensor keeps its elements; what is stored otherwise is taken apart.
  if (contents.isStored && !format::isAllDense(contents.stored.encoding)) {
    contents.entries = runtime::unpack(contents.stored);
    contents.isStored = false;
  }
  std::vector<int64_t> dims = contents.dims();
  for (size_t d = dims.size(); d-- > 0 && dims.size() > order;) {
    if (dims[d] != 1)
      continue;
    dims.erase(dims.begin() + d);
    if (!contents.isStored)
      contents.entries.coords.erase(contents.entries.coords.begin() + d);
  }
  if (!contents.isStored)
    contents.entries.dims = dims;
  else if (dims.size() != contents.stored.dims.size())
    contents.stored = runtime::borrowDense(contents.stored.type, dims, contents.stored.values(),
                                           contents.stored.buffers.back().owner);
}

FileContents readContents(const std::string &name, const std::string &spec, std::optional<unsigned> order,
                          const std::vector<int64_t> &dims, std::optional<ElementType> type) {
  if (runtime::isGenerator(spec)) {
    Progress progress("generating " + name);
    return runtime::generate(spec, dims, type.value_or(ElementType::F64));
  }
  Progress progress("reading " + spec);
  FileContents contents =
      runtime::readFile(spec, [&](double value) { progress.fraction(value); }, order.value_or(0));
  if (type)
    naming(spec, [&] { convertType(contents, *type); });
  size_t had = contents.dims().size();
  if (order && *order < had) {
    dropUnitDims(contents, *order);
    // A vector file is no matrix any more: the format it suggested was for its old order.
    if (!contents.isStored && *order < 2)
      contents.suggested = *order == 1 ? "(i) -> (i : compressed)" : "dense";
  }
  return contents;
}

FileContents readAlone(const std::string &file, const std::string &dims, const std::string &type) {
  std::optional<ElementType> element;
  if (!type.empty())
    element = parseType("--type", type);
  std::vector<int64_t> sizes;
  if (!dims.empty())
    sizes = parseDims("--dims", dims);
  return readContents(file, file, std::nullopt, sizes, element);
}

runtime::Tensor storeAlone(const std::string &file, const std::string &dims, const std::string &type,
                           const std::string &format, const format::Declarations &levels) {
  FileContents contents = readAlone(file, dims, type);
  const format::Encoding encoding =
      format::parseFormatFor(format.empty() ? contents.suggested : format, contents.dims(),
                             format.empty() ? "<suggested>" : "-f", levels);
  if (std::string why = format::whyNotExecutable(encoding); !why.empty())
    throwError("-f '{}': {}", format, why);
  return store(file, std::move(contents), encoding);
}

Tensor store(const std::string &name, FileContents contents, const format::Encoding &encoding,
             const engine::Options &options, engine::ConversionReport *report) {
  if (format::hasSlices(encoding)) // a file holds what the slices are cut from
    return naming(name, [&, whole = store(name, std::move(contents), format::withoutSlices(encoding), options,
                                          report)] { return runtime::cut(whole, encoding); });
  Progress progress("storing " + name);
  return naming(name, [&] {
    return contents.isStored ? engine::convert(contents.stored, encoding, options, report)
                             : engine::store(std::move(contents.entries), encoding, options, report);
  });
}

namespace {

/// The steps of load(), over what they share.
class Loader {
public:
  Loader(const ProgramOptions &options, bool withData, const engine::Options &engineOptions, bool keep)
      : options(options), withData(withData), keep(keep), engineOptions(engineOptions) {}
  LoadedProgram run();

private:
  void parseLikes();
  void parseFormats();
  void readFiles();
  void read(const TensorUse &use, const std::string &spec);
  std::vector<int64_t> sizesOf(const TensorUse &use, const std::string &spec, const FileContents &read);
  void cutDims();
  void completeDims();
  void makeGenerated();
  void parseLengths();
  void cutLengths();
  notation::Program check();
  Tensor storeOne(const LoadedProgram &loaded, const notation::TensorDecl &decl,
                  engine::ConversionReport &report);
  bool isStorable(const LoadedProgram &loaded, size_t t) const;
  void storeInput(LoadedProgram &loaded, size_t t, engine::ConversionReport &report);

  const ProgramOptions &options;
  bool withData, keep;
  const engine::Options &engineOptions; ///< of the conversions that store
  std::vector<TensorUse> uses;
  std::map<std::string, std::string> specs;
  std::map<std::string, format::Encoding> formats;         ///< those given
  notation::Likes likes;                                   ///< tensors with the structure of another
  std::map<std::string, std::vector<std::string>> lengths; ///< files, of each dimension
  std::map<std::string, ElementType> types;
  std::map<std::string, std::vector<int64_t>> dims; ///< known sizes; after completeDims all of them
  std::map<std::string, std::vector<int64_t>>
      wholeDims; ///< of inputs that are slices: what they are cut from
  std::map<std::string, FileContents> contents;
  std::vector<std::string> nominal; ///< as in LoadedProgram
};

} // namespace

/// `-f E='like A'`. What lends its structure is used by the program, too.
void Loader::parseLikes() {
  for (const std::string &text : options.formats) {
    auto [name, format] = splitAssignment("-f", text);
    if (auto pattern = notation::likeName(format))
      likes[name] = *pattern;
  }
  uses = notation::tensorsUsed(options.text);
  for (const auto &[name, pattern] : likes) {
    findUse("-f", name, uses);
    if (pattern.empty())
      throwError("-f {}=like: expected the name of the tensor whose structure it has", name);
  }
  uses = notation::tensorsUsed(options.text, likes);
}

void Loader::parseFormats() {
  const format::Declarations levels = options.levels.read();
  for (const auto &[name, text] : collect("-f", options.formats, uses)) {
    if (likes.count(name))
      continue;
    format::Encoding encoding =
        format::parseFormat(text, findUse("-f", name, uses).order, "-f " + name, levels);
    if (std::string why = format::whyNotExecutable(encoding); !why.empty())
      throwError("-f {}={}: {}", name, text, why);
    formats.emplace(name, std::move(encoding));
  }
}

/// What is read is what slices are cut from; sizes of the program are those of the slices.
void Loader::cutDims() {
  for (const auto &[name, encoding] : formats) {
    if (!format::hasSlices(encoding))
      continue;
    if (auto found = dims.find(name); found != dims.end())
      wholeDims[name] = found->second;
    else if (withData && specs.count(name))
      throwError("-t {}={}: the size of what the slices are cut from is unknown; add --dims {}=SIZE…", name,
                 specs[name], name);
    std::vector<int64_t> &sizes = dims.try_emplace(name, encoding.order(), -1).first->second;
    for (unsigned d = 0; d < std::min<size_t>(encoding.order(), sizes.size()); ++d)
      if (encoding.dims[d].slice)
        sizes[d] = *encoding.dims[d].slice->size;
  }
}

void Loader::readFiles() {
  for (const auto &[name, text] : collect("--dims", options.dims, uses))
    dims[name] = parseDims("--dims " + name, text);
  // The sizes of what is like another tensor may follow from that one's.
  for (bool like : {false, true})
    for (const auto &[name, spec] : specs)
      if (likes.count(name) == like)
        read(findUse("-t", name, uses), spec);
}

void Loader::read(const TensorUse &use, const std::string &spec) {
  const std::string &name = use.name;
  if (runtime::isGenerator(spec)) {
    auto implied = runtime::impliedDims(spec);
    if (implied && !dims.count(name))
      dims[name] = *implied;
    return;
  }
  std::optional<ElementType> type;
  if (types.count(name))
    type = types[name];
  FileContents read = readContents(name, spec, use.order, {}, type);
  const std::vector<int64_t> sizes = sizesOf(use, spec, read);
  if (dims.count(name) && dims[name] != sizes)
    throwError("--dims {}={}: {} is {}; leave --dims out, or give the file that has these sizes", name,
               fmt::join(dims[name], "x"), spec, fmt::join(sizes, "x"));
  dims[name] = sizes;
  contents[name] = std::move(read);
}

/// Those of the file; where it holds one row of values for each entry of another tensor, or of its outer
/// levels, they begin with that one's.
std::vector<int64_t> Loader::sizesOf(const TensorUse &use, const std::string &spec,
                                     const FileContents &read) {
  std::vector<int64_t> sizes = read.dims();
  auto like = likes.find(use.name);
  if (like != likes.end() && read.isStored && format::isAllDense(read.stored.encoding)) {
    const auto known = dims.find(like->second);
    std::vector<int64_t> whole = known == dims.end() ? std::vector<int64_t>() : known->second;
    whole.resize(std::min<size_t>(whole.size(), use.order));
    if (!whole.empty() && sizes.size() + whole.size() == use.order + 1) {
      if (whole.size() > 1 || sizes != whole)
        whole.insert(whole.end(), sizes.begin() + 1, sizes.end());
      return whole;
    }
  }
  if (sizes.size() != use.order)
    throwError("-t {}={}: the file has {} dimensions ({}), but the program uses {} with {}", use.name, spec,
               sizes.size(), fmt::join(sizes, "x"), use.name, use.order);
  return sizes;
}

static bool unknown(const std::vector<int64_t> &sizes) {
  return std::find(sizes.begin(), sizes.end(), -1) != sizes.end();
}

void Loader::completeDims() {
  auto inferred = notation::inferDims(options.text, dims, likes);
  for (const TensorUse &use : uses) {
    auto found = inferred.find(use.name);
    if (found != inferred.end() && !unknown(found->second))
      continue;
    std::vector<int64_t> sizes =
        found == inferred.end() ? std::vector<int64_t>(use.order, -1) : found->second;
    if (withData && !specs.count(use.name))
      continue; // the checker points at the index that has no size
    if (withData) {
      size_t d = std::find(sizes.begin(), sizes.end(), -1) - sizes.begin();
      throwError("the size of dimension {} of '{}' is unknown: nothing else in the program fixes it; add "
                 "--dims {}=SIZE{}, or read '{}' from a file",
                 d + 1, use.name, use.name, use.order > 1 ? "x..." : "", use.name);
    }
    nominal.push_back(use.name);
    for (int64_t &size : sizes)
      size = size < 0 ? nominalSize : size;
    dims[use.name] = sizes;
    inferred = notation::inferDims(options.text, dims, likes);
  }
  dims = std::move(inferred);
}

void Loader::makeGenerated() {
  for (const auto &[name, spec] : specs)
    if (!contents.count(name) && !likes.count(name)) {
      std::optional<ElementType> type;
      if (types.count(name))
        type = types[name];
      contents[name] =
          readContents(name, spec, std::nullopt, wholeDims.count(name) ? wholeDims[name] : dims[name], type);
    }
}

/// What has lengths is ragged, where nothing else is asked for.
void Loader::parseLengths() {
  for (const auto &[name, text] : collect("--lengths", options.lengths, uses)) {
    const unsigned order = findUse("--lengths", name, uses).order;
    lengths[name] = cli::parseLengths(fmt::format("--lengths {}={}", name, text), text, order);
    std::vector<bool> ragged;
    for (const std::string &file : lengths[name])
      ragged.push_back(file != "-");
    formats.try_emplace(name, runtime::raggedEncoding(ragged));
  }
}

void Loader::cutLengths() {
  for (const auto &[name, files] : lengths) {
    if (!specs.count(name))
      throwError("--lengths {}: its values are not given; add -t {}=FILE", name, name);
    contents[name] = withinLengths(fmt::format("-t {}={}", name, specs[name]), std::move(contents[name]),
                                   files, engineOptions);
  }
}

notation::Program Loader::check() {
  std::map<std::string, notation::Binding> bindings;
  for (const TensorUse &use : uses) {
    notation::Binding binding;
    if (types.count(use.name))
      binding.type = types[use.name];
    if (auto found = dims.find(use.name); found != dims.end() && !unknown(found->second))
      binding.dims = found->second;
    binding.input = specs.count(use.name) != 0 || (!withData && use.first);
    if (auto like = likes.find(use.name); like != likes.end())
      binding.like = like->second;
    if (auto found = contents.find(use.name); found != contents.end()) {
      const FileContents &read = found->second;
      binding.type = read.type();
      binding.encoding = format::parseFormat(read.suggested, use.order, "<suggested>");
    }
    if (auto given = formats.find(use.name); given != formats.end())
      binding.encoding = given->second;
    if (!binding.encoding)
      binding.encoding = format::denseEncoding(use.order);
    bindings[use.name] = std::move(binding);
  }
  return notation::check(options.text, bindings);
}

/// A tensor in its format. Of one with another's structure a generator makes the values of each entry.
Tensor Loader::storeOne(const LoadedProgram &loaded, const notation::TensorDecl &decl,
                        engine::ConversionReport &report) {
  const std::string what = fmt::format("-t {}={}", decl.name, specs[decl.name]);
  if (!decl.like)
    return store(what, std::move(contents[decl.name]), decl.encoding, engineOptions, &report);
  const Tensor &pattern = *loaded.tensors[*decl.like];
  const format::Encoding encoding = format::likeEncoding(pattern.encoding, unsigned(decl.dims.size()));
  if (!contents.count(decl.name)) {
    std::vector<int64_t> rows = decl.dims;
    if (!runtime::impliedDims(specs[decl.name])) {
      const auto own = rows.begin() + std::ptrdiff_t(std::min(rows.size(), pattern.dims.size()));
      const int64_t entries = runtime::likeCount(pattern, std::vector(rows.begin(), own));
      rows.erase(rows.begin(), own);
      rows.insert(rows.begin(), entries);
    }
    contents[decl.name] = readContents(decl.name, specs[decl.name], std::nullopt, rows, decl.type);
  }
  FileContents &read = contents[decl.name];
  return naming(
      fmt::format("{}: '{}' is like '{}'", what, decl.name, loaded.program.tensors[*decl.like].name), [&] {
        if (read.isStored && format::isAllDense(read.stored.encoding))
          return runtime::valuesInStructure(read.stored, pattern, encoding, decl.dims);
        return runtime::shareStructure(store(what, std::move(read), encoding, engineOptions, &report),
                                       pattern);
      });
}

/// Whether a tensor's data is there, and that of the one whose structure it has: `explain` needs neither.
bool Loader::isStorable(const LoadedProgram &loaded, size_t t) const {
  const notation::TensorDecl &decl = loaded.program.tensors[t];
  if (decl.like && !loaded.tensors[*decl.like])
    return false;
  return contents.count(decl.name) || (withData && decl.like && specs.count(decl.name));
}

void Loader::storeInput(LoadedProgram &loaded, size_t t, engine::ConversionReport &report) {
  notation::TensorDecl &decl = loaded.program.tensors[t];
  auto found = contents.find(decl.name);
  int64_t entries = -1;
  if (found != contents.end() && !decl.like) {
    const FileContents &read = found->second;
    entries = read.isStored ? -1 : read.entries.count();
    if (keep)
      loaded.given[t] = read.isStored ? runtime::unpack(read.stored) : read.entries;
  }
  Tensor tensor = storeOne(loaded, decl, report);
  if (keep && decl.like)
    loaded.given[t] = runtime::unpack(tensor);
  loaded.entries[t] = entries < 0 ? tensor.storedCount() : entries;
  decl.encoding = tensor.encoding;
  decl.entries = tensor.storedCount();
  loaded.tensors[t] = std::move(tensor);
  contents.erase(decl.name);
}

LoadedProgram Loader::run() {
  parseLikes();
  specs = collect("-t", options.tensors, uses);
  types = collectTypes(options.types, uses);
  for (const TensorUse &use : uses)
    if (withData && use.read && !use.written && !specs.count(use.name))
      throwError("the program reads '{0}', but it is not given; add -t {0}=FILE or -t {0}=random{1}",
                 use.name, notation::functionHint(use.name));
  parseFormats();
  parseLengths();
  LoadedProgram loaded;
  auto begin = Clock::now();
  readFiles();
  cutDims();
  completeDims();
  if (withData) {
    makeGenerated();
    cutLengths();
  }
  loaded.readMs = msSince(begin);
  loaded.nominal = nominal;
  loaded.program = check();
  loaded.unscheduled = loaded.program;
  const auto [schedule, scheduleName] = scheduleText(options.schedule);
  notation::applySchedule(loaded.program, schedule, engine::strategyNames(), scheduleName);
  notation::addResults(loaded.program, options.keep);

  begin = Clock::now();
  engine::ConversionReport report;
  size_t count = loaded.program.tensors.size();
  loaded.tensors.resize(count);
  loaded.entries.assign(count, -1);
  loaded.given.resize(count);
  // What has another's structure is stored after that one.
  for (bool like : {false, true})
    for (size_t t = 0; t < count; ++t)
      if (loaded.program.tensors[t].like.has_value() == like && isStorable(loaded, t))
        storeInput(loaded, t, report);
  std::vector<const Tensor *> ragged(count);
  for (size_t t = 0; t < count; ++t)
    if (loaded.tensors[t] && lengths.count(loaded.program.tensors[t].name))
      ragged[t] = &*loaded.tensors[t];
  engine::checkLengths(loaded.program, ragged);
  notation::takeWidths(loaded.program); // those of the data are known now
  notation::resolveWidths(loaded.program);
  for (size_t t = 0; t < loaded.unscheduled.tensors.size(); ++t)
    loaded.unscheduled.tensors[t] = loaded.program.tensors[t];
  loaded.packMs = msSince(begin) - report.compileMs;
  return loaded;
}

LoadedProgram load(const ProgramOptions &options, bool withData, const engine::Options &engineOptions,
                   bool keep) {
  return Loader(options, withData, engineOptions, keep).run();
}

} // namespace tulle::cli
