// Compiled programs on disk. Every failure (no directory, no rights, a truncated, damaged or foreign file) is
// a miss, never an error; files appear whole, because they are renamed into place (CacheFolder.h).
#pragma once
#include "engine/Kernel.h"
#include <filesystem>
#include <optional>

namespace tulle::engine {

/// $TULLE_CACHE_DIR, else $XDG_CACHE_HOME/tulle, else ~/.cache/tulle; empty when none of them is set.
std::filesystem::path cacheDirectory();

/// `key` is the whole text the code depends on; its SHA-256 names the file, and the file holds that hash.
std::optional<ObjectCode> readCached(const std::filesystem::path &directory, const std::string &key);
void writeCached(const std::filesystem::path &directory, const std::string &key, const ObjectCode &code);

/// The name of the file that keeps the code of `key`.
std::string cacheFile(const std::string &key);

} // namespace tulle::engine
