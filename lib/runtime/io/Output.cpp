#include "runtime/io/Output.h"
#include "tulle/error.h"
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace tulle::runtime::io {

namespace {
constexpr size_t bufferSize = size_t(1) << 18;
} // namespace

struct Output::Deflate {
  z_stream stream{};
  Deflate() {
    // Level 6, gzip wrapper; the time stamp stays 0, so equal tensors give equal files.
    if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Error("out of memory: cannot start compression");
  }
  ~Deflate() { deflateEnd(&stream); }
};

TemporaryFile::TemporaryFile(const std::string &path) : path(path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    throw Error(fmt::format("{}: error: cannot write the file: a directory has this name", path));
  static std::atomic<unsigned> counter = 0;
  do {
    temporary = fmt::format("{}.tmp{}-{}", path, getpid(), counter++);
    opened = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (opened < 0 && errno == EEXIST);
  if (opened < 0) {
    temporary.clear();
    fail("cannot create a file in this folder");
  }
}

TemporaryFile::~TemporaryFile() {
  if (opened >= 0)
    close(opened);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

void TemporaryFile::fail(std::string_view what) const {
  throw Error(fmt::format("{}: error: {}: {}", path, what, std::strerror(errno)));
}

void TemporaryFile::commit() {
  int closed = close(opened);
  opened = -1;
  if (closed != 0)
    fail("cannot write the file");
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    fail("cannot rename the finished file");
  temporary.clear();
}

Output::Output(const std::string &path, bool compressed) : file(path) {
  if (compressed)
    deflater = std::make_unique<Deflate>();
  buffer.reserve(bufferSize + 64);
}

Output::~Output() = default;

void Output::write(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t room = bufferSize - buffer.size();
    buffer.append(bytes.substr(0, room));
    bytes.remove_prefix(std::min(room, bytes.size()));
    if (buffer.size() == bufferSize)
      flush(false);
  }
}

void Output::number(double value) {
  char text[32];
  write({text, size_t(std::to_chars(text, text + sizeof text, value).ptr - text)});
}

void Output::number(int64_t value) {
  char text[24];
  write({text, size_t(std::to_chars(text, text + sizeof text, value).ptr - text)});
}

void Output::writeAll(const char *data, size_t size) {
  while (size != 0) {
    ssize_t wrote = ::write(file.descriptor(), data, size);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      file.fail("cannot write the file");
    data += wrote;
    size -= size_t(wrote);
  }
}

void Output::flush(bool last) {
  if (!deflater) {
    writeAll(buffer.data(), buffer.size());
    buffer.clear();
    return;
  }
  z_stream &stream = deflater->stream;
  stream.next_in = reinterpret_cast<Bytef *>(buffer.data());
  stream.avail_in = uInt(buffer.size());
  char packed[1 << 16];
  do {
    stream.next_out = reinterpret_cast<Bytef *>(packed);
    stream.avail_out = sizeof packed;
    deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    writeAll(packed, sizeof packed - stream.avail_out);
  } while (stream.avail_out == 0);
  buffer.clear();
}

void Output::commit() {
  flush(true);
  file.commit();
}

} // namespace tulle::runtime::io
