// Zip archives: the container of .npz files.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;

namespace tulle::runtime::io {

/// Reads members of an archive that is whole in memory (and stays there). Throws Error when the bytes are not
/// an archive.
class ZipReader {
public:
  ZipReader(std::string_view bytes, const std::string &file);

  /// Names of the members, in the order of the archive.
  const std::vector<std::string> &names() const { return members; }
  bool contains(std::string_view member) const;
  /// The bytes of a member. Throws Error when there is none, when it is damaged or encrypted, and before
  /// allocating when its size cannot be right or is beyond memory.
  std::string read(std::string_view member) const;

private:
  const std::string &name; ///< of the file
  size_t total;            ///< bytes of the archive
  std::unique_ptr<zip, void (*)(zip *)> archive;
  std::vector<std::string> members;
};

/// A member made of pieces one after the other.
struct ZipMember {
  std::string name;
  std::vector<std::string_view> pieces;
};

/// Writes an archive whole or not at all. Time stamps are fixed, so equal members give equal files.
void writeZip(const std::string &path, const std::vector<ZipMember> &members);

} // namespace tulle::runtime::io
