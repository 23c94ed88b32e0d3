// Zip archives: the container of .npz files.
#pragma once
#include "runtime/io/Output.h"
#include <cstdint>
#include <vector>

struct zip;

namespace tulle::runtime::io {

/// Reads members of an archive that is whole in memory (and stays there). Throws Error when the bytes are not
/// an archive.
class ZipReader {
public:
  ZipReader(std::string_view bytes, const std::string &file);
  ~ZipReader();
  ZipReader(const ZipReader &) = delete;
  ZipReader &operator=(const ZipReader &) = delete;

  /// Names of the members, in the order of the archive.
  const std::vector<std::string> &names() const { return members; }
  bool contains(std::string_view name) const;
  /// The bytes of a member. Throws Error when there is none, when it is damaged or encrypted, and before
  /// allocating when its size cannot be right or is beyond memory.
  std::string read(std::string_view name);

private:
  const std::string &file;
  uint64_t total; ///< bytes of the archive
  zip *archive = nullptr;
  std::vector<std::string> members;
};

/// Collects members and writes the archive at commit(). The bytes given must stay alive until then. Time
/// stamps are fixed, so equal tensors give equal files.
class ZipWriter {
public:
  explicit ZipWriter(const std::string &path);
  ~ZipWriter();
  ZipWriter(const ZipWriter &) = delete;
  ZipWriter &operator=(const ZipWriter &) = delete;

  /// A member made of the pieces one after the other.
  void add(const std::string &name, std::vector<std::string_view> pieces);
  void commit();

private:
  [[noreturn]] void fail();

  struct Pieces;
  struct Archive;
  std::string path;
  TemporaryFile file;
  std::unique_ptr<Archive> target;
  std::vector<std::unique_ptr<Pieces>> sources;
  zip *archive = nullptr;
};

} // namespace tulle::runtime::io
