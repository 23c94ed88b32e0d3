// The file of a cached kernel: a SHA-256 digest of the key and the content, and the content as CBOR. A digest
// that differs is a miss. Files are renamed into place, and only ours are read.
#include "engine/DiskCache.h"
#include "support/Diagnostic.h"
#include "support/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tulle::engine {

namespace fs = std::filesystem;
using Json = nlohmann::json;

//===--- The folder ---===//

using runtime::Descriptor;

namespace {

constexpr mode_t othersWrite = S_IWGRP | S_IWOTH;

/// Empty where only this user can have written it.
std::string whyForeign(const struct stat &status) {
  if (status.st_uid != geteuid())
    return fmt::format("it belongs to user {}, and this is user {}", status.st_uid, geteuid());
  if (status.st_mode & othersWrite)
    return fmt::format("others may write to it (mode {:04o})", status.st_mode & 07777);
  return "";
}

bool isKernel(std::string_view name) { return name.ends_with(".kernel"); }
bool isTemporary(std::string_view name) { return name.ends_with(".tmp"); }

struct Listed {
  std::string name;
  struct stat status;
};

std::vector<Listed> list(int folder) {
  std::vector<Listed> files;
  std::error_code error;
  // By a name of the descriptor, whose own position would be moved for another thread that lists.
  for (fs::directory_iterator it(fmt::format("/proc/self/fd/{}", folder), error), end; !error && it != end;
       it.increment(error)) {
    Listed file{it->path().filename().string(), {}};
    if ((isKernel(file.name) || isTemporary(file.name)) &&
        fstatat(folder, file.name.c_str(), &file.status, AT_SYMLINK_NOFOLLOW) == 0)
      files.push_back(std::move(file));
  }
  return files;
}

bool isUsed(const Listed &file) { return S_ISREG(file.status.st_mode) && whyForeign(file.status).empty(); }

/// A descriptor of the folder, or -1 and why there is none: nothing to say where it does not exist.
int openFolder(const fs::path &path, bool create, std::string &why) {
  if (path.empty())
    return -1;
  if (create) {
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    mkdir(path.c_str(), S_IRWXU);
  }
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status;
  if (folder < 0 || fstat(folder, &status) != 0)
    why = errno == ENOENT ? "" : std::strerror(errno);
  else
    why = whyForeign(status);
  if (folder < 0 || why.empty())
    return folder;
  close(folder);
  return -1;
}

} // namespace

CacheFolder::CacheFolder(const fs::path &path, bool create) : folder(openFolder(path, create, reason)) {}

std::optional<std::string> CacheFolder::read(const std::string &name) const {
  // Without waiting: a FIFO would have no writer.
  const Descriptor file(openat(folder.fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file || fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode) || !whyForeign(status).empty())
    return std::nullopt;
  // Not mapped: who shortens the file would end the process.
  auto bytes = llvm::MemoryBuffer::getOpenFile(file.fd, name, uint64_t(status.st_size),
                                               /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!bytes)
    return std::nullopt;
  const timespec now[] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  (void)futimens(file.fd, now);
  return (*bytes)->getBuffer().str();
}

bool CacheFolder::write(const std::string &name, std::string_view bytes) const {
  // Unique per process and thread: whoever renames last wins, with the same content.
  static std::atomic<unsigned> serial = 0;
  const std::string temporary = fmt::format("{}.{}.{}.tmp", name, getpid(), serial++);
  bool whole = false;
  {
    const Descriptor file(openat(folder.fd, temporary.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file)
      return false;
    whole = runtime::writeAll(file.fd, bytes);
  }
  if (whole && renameat(folder.fd, temporary.c_str(), folder.fd, name.c_str()) == 0)
    return true;
  unlinkat(folder.fd, temporary.c_str(), 0);
  return false;
}

CacheFolder::Contents CacheFolder::contents() const {
  Contents all;
  for (const Listed &file : list(folder.fd)) {
    if (!isKernel(file.name))
      continue;
    const bool used = isUsed(file);
    all.kernels += used;
    all.foreign += !used;
    all.bytes += used ? file.status.st_size : 0;
  }
  return all;
}

void CacheFolder::shrink(int64_t limit) const {
  constexpr time_t longestWrite = 3600; // s
  std::vector<Listed> files = list(folder.fd);
  int64_t bytes = 0;
  for (const Listed &file : files)
    bytes += isUsed(file) ? file.status.st_size : 0;
  std::ranges::sort(files, {}, [](const Listed &file) {
    return std::pair(file.status.st_mtim.tv_sec, file.status.st_mtim.tv_nsec);
  });
  const time_t now = std::time(nullptr);
  for (const Listed &file : files) {
    if (!isUsed(file))
      continue;
    const bool left = isTemporary(file.name) && now - file.status.st_mtime > longestWrite;
    const bool oldest = isKernel(file.name) && bytes > limit;
    if ((left || oldest) && unlinkat(folder.fd, file.name.c_str(), 0) == 0)
      bytes -= file.status.st_size;
  }
}

int64_t cacheLimit() {
  const char *value = std::getenv("TULLE_CACHE_SIZE");
  llvm::StringRef text = value && *value ? value : "256M";
  const int shift = text.consume_back("K")   ? 10
                    : text.consume_back("M") ? 20
                    : text.consume_back("G") ? 30
                                             : 0;
  int64_t number = 0;
  if (text.getAsInteger(10, number) || number < 0 || number > (INT64_MAX >> shift))
    throwError(
        "TULLE_CACHE_SIZE='{}': expected a number of bytes, or one with K, M or G behind it, as in 256M",
        value);
  return number << shift;
}

//===--- The files ---===//

static std::string sha256(std::initializer_list<std::string_view> parts) {
  llvm::SHA256 hash;
  for (std::string_view part : parts)
    hash.update(llvm::StringRef(part.data(), part.size()));
  const std::array<uint8_t, 32> digest = hash.final();
  return {digest.begin(), digest.end()};
}

fs::path cacheDirectory() {
  static constexpr std::pair<const char *, const char *> places[] = {
      {"TULLE_CACHE_DIR", nullptr}, {"XDG_CACHE_HOME", "tulle"}, {"HOME", ".cache/tulle"}};
  for (auto [variable, below] : places)
    if (const char *value = std::getenv(variable); value && *value)
      return below ? fs::path(value) / below : fs::path(value);
  return {};
}

/// Of the key and what follows, at the start of a file: one under a wrong name is foreign.
static constexpr size_t digestBytes = 32;

std::string cacheFile(const std::string &key) {
  return llvm::toHex(sha256({key}), /*LowerCase=*/true) + ".kernel";
}

static Json toJson(const ObjectCode &code) {
  Json statements = Json::array();
  for (const CompiledStatement &statement : code.statements) {
    Json list = Json::array();
    for (const Argument &a : statement.arguments)
      if (a.number)
        list.push_back({a.tensor, a.number->dimension, unsigned(a.number->part)});
      else
        list.push_back({a.tensor, format::print(a.encoding), a.result, a.whole, a.statement});
    Json made = Json::array();
    for (const MadeTensor &m : statement.made)
      made.push_back({m.tensor, format::print(m.encoding)});
    statements.push_back({std::move(list), std::move(made), statement.function, statement.tensor});
  }
  Json loops = Json::array();
  for (const notation::Loop &loop : code.loops)
    loops.push_back({loop.begin, loop.end, loop.most, loop.until ? Json(*loop.until) : Json()});
  return {std::move(statements), std::move(loops), code.remarks,
          Json::binary({code.object.begin(), code.object.end()})};
}

static ObjectCode fromJson(const Json &json) {
  ObjectCode code;
  for (const Json &statement : json.at(0)) {
    CompiledStatement &made = code.statements.emplace_back();
    for (const Json &a : statement.at(0))
      if (a.size() == 3)
        made.arguments.push_back(
            {a.at(0), {}, false, false, 0, SliceNumber{a.at(1), SliceNumber::Part(a.at(2).get<unsigned>())}});
      else
        made.arguments.push_back(
            {a.at(0), format::parseEncoding(a.at(1).get<std::string>()), a.at(2), a.at(3), a.at(4)});
    made.function = statement.at(2);
    made.tensor = statement.at(3);
    for (const Json &m : statement.at(1))
      made.made.push_back({m.at(0), format::parseEncoding(m.at(1).get<std::string>())});
  }
  for (const Json &loop : json.at(1)) {
    const Json &until = loop.at(3);
    code.loops.push_back({loop.at(0), loop.at(1), loop.at(2),
                          until.is_null() ? std::nullopt : std::optional(until.get<unsigned>())});
  }
  code.remarks = json.at(2);
  const Json::binary_t &object = json.at(3).get_binary();
  code.object.assign(object.begin(), object.end());
  return code;
}

std::string packed(const std::string &key, const ObjectCode &code) {
  std::string body;
  Json::to_cbor(toJson(code), body);
  return sha256({key, body}) + body;
}

std::optional<ObjectCode> unpacked(const std::string &key, std::string_view bytes) try {
  if (bytes.size() < digestBytes)
    return std::nullopt;
  const std::string_view body = bytes.substr(digestBytes);
  if (!bytes.starts_with(sha256({key, body})))
    return std::nullopt;
  return fromJson(Json::from_cbor(body));
} catch (const std::exception &) {
  return std::nullopt; // unreadable in whatever way: the program is compiled again
}

std::optional<ObjectCode> readCached(const fs::path &directory, const std::string &key) {
  if (directory.empty())
    return std::nullopt;
  CacheFolder folder(directory, /*create=*/false);
  std::optional<std::string> bytes = folder ? folder.read(cacheFile(key)) : std::nullopt;
  return bytes ? unpacked(key, *bytes) : std::nullopt;
}

void writeCached(const fs::path &directory, const std::string &key, const ObjectCode &code) try {
  if (directory.empty())
    return;
  const std::string bytes = packed(key, code);
  const int64_t limit = cacheLimit();
  CacheFolder folder(directory, /*create=*/true);
  if (!folder || int64_t(bytes.size()) > limit || !folder.write(cacheFile(key), bytes))
    return;
  // Listing the folder takes as long as it has files: not after every kernel.
  static std::atomic<unsigned> written = 0;
  if (written++ % 64 == 0)
    folder.shrink(limit);
} catch (const std::exception &) {
  // Without a cache everything still works, only slower.
}

} // namespace tulle::engine
