#include "runtime/io/Zip.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <zip.h>

namespace tulle::runtime::io {

namespace {

/// No deflate stream is more than 1032 times smaller than what it holds (zlib's technical notes).
constexpr uint64_t maxRatio = 1032;
/// 1980-01-01, the earliest day an archive can name.
constexpr uint16_t fixedDate = (1 << 5) | 1;

std::string text(zip_error_t *error) {
  std::string message = zip_error_strerror(error);
  zip_error_fini(error);
  return message;
}

} // namespace

ZipReader::ZipReader(std::string_view bytes, const std::string &file) : file(file), total(bytes.size()) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  if (!archive) {
    zip_source_free(source);
    throwFileError(file,
                   "not a whole zip archive ({}); an .npz file is one that numpy.savez or "
                   "scipy.sparse.save_npz wrote; copy it again if it was cut short",
                   text(&error));
  }
  for (zip_int64_t i = 0, n = zip_get_num_entries(archive, 0); i < n; ++i) {
    const char *name = zip_get_name(archive, zip_uint64_t(i), 0);
    members.push_back(name ? name : "");
  }
}

ZipReader::~ZipReader() { zip_discard(archive); }

bool ZipReader::contains(std::string_view name) const {
  return std::find(members.begin(), members.end(), name) != members.end();
}

std::string ZipReader::read(std::string_view name) {
  const std::string member(name);
  auto fail = [&]<class... Args>(fmt::format_string<Args...> what, Args &&...args) {
    throwFileError(file, "member '{}': {}", io::quoted(member),
                   fmt::format(what, std::forward<Args>(args)...));
  };
  auto found = std::find(members.begin(), members.end(), name);
  if (found == members.end())
    fail("the archive has no such member");
  const auto index = zip_uint64_t(found - members.begin());
  zip_stat_t info;
  zip_stat_init(&info);
  constexpr zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, index, 0, &info) != 0 || (info.valid & wanted) != wanted)
    fail("its size is missing from the archive's directory; write the file again");
  if (info.comp_size > total)
    fail("{} compressed bytes are more than the archive's {}; the archive is damaged", info.comp_size, total);
  if (info.size / maxRatio > info.comp_size || info.size > uint64_t(INT64_MAX))
    fail("{} compressed bytes cannot hold the {} promised; the archive is damaged", info.comp_size,
         info.size);
  requireMemory(int64_t(info.size), fmt::format("member '{}' of {}", io::quoted(member), file));
  zip_file_t *opened = zip_fopen_index(archive, index, 0);
  if (!opened)
    fail("{}; write the file again, without a password", zip_strerror(archive));
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> stream(opened, zip_fclose);
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

/// A source of libzip over several pieces of memory.
struct ZipWriter::Pieces {
  std::vector<std::string_view> pieces;
  size_t piece = 0, offset = 0;
  uint64_t total = 0;
  zip_error_t error = {};

  zip_int64_t read(char *to, uint64_t capacity) {
    uint64_t copied = 0;
    while (copied < capacity && piece < pieces.size()) {
      const size_t n = std::min<uint64_t>(capacity - copied, pieces[piece].size() - offset);
      if (n > 0)
        std::memcpy(to + copied, pieces[piece].data() + offset, n);
      copied += n;
      offset += n;
      if (offset == pieces[piece].size()) {
        ++piece;
        offset = 0;
      }
    }
    return zip_int64_t(copied);
  }

  static zip_int64_t callback(void *user, void *data, zip_uint64_t length, zip_source_cmd_t command) {
    auto *self = static_cast<Pieces *>(user);
    switch (command) {
    case ZIP_SOURCE_OPEN:
      self->piece = self->offset = 0;
      return 0;
    case ZIP_SOURCE_READ:
      return self->read(static_cast<char *>(data), length);
    case ZIP_SOURCE_STAT: {
      auto *info = static_cast<zip_stat_t *>(data);
      zip_stat_init(info);
      info->size = self->total;
      info->valid = ZIP_STAT_SIZE;
      return sizeof *info;
    }
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&self->error, data, length);
    default:
      return 0;
    }
  }
};

/// The archive's bytes go to the temporary file: libzip by itself would write another one, and rename it.
struct ZipWriter::Archive {
  const TemporaryFile &file;
  zip_error_t error = {};

  zip_int64_t failed() {
    zip_error_set(&error, ZIP_ER_WRITE, errno);
    return -1;
  }

  static zip_int64_t callback(void *user, void *data, zip_uint64_t length, zip_source_cmd_t command) {
    auto *self = static_cast<Archive *>(user);
    const int file = self->file.descriptor();
    switch (command) {
    case ZIP_SOURCE_WRITE:
      return self->file.tryWrite({static_cast<const char *>(data), length}) ? zip_int64_t(length)
                                                                            : self->failed();
    case ZIP_SOURCE_SEEK_WRITE: {
      const auto *to = static_cast<const zip_source_args_seek_t *>(data);
      return lseek(file, to->offset, to->whence) < 0 ? self->failed() : 0;
    }
    case ZIP_SOURCE_TELL_WRITE:
      return lseek(file, 0, SEEK_CUR);
    case ZIP_SOURCE_STAT:
      zip_stat_init(static_cast<zip_stat_t *>(data));
      return sizeof(zip_stat_t);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&self->error, data, length);
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
          ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE,
          ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE,
          ZIP_SOURCE_REMOVE, -1);
    default: // nothing of it is read, and what is there at commit() counts
      return 0;
    }
  }
};

ZipWriter::ZipWriter(const std::string &path)
    : path(path), file(path), target(std::make_unique<Archive>(Archive{file})) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source = zip_source_function_create(Archive::callback, target.get(), &error);
  archive = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error) : nullptr;
  if (!archive) {
    zip_source_free(source);
    throwFileError(path, "cannot write the archive: {}", text(&error));
  }
}

ZipWriter::~ZipWriter() {
  if (archive)
    zip_discard(archive);
}

void ZipWriter::fail() { throwFileError(path, "cannot write the archive: {}", zip_strerror(archive)); }

void ZipWriter::add(const std::string &name, std::vector<std::string_view> pieces) {
  auto source = std::make_unique<Pieces>();
  for (std::string_view piece : pieces)
    source->total += piece.size();
  source->pieces = std::move(pieces);
  zip_source_t *made = zip_source_function(archive, Pieces::callback, source.get());
  if (!made)
    fail();
  sources.push_back(std::move(source));
  zip_int64_t index = zip_file_add(archive, name.c_str(), made, 0);
  if (index < 0) {
    zip_source_free(made);
    fail();
  }
  if (zip_file_set_dostime(archive, zip_uint64_t(index), 0, fixedDate, 0) != 0)
    fail();
}

void ZipWriter::commit() {
  if (zip_close(archive) != 0)
    fail();
  archive = nullptr;
  file.commit();
}

} // namespace tulle::runtime::io
