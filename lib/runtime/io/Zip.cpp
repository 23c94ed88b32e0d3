// Archives by libzip, from memory to memory: the library would replace files by itself, in its own way.
#include "runtime/io/Zip.h"
#include "runtime/io/TemporaryFile.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <zip.h>

namespace tulle::runtime::io {

namespace {

/// No deflate stream is more than 1032 times smaller than what it holds (zlib's technical notes).
constexpr uint64_t maxRatio = 1032;
/// 1980-01-01, the earliest day an archive can name.
constexpr uint16_t fixedDate = (1 << 5) | 1;

struct ZipError : zip_error_t {
  ZipError() { zip_error_init(this); }
  ~ZipError() { zip_error_fini(this); }
};

} // namespace

ZipReader::ZipReader(std::string_view bytes, const std::string &file)
    : name(file), total(bytes.size()), archive(nullptr, zip_discard) {
  ZipError error;
  zip_source_t *source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  archive.reset(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
  if (!archive) {
    zip_source_free(source);
    throwFileError(file,
                   "not a whole zip archive ({}); an .npz file is one that numpy.savez or "
                   "scipy.sparse.save_npz wrote; copy it again if it was cut short",
                   zip_error_strerror(&error));
  }
  for (zip_int64_t i = 0, n = zip_get_num_entries(archive.get(), 0); i < n; ++i) {
    const char *name = zip_get_name(archive.get(), zip_uint64_t(i), 0);
    members.push_back(name ? name : "");
  }
}

bool ZipReader::contains(std::string_view member) const {
  return std::find(members.begin(), members.end(), member) != members.end();
}

std::string ZipReader::read(std::string_view member) const {
  auto fail = [&]<class... Args>(fmt::format_string<Args...> what, Args &&...args) {
    throwFileError(name, "member '{}': {}", io::quoted(member),
                   fmt::format(what, std::forward<Args>(args)...));
  };
  auto found = std::find(members.begin(), members.end(), member);
  if (found == members.end())
    fail("the archive has no such member");
  const auto index = zip_uint64_t(found - members.begin());
  zip_stat_t info;
  zip_stat_init(&info);
  constexpr zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive.get(), index, 0, &info) != 0 || (info.valid & wanted) != wanted)
    fail("its size is missing from the archive's directory; write the file again");
  if (info.comp_size > total)
    fail("{} compressed bytes are more than the archive's {}; the archive is damaged", info.comp_size, total);
  if (info.size / maxRatio > info.comp_size || info.size > uint64_t(INT64_MAX))
    fail("{} compressed bytes cannot hold the {} promised; the archive is damaged", info.comp_size,
         info.size);
  requireMemory(int64_t(info.size), fmt::format("member '{}' of {}", io::quoted(member), name));
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> stream(zip_fopen_index(archive.get(), index, 0),
                                                            zip_fclose);
  if (!stream)
    fail("{}; write the file again, without a password", zip_strerror(archive.get()));
  std::string bytes(size_t(info.size), '\0');
  size_t got = 0;
  while (got < bytes.size()) {
    zip_int64_t n = zip_fread(stream.get(), bytes.data() + got, bytes.size() - got);
    if (n <= 0)
      fail("damaged after {} of {} ({}); copy the file again", got,
           counted(int64_t(bytes.size()), "byte", "bytes"),
           n < 0 ? zip_file_strerror(stream.get()) : "the data ends");
    got += size_t(n);
  }
  // The checksum is compared when the end is read.
  char more;
  if (zip_fread(stream.get(), &more, 1) != 0)
    fail("its checksum or size is wrong; copy the file again");
  return bytes;
}

void writeZip(const std::string &path, const std::vector<ZipMember> &members) {
  TemporaryFile file(path);
  int64_t bytes = 0;
  for (const ZipMember &member : members)
    for (std::string_view piece : member.pieces)
      bytes += int64_t(piece.size());
  requireMemory(bytes, "the file " + path);
  ZipError error;
  auto fail = [&](const char *why) { throwFileError(path, "cannot write the archive: {}", why); };
  std::unique_ptr<zip_source_t, void (*)(zip_source_t *)> image(
      zip_source_buffer_create(nullptr, 0, 0, &error), zip_source_free);
  zip_t *opened = image ? zip_open_from_source(image.get(), ZIP_CREATE | ZIP_TRUNCATE, &error) : nullptr;
  if (!opened)
    fail(zip_error_strerror(&error));
  zip_source_keep(image.get()); // the archive owns it, too
  std::unique_ptr<zip_t, void (*)(zip_t *)> archive(opened, zip_discard);
  for (const ZipMember &member : members) {
    std::vector<zip_buffer_fragment_t> pieces;
    for (std::string_view piece : member.pieces)
      pieces.push_back({reinterpret_cast<zip_uint8_t *>(const_cast<char *>(piece.data())), piece.size()});
    zip_source_t *source = zip_source_buffer_fragment(opened, pieces.data(), pieces.size(), 0);
    const zip_int64_t index = source ? zip_file_add(opened, member.name.c_str(), source, 0) : -1;
    if (index < 0)
      zip_source_free(source);
    if (index < 0 || zip_file_set_dostime(opened, zip_uint64_t(index), 0, fixedDate, 0) != 0)
      fail(zip_strerror(opened));
  }
  if (zip_close(opened) != 0)
    fail(zip_strerror(opened));
  (void)archive.release();
  if (zip_source_open(image.get()) != 0)
    fail(zip_error_strerror(zip_source_error(image.get())));
  char chunk[1 << 16];
  while (const zip_int64_t got = zip_source_read(image.get(), chunk, sizeof chunk)) {
    if (got < 0)
      fail(zip_error_strerror(zip_source_error(image.get())));
    file.write({chunk, size_t(got)});
  }
  file.commit();
}

} // namespace tulle::runtime::io
