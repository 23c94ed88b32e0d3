// Chooses the reader of a file by its ending, through .gz, and runs it on the file's bytes.
#include "runtime/io/H5.h"
#include "runtime/io/Input.h"
#include "runtime/io/Text.h"
#include "support/Errors.h"
#include <new>
#include <stdexcept>

namespace tulle::runtime {

bool io::takeEnding(std::string_view &name, std::string_view ending) {
  const bool has = name.size() > ending.size() && name.ends_with(ending);
  name.remove_suffix(has ? ending.size() : 0);
  return has;
}

namespace {

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
  const io::Input input(path, compressed);
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
