// The folder of the kernel cache, whose code is run: nothing in it is used that another user could
// have written, nothing outside of it is written to, and it does not grow without end.
#pragma once
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
  explicit CacheFolder(const std::filesystem::path &path, bool create);
  ~CacheFolder();
  CacheFolder(const CacheFolder &) = delete;
  CacheFolder &operator=(const CacheFolder &) = delete;

  explicit operator bool() const { return descriptor >= 0; }
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
  int descriptor = -1;
  std::string reason;
};

/// $TULLE_CACHE_SIZE in bytes: a number, with K, M or G for powers of 1024; 256 MiB without it. Throws Error
/// for other texts.
int64_t cacheLimit();

} // namespace tulle::engine
