// Compiled programs on disk, and the folder that keeps them.
#pragma once
#include "engine/Kernel.h"
#include "runtime/io/TemporaryFile.h"
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tulle::engine {

/// An open folder. Its files are reached through the descriptor that was checked, so that nobody can put
/// another folder in its place between the check and the use.
class CacheFolder {
public:
  /// Makes the folder, for its owner alone, where `create` says so and it is not there. Without a descriptor
  /// afterwards `why` says what is wrong; it is empty where the folder is not there.
  CacheFolder(const std::filesystem::path &path, bool create);

  explicit operator bool() const { return bool(folder); }
  const std::string &why() const { return reason; }

  /// The bytes of a regular file that only this user could have written; it counts as used now. Nullopt for
  /// others.
  std::optional<std::string> read(const std::string &name) const;
  /// Puts a whole file in the place of `name`, or leaves everything as it was.
  bool write(const std::string &name, std::string_view bytes) const;

  /// What `NAME.kernel` files hold.
  struct Contents {
    int64_t kernels = 0, bytes = 0;
    int64_t foreign = 0; ///< kernels that are not used: of another owner, or writable by others
  };
  Contents contents() const;
  /// Removes the kernels that were not used for longest until the others take at most `limit` bytes, and what
  /// writers that were ended left.
  void shrink(int64_t limit) const;

private:
  std::string reason;
  runtime::Descriptor folder;
};

/// $TULLE_CACHE_SIZE in bytes: a number, with K, M or G for powers of 1024; 256 MiB without it. Throws Error
/// for other texts.
int64_t cacheLimit();

/// $TULLE_CACHE_DIR, else $XDG_CACHE_HOME/tulle, else ~/.cache/tulle; empty when none of them is set.
std::filesystem::path cacheDirectory();

/// A kernel as bytes, and back: nullopt for bytes of another key, and for others. `key` is as below.
std::string packed(const std::string &key, const ObjectCode &code);
std::optional<ObjectCode> unpacked(const std::string &key, std::string_view bytes);

/// `key` is the whole text the code depends on; its SHA-256 names the file, and the file holds that hash.
std::optional<ObjectCode> readCached(const std::filesystem::path &directory, const std::string &key);
void writeCached(const std::filesystem::path &directory, const std::string &key, const ObjectCode &code);

/// The name of the file that keeps the code of `key`.
std::string cacheFile(const std::string &key);

} // namespace tulle::engine
