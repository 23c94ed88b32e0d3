// Any bytes as an .npz archive: contents that hold together, or an Error. An archive's checksums stop almost
// every change, so bytes that start with 'm' are members instead (two bytes of length and the contents of
// each, in the order of `names`), which are put into a right archive first.
#include "io_check.h"
#include <algorithm>
#include <string>
#include <zlib.h>

static std::string little(uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k, value >>= 8)
    text += char(value);
  return text;
}

/// An archive of uncompressed members.
static std::string archiveOf(std::string_view bytes) {
  static const char *const names[] = {"format.npy", "shape.npy", "data.npy", "indices.npy",
                                      "indptr.npy", "row.npy",   "col.npy",  "offsets.npy"};
  std::string archive, directory;
  int count = 0;
  for (std::string_view name : names) {
    if (bytes.size() < 2)
      break;
    size_t length = size_t(uint8_t(bytes[0])) | size_t(uint8_t(bytes[1])) << 8;
    length = std::min(length, bytes.size() - 2);
    const std::string_view content = bytes.substr(2, length);
    bytes.remove_prefix(2 + length);
    if (content.empty())
      continue;
    // What a local header and the directory have in common: version, flags, method, time, date, checksum,
    // sizes.
    const uLong checksum = crc32(0, reinterpret_cast<const Bytef *>(content.data()), uInt(content.size()));
    const std::string common = little(20, 2) + little(0, 8) + little(checksum, 4) +
                               little(content.size(), 4) + little(content.size(), 4) +
                               little(name.size(), 2) + little(0, 2);
    directory +=
        "PK\x01\x02" + little(20, 2) + common + little(0, 10) + little(archive.size(), 4) + std::string(name);
    archive += "PK\x03\x04" + common + std::string(name) + std::string(content);
    ++count;
  }
  return archive + directory + "PK\x05\x06" + little(0, 4) + little(count, 2) + little(count, 2) +
         little(directory.size(), 4) + little(archive.size(), 4) + little(0, 2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string archive;
  if (size > 0 && data[0] == 'm') {
    archive = archiveOf({reinterpret_cast<const char *>(data) + 1, size - 1});
    data = reinterpret_cast<const uint8_t *>(archive.data());
    size = archive.size();
  }
  tulle::fuzz::checkFile("fuzz.npz", data, size);
  return 0;
}
