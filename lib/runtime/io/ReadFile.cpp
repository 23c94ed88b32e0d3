#include "runtime/io/H5.h"
#include "runtime/io/Input.h"
#include "runtime/io/Text.h"
#include "tulle/error.h"
#include <new>
#include <stdexcept>

namespace tulle::runtime {

namespace {

/// Containers say bad_alloc or length_error where a user should read what was too large.
template <typename Parse> FileContents guarded(const std::string &name, size_t bytes, Parse parse) {
  try {
    return parse();
  } catch (const std::bad_alloc &) {
    throw Error(fmt::format("{}: error: out of memory while reading {} bytes", name, bytes));
  } catch (const std::length_error &) {
    throw Error(fmt::format("{}: error: out of memory while reading {} bytes", name, bytes));
  }
}

bool takeEnding(std::string_view &path, std::string_view ending) {
  if (path.size() <= ending.size() || path.substr(path.size() - ending.size()) != ending)
    return false;
  path.remove_suffix(ending.size());
  return true;
}

FileContents parseBytes(std::string_view bytes, const std::string &name,
                        FileContents (*reader)(const io::Text &)) {
  io::Progress none;
  return guarded(name, bytes.size(), [&] { return reader({bytes, name, none}); });
}

} // namespace

FileContents parseMtx(std::string_view text, const std::string &name) {
  return parseBytes(text, name, io::readMtx);
}
FileContents parseSmtx(std::string_view text, const std::string &name) {
  return parseBytes(text, name, io::readSmtx);
}
FileContents parseNpy(std::string_view bytes, const std::string &name) {
  return parseBytes(bytes, name, io::readNpy);
}
FileContents parseNpz(std::string_view bytes, const std::string &name) {
  return parseBytes(bytes, name, io::readNpz);
}
FileContents parseH5(std::string_view bytes, const std::string &name) {
  return parseBytes(bytes, name, io::readH5);
}
FileContents parseTns(std::string_view text, const std::string &name, unsigned order) {
  io::Progress none;
  return guarded(name, text.size(), [&] { return io::readTns({text, name, none}, order); });
}

FileContents readFile(const std::string &path, const std::function<void(double)> &progress, unsigned order) {
  if (path.empty())
    throw Error("the name of the file is empty; name a tensor file, or a generator");
  std::string_view stem = path;
  bool compressed = takeEnding(stem, ".gz");
  auto with = [&](auto reader) {
    io::Input input(path, compressed);
    io::Text text{input.bytes(), path, progress};
    FileContents contents = guarded(path, text.bytes.size(), [&] { return reader(text); });
    text.report(text.end());
    return contents;
  };
  if (takeEnding(stem, ".mtx"))
    return with(io::readMtx);
  if (takeEnding(stem, ".tns"))
    return with([&](const io::Text &text) { return io::readTns(text, order); });
  if (takeEnding(stem, ".smtx"))
    return with(io::readSmtx);
  if (takeEnding(stem, ".npy"))
    return with(io::readNpy);
  if (takeEnding(stem, ".npz"))
    return with(io::readNpz);
  if (takeEnding(stem, ".h5") && compressed)
    return with(io::readH5);
  if (path.ends_with(".h5")) {
    // The library reads the parts it needs by itself; what is no readable file gets the usual messages.
    io::Input input(path, false);
    return guarded(path, input.bytes().size(), [&] { return io::readH5File(path); });
  }
  throw Error(
      fmt::format("{}: error: unknown file format; the name must end in .mtx, .tns, .smtx, .npy, .npz or "
                  ".h5, each with or without .gz",
                  path));
}

} // namespace tulle::runtime
