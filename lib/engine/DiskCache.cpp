// The file of a cached kernel: a header with two SHA-256 digests, of the key and of the content, metadata as
// JSON, and the object file. A digest that differs is a miss.
#include "engine/DiskCache.h"
#include "engine/CacheFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>

namespace tulle::engine {

namespace fs = std::filesystem;
using Digest = std::array<uint8_t, 32>;

/// The file: this header, the metadata (JSON), the object.
struct Header {
  char magic[8];
  uint64_t metadataBytes, objectBytes;
  Digest key;     ///< of the key text: a file under a wrong name is foreign
  Digest content; ///< of metadata and object
};
static constexpr char magic[8] = {'T', 'U', 'L', 'L', 'E', 'O', '3', '\n'};

static Digest sha256(std::initializer_list<std::string_view> parts) {
  llvm::SHA256 hash;
  for (std::string_view part : parts)
    hash.update(llvm::StringRef(part.data(), part.size()));
  return hash.final();
}

fs::path cacheDirectory() {
  auto variable = [](const char *name) -> std::string {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  if (std::string dir = variable("TULLE_CACHE_DIR"); !dir.empty())
    return dir;
  if (std::string dir = variable("XDG_CACHE_HOME"); !dir.empty())
    return fs::path(dir) / "tulle";
  if (std::string dir = variable("HOME"); !dir.empty())
    return fs::path(dir) / ".cache" / "tulle";
  return {};
}

std::string cacheFile(const std::string &key) {
  return llvm::toHex(sha256({key}), /*LowerCase=*/true) + ".kernel";
}

static std::string metadataText(const ObjectCode &code) {
  nlohmann::json statements = nlohmann::json::array();
  for (const StatementCode &statement : code.statements) {
    nlohmann::json list = nlohmann::json::array();
    for (const Argument &a : statement.arguments)
      list.push_back({{"tensor", a.tensor},
                      {"encoding", format::print(a.encoding)},
                      {"result", a.result},
                      {"whole", a.whole},
                      {"statement", a.statement}});
    statements.push_back({{"function", statement.function},
                          {"tensor", statement.tensor},
                          {"arguments", std::move(list)},
                          {"made", statement.made ? format::print(*statement.made) : std::string()}});
  }
  return nlohmann::json{{"statements", std::move(statements)}, {"remarks", code.remarks}}.dump();
}

static void parseMetadata(std::string_view text, ObjectCode &code) {
  nlohmann::json metadata = nlohmann::json::parse(text);
  code.remarks = metadata.at("remarks").get<std::vector<std::string>>();
  for (const nlohmann::json &json : metadata.at("statements")) {
    StatementCode &statement = code.statements.emplace_back();
    statement.function = json.at("function").get<std::string>();
    statement.tensor = json.at("tensor").get<unsigned>();
    for (const nlohmann::json &a : json.at("arguments"))
      statement.arguments.push_back(
          {a.at("tensor").get<unsigned>(), format::parseEncoding(a.at("encoding").get<std::string>()),
           a.at("result").get<bool>(), a.at("whole").get<bool>(), a.at("statement").get<unsigned>()});
    if (std::string made = json.at("made").get<std::string>(); !made.empty())
      statement.made = format::parseEncoding(made);
  }
}

std::optional<ObjectCode> readCached(const fs::path &directory, const std::string &key) try {
  if (directory.empty())
    return std::nullopt;
  CacheFolder folder(directory, /*create=*/false);
  std::optional<std::string> bytes = folder ? folder.read(cacheFile(key)) : std::nullopt;
  Header header;
  if (!bytes || bytes->size() < sizeof header)
    return std::nullopt;
  std::memcpy(&header, bytes->data(), sizeof header);
  std::string_view body = std::string_view(*bytes).substr(sizeof header);
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 || header.key != sha256({key}) ||
      header.metadataBytes > body.size() || header.objectBytes != body.size() - header.metadataBytes ||
      header.content != sha256({body}))
    return std::nullopt;
  ObjectCode code;
  parseMetadata(body.substr(0, header.metadataBytes), code);
  code.object = body.substr(header.metadataBytes);
  return code;
} catch (const std::exception &) {
  return std::nullopt; // unreadable in whatever way: the program is compiled again
}

void writeCached(const fs::path &directory, const std::string &key, const ObjectCode &code) try {
  if (directory.empty())
    return;
  std::string metadata = metadataText(code);
  Header header{{}, metadata.size(), code.object.size(), sha256({key}), sha256({metadata, code.object})};
  std::memcpy(header.magic, magic, sizeof magic);
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
  bytes += metadata;
  bytes += code.object;
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
