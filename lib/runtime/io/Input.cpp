#include "runtime/io/Input.h"
#include "runtime/io/Descriptor.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace tulle::runtime::io {

namespace {

[[noreturn]] void failSystem(const std::string &path, std::string_view what) {
  throwFileError(path, "{}: {}", what, std::strerror(errno));
}

/// Ends the stream whichever way decompression is left.
struct Inflate {
  z_stream stream{};
  Inflate() {
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
      throw Error("out of memory: cannot start decompression");
  }
  ~Inflate() { inflateEnd(&stream); }
};

} // namespace

Input::Input(const std::string &path, bool compressed) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    failSystem(path, errno == ENOENT ? "cannot open the file; check the name and the folder"
                                     : "cannot open the file");
  try {
    map(file.fd, path);
    bool magic = size >= 2 && data[0] == '\x1f' && data[1] == '\x8b';
    if (compressed && size == 0)
      throwFileError(path, "the file is empty; expected gzip data");
    if (compressed && !magic)
      throwFileError(path, "not gzip data, though the name ends in .gz; remove .gz from the name if the file "
                           "is not compressed");
    if (!compressed && magic)
      throwFileError(path, "the file is gzip data; append .gz to its name");
    if (compressed)
      decompress(path);
  } catch (...) {
    release();
    throw;
  }
}

Input::~Input() { release(); }

void Input::release() {
  if (mapped)
    munmap(data, size);
  else
    std::free(data);
  data = nullptr;
  size = 0;
  mapped = false;
}

size_t Input::grow(size_t wanted, const std::string &path) {
  constexpr size_t least = 1 << 20;
  size_t more = wanted - size;
  while (more > least && !fitsMemory(int64_t(more)))
    more /= 2;
  char *grown = fitsMemory(int64_t(more)) ? static_cast<char *>(std::realloc(data, size + more)) : nullptr;
  if (!grown)
    throwFileError(path,
                   "out of memory: the contents need more than the {} bytes that are read, and {} more are "
                   "not available",
                   size, more);
  data = grown;
  return size + more;
}

void Input::map(int descriptor, const std::string &path) {
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    failSystem(path, "cannot read the file");
  if (S_ISDIR(info.st_mode))
    throwFileError(path, "this is a directory; name a file in it");
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    void *address = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED)
      failSystem(path, "cannot map the file");
    madvise(address, size_t(info.st_size), MADV_SEQUENTIAL);
    data = static_cast<char *>(address);
    size = size_t(info.st_size);
    mapped = true;
    return;
  }
  // Pipes and the like have no size to map.
  size_t capacity = 0;
  for (;;) {
    if (size == capacity)
      capacity = grow(std::max<size_t>(1 << 16, capacity * 2), path);
    ssize_t got = read(descriptor, data + size, capacity - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      failSystem(path, "cannot read the file");
    if (got == 0)
      return;
    size += size_t(got);
  }
}

void Input::decompress(const std::string &path) {
  Input packed(*this, Take{});
  Inflate inflater;
  z_stream &stream = inflater.stream;
  size_t consumed = 0, capacity = 0;
  bool ended = false;
  auto damaged = [&](std::string_view what) {
    throwFileError(path, "{} at byte {} of {}; copy or download the file again", what, consumed, packed.size);
  };
  while (consumed < packed.size || !ended) {
    if (ended) {
      // A gzip file may be several members end to end, and padded with zeros.
      std::string_view rest = packed.bytes().substr(consumed);
      if (rest.find_first_not_of('\0') == std::string_view::npos)
        break;
      if (rest.substr(0, 2) != "\x1f\x8b")
        damaged("data after the end of the gzip stream");
      inflateReset(&stream);
      ended = false;
    }
    if (size == capacity)
      capacity = grow(std::max<size_t>(packed.size * 4 + 4096, capacity * 2), path);
    constexpr size_t most = size_t(1) << 30; // zlib counts in 32 bits
    size_t in = std::min(packed.size - consumed, most), out = std::min(capacity - size, most);
    stream.next_in = reinterpret_cast<Bytef *>(packed.data + consumed);
    stream.avail_in = uInt(in);
    stream.next_out = reinterpret_cast<Bytef *>(data + size);
    stream.avail_out = uInt(out);
    int state = inflate(&stream, Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    size += out - stream.avail_out;
    ended = state == Z_STREAM_END;
    if (state == Z_MEM_ERROR)
      throwFileError(path, "out of memory while decompressing");
    if (state != Z_OK && !ended && state != Z_BUF_ERROR)
      damaged(fmt::format("damaged gzip data ({})", stream.msg ? stream.msg : "unknown error"));
    if (!ended && consumed == packed.size && stream.avail_out != 0)
      damaged("truncated gzip data: the file ends");
  }
}

} // namespace tulle::runtime::io
