// Chooses the writer of a file by its ending; writes .mtx, .tns and .npy, through gzip where the name says
// so.
#include "runtime/io/TemporaryFile.h"
#include "runtime/io/Text.h"
#include "support/Errors.h"
#include <charconv>
#include <memory>
#include <zlib.h>

namespace tulle::runtime {

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
  if (isComplex(type)) {
    out.number(value.f.real());
    out.write(" ");
    out.number(value.f.imag());
  } else if (isFloat(type)) {
    out.number(value.f.real());
  } else {
    out.number(value.i);
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
  return tensor.encoding == format::denseEncoding(tensor.encoding.order()) ? tensor : toDense(tensor);
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
  if (tensor.encoding.explicitVal) // files list the values
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
