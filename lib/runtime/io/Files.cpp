// Chooses the reader of a file by its ending, and runs it on the file's bytes: mapped, or decompressed whole.
// Chooses the writer so; writes .mtx, .tns and .npy, through gzip where the name says so.
#include "runtime/io/TemporaryFile.h"
#include "runtime/io/Text.h"
#include "runtime/tensor/MemoryLimits.h"
#include "support/Errors.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>
#include <zlib.h>

namespace tulle::runtime {

//===--- Reading ---===//

namespace {

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

//===--- Writing ---===//

namespace {

/// Bytes for a file, which zlib collects and writes as gzip or as they are; it appears at commit(). Throws
/// Error when the folder is missing or full.
class Output {
public:
  Output(const std::string &path, bool compressed)
      : file(path), stream(gzdopen(dup(file.descriptor()), compressed ? "wb6" : "wbT"), gzclose) {
    if (!stream || gzbuffer(stream.get(), 1 << 18) != 0)
      throw Error("out of memory: cannot start writing " + path);
  }

  void write(std::string_view bytes) {
    if (gzfwrite(bytes.data(), 1, bytes.size(), stream.get()) != bytes.size())
      file.fail("cannot write the file");
  }
  /// A number as the shortest text that reads back to the same value.
  template <class Number> void number(Number value) {
    char text[32];
    write({text, size_t(std::to_chars(text, text + sizeof text, value).ptr - text)});
  }
  void commit() {
    if (gzclose(stream.release()) != Z_OK)
      file.fail("cannot write the file");
    file.commit();
  }

private:
  TemporaryFile file;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> stream;
};

/// The value's numbers as text. Narrow floats are written as the shortest text of their exact 64-bit
/// widening, so that reading them as f64 gives the same value.
void writeValue(Output &out, ElementType type, const void *data) {
  Scalar value = loadScalar(type, data);
  if (!isFloat(type) && !isComplex(type))
    return out.number(value.i);
  out.number(value.f.real());
  if (isComplex(type)) {
    out.write(" ");
    out.number(value.f.imag());
  }
}

/// `i j value`, counted from 1.
void writeEntry(Output &out, const Tensor &tensor, std::span<const int64_t> at, int64_t position) {
  for (int64_t coordinate : at) {
    out.number(coordinate + 1);
    out.write(" ");
  }
  writeValue(out, tensor.type, tensor.value(position));
  out.write("\n");
}

/// Row-major elements of a dense tensor of any order and blocking.
Tensor rowMajor(const Tensor &tensor) {
  return tensor.encoding == format::denseEncoding(tensor.encoding->order()) ? tensor : toDense(tensor);
}

void writeNpy(Output &out, const std::string &path, const Tensor &tensor) {
  if (!format::isAllDense(tensor.encoding))
    throwFileError(
        path, ".npy files hold dense arrays, but the tensor is stored as {}; write {} or convert it to dense",
        format::displayName(tensor.encoding), tensor.dims.size() <= 2 ? ".mtx" : ".tns");
  std::string header;
  try {
    header = io::npyHeader(tensor.type, tensor.dims);
  } catch (const Error &error) {
    throwFileError(path, "{}", error.what());
  }
  out.write(header);
  Tensor dense = rowMajor(tensor);
  out.write({static_cast<const char *>(dense.values()), size_t(dense.storedCount()) * byteWidth(dense.type)});
}

/// Order 2 as it is; order 1 as a column, order 0 as 1 by 1.
void writeMtx(Output &out, const std::string &path, const Tensor &tensor) {
  if (tensor.dims.size() > 2)
    throwFileError(path, ".mtx files hold matrices, but the tensor has {} dimensions; write .tns instead",
                   tensor.dims.size());
  int64_t rows = tensor.dims.empty() ? 1 : tensor.dims[0], cols = tensor.dims.size() < 2 ? 1 : tensor.dims[1];
  bool array = format::isAllDense(tensor.encoding);
  std::string_view field = isComplex(tensor.type) ? "complex" : isFloat(tensor.type) ? "real" : "integer";
  out.write(fmt::format("%%MatrixMarket matrix {} {} general\n{} {}", array ? "array" : "coordinate", field,
                        rows, cols));
  if (array) {
    out.write("\n");
    Tensor dense = rowMajor(tensor);
    for (int64_t j = 0; j < cols; ++j)
      for (int64_t i = 0; i < rows; ++i)
        writeEntry(out, dense, {}, i * cols + j);
    return;
  }
  // Slots that lie outside the dimensions (padding) are not entries, so they are counted first.
  int64_t count = 0;
  forEachStored(tensor, [&](std::span<const int64_t>, int64_t) { ++count; });
  out.write(fmt::format(" {}\n", count));
  forEachStored(tensor, [&](std::span<const int64_t> at, int64_t position) {
    const int64_t both[] = {at.empty() ? 0 : at[0], at.size() < 2 ? 0 : at[1]};
    writeEntry(out, tensor, both, position);
  });
}

/// The comments name what the entries alone cannot: the sizes and the type.
void writeTns(Output &out, const Tensor &tensor) {
  out.write("# dims:");
  for (int64_t size : tensor.dims)
    out.write(fmt::format(" {}", size));
  out.write(fmt::format("\n# type: {}\n", name(tensor.type)));
  // A dense tensor's zeros are what an entry that is absent means; -0.0 is not.
  const bool dense = format::isAllDense(tensor.encoding);
  static constexpr std::byte zero[16] = {};
  forEachStored(tensor, [&](std::span<const int64_t> at, int64_t position) {
    if (!dense || std::memcmp(tensor.value(position), zero, byteWidth(tensor.type)) != 0)
      writeEntry(out, tensor, at, position);
  });
}

} // namespace

void writeTextFile(const std::string &path, std::string_view text) {
  TemporaryFile file(path);
  file.write(text);
  file.commit();
}

std::string writeFile(const std::string &path, const Tensor &tensor) {
  if (tensor.encoding->explicitVal) // files list the values
    return writeFile(path, withStoredValues(tensor));
  std::string_view stem = path;
  const bool compressed = io::takeEnding(stem, ".gz"), npz = io::takeEnding(stem, ".npz");
  if (npz || io::takeEnding(stem, ".h5")) {
    if (compressed)
      throwFileError(path, ".npz and .h5 files are not compressed again; leave .gz out");
    if (format::hasSlices(tensor.encoding))
      throwFileError(path, ".npz and .h5 files hold buffers, and those of a slice hold more than the slice; "
                           "convert it to a format without slices first");
    return npz ? io::writeNpz(path, tensor) : io::writeH5(path, tensor);
  }
  const bool mtx = io::takeEnding(stem, ".mtx"), tns = !mtx && io::takeEnding(stem, ".tns");
  if (!mtx && !tns && !io::takeEnding(stem, ".npy"))
    throwFileError(path, "unknown file format; the name must end in .mtx, .tns or .npy, each with or without "
                         ".gz, or in .npz or .h5");
  Output out(path, compressed);
  if (mtx)
    writeMtx(out, path, tensor);
  else if (tns)
    writeTns(out, tensor);
  else
    writeNpy(out, path, tensor);
  out.commit();
  return "";
}

} // namespace tulle::runtime
