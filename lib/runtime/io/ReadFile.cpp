// Chooses the reader of a file by its ending, and runs it on the file's bytes: mapped, or decompressed whole.
#include "runtime/io/TemporaryFile.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>
#include <zlib.h>

namespace tulle::runtime {

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

struct Release {
  size_t mapped = 0; ///< bytes; 0: memory of malloc
  void operator()(char *data) const { mapped ? (void)munmap(data, mapped) : std::free(data); }
};

/// The bytes of one file. Throws Error when it is missing, not readable, a directory, or damaged gzip.
class Input {
public:
  /// `compressed`: the name ends in .gz.
  Input(const std::string &path, bool compressed) : path(path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
      failSystem(path, errno == ENOENT ? "cannot open the file; check the name and the folder"
                                       : "cannot open the file");
    map(file.fd);
    const bool magic = bytes().starts_with("\x1f\x8b");
    if (compressed && size == 0)
      throwFileError(path, "the file is empty; expected gzip data");
    if (compressed && !magic)
      throwFileError(path, "not gzip data, though the name ends in .gz; remove .gz from the name if the file "
                           "is not compressed");
    if (!compressed && magic)
      throwFileError(path, "the file is gzip data; append .gz to its name");
    if (compressed)
      decompress();
  }

  std::string_view bytes() const { return {data.get(), size}; }

private:
  void map(int descriptor) {
    struct stat info;
    if (fstat(descriptor, &info) != 0)
      failSystem(path, "cannot read the file");
    if (S_ISDIR(info.st_mode))
      throwFileError(path, "this is a directory; name a file in it");
    if (S_ISREG(info.st_mode) && info.st_size > 0) {
      void *address = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (address == MAP_FAILED)
        failSystem(path, "cannot map the file");
      size = size_t(info.st_size);
      madvise(address, size, MADV_SEQUENTIAL);
      data = {static_cast<char *>(address), Release{size}};
      return;
    }
    // Pipes and the like have no size to map.
    size_t capacity = 0;
    for (;;) {
      if (size == capacity)
        capacity = grow(std::max<size_t>(1 << 16, capacity * 2));
      ssize_t got = read(descriptor, data.get() + size, capacity - size);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        failSystem(path, "cannot read the file");
      if (got == 0)
        return;
      size += size_t(got);
    }
  }

  void decompress() {
    const auto packed = std::move(data);
    const std::string_view from(packed.get(), std::exchange(size, 0));
    Inflate inflater;
    z_stream &stream = inflater.stream;
    size_t consumed = 0, capacity = 0;
    bool ended = false;
    auto damaged = [&](std::string_view what) {
      throwFileError(path, "{} at byte {} of {}; copy or download the file again", what, consumed,
                     from.size());
    };
    while (consumed < from.size() || !ended) {
      if (ended) {
        // A gzip file may be several members end to end, and padded with zeros.
        std::string_view rest = from.substr(consumed);
        if (rest.find_first_not_of('\0') == std::string_view::npos)
          break;
        if (!rest.starts_with("\x1f\x8b"))
          damaged("data after the end of the gzip stream");
        inflateReset(&stream);
      }
      if (size == capacity)
        capacity = grow(std::max<size_t>(from.size() * 4 + 4096, capacity * 2));
      constexpr size_t most = size_t(1) << 30; // zlib counts in 32 bits
      size_t in = std::min(from.size() - consumed, most), out = std::min(capacity - size, most);
      stream.next_in = reinterpret_cast<Bytef *>(packed.get() + consumed);
      stream.avail_in = uInt(in);
      stream.next_out = reinterpret_cast<Bytef *>(data.get() + size);
      stream.avail_out = uInt(out);
      int state = inflate(&stream, Z_NO_FLUSH);
      consumed += in - stream.avail_in;
      size += out - stream.avail_out;
      ended = state == Z_STREAM_END;
      if (state == Z_MEM_ERROR)
        throwFileError(path, "out of memory while decompressing");
      if (state != Z_OK && !ended && state != Z_BUF_ERROR)
        damaged(fmt::format("damaged gzip data ({})", stream.msg ? stream.msg : "unknown error"));
      if (!ended && consumed == from.size() && stream.avail_out != 0)
        damaged("truncated gzip data: the file ends");
    }
  }

  /// Makes the buffer hold `wanted` bytes, or fewer where memory ends, but more than it does; how many.
  size_t grow(size_t wanted) {
    constexpr size_t least = 1 << 20;
    size_t more = wanted - size;
    while (more > least && !fitsMemory(int64_t(more)))
      more /= 2;
    void *grown = fitsMemory(int64_t(more)) ? std::realloc(data.get(), size + more) : nullptr;
    if (!grown)
      throwFileError(path,
                     "out of memory: the contents need more than the {} bytes that are read, and {} more are "
                     "not available",
                     size, more);
    (void)data.release();
    data.reset(static_cast<char *>(grown));
    return size + more;
  }

  const std::string &path;
  std::unique_ptr<char, Release> data;
  size_t size = 0;
};

using Reader = FileContents (*)(const io::Text &);

Reader readerFor(const std::string &name, std::string_view stem) {
  static constexpr std::pair<std::string_view, Reader> readers[] = {
      {".mtx", io::readMtx}, {".tns", io::readTns}, {".smtx", io::readSmtx},
      {".npy", io::readNpy}, {".npz", io::readNpz}, {".h5", io::readH5}};
  for (auto [ending, reader] : readers)
    if (io::takeEnding(stem, ending))
      return reader;
  throwFileError(name, "unknown file format; the name must end in .mtx, .tns, .smtx, .npy, .npz or .h5, each "
                       "with or without .gz");
}

/// Containers say bad_alloc or length_error where a user should read what was too large.
template <typename Parse> FileContents guarded(const std::string &name, size_t bytes, Parse parse) {
  try {
    return parse();
  } catch (const std::bad_alloc &) {
  } catch (const std::length_error &) {
  }
  throwFileError(name, "out of memory while reading {} bytes", bytes);
}

} // namespace

FileContents parseFile(std::string_view bytes, const std::string &name, unsigned order) {
  const Reader reader = readerFor(name, name);
  return guarded(name, bytes.size(), [&] { return reader({bytes, name, {}, order}); });
}

FileContents readFile(const std::string &path, const std::function<void(double)> &progress, unsigned order) {
  if (path.empty())
    throw Error("the name of the file is empty; name a tensor file, or a generator");
  std::string_view stem = path;
  const bool compressed = io::takeEnding(stem, ".gz");
  const Reader reader = readerFor(path, stem);
  const Input input(path, compressed);
  return guarded(path, input.bytes().size(), [&] {
    // The HDF5 library reads the parts it needs by itself; what is no readable file gets the usual messages.
    if (reader == io::readH5 && !compressed)
      return io::readH5File(path);
    const io::Text text{input.bytes(), path, progress, order};
    FileContents contents = reader(text);
    text.report(text.end());
    return contents;
  });
}

} // namespace tulle::runtime
