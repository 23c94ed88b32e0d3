// A file that appears whole or not at all.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace tulle::runtime::io {

/// A file of a new name next to `path`, empty at first; commit() renames it to `path`, and without commit()
/// it is removed.
class TemporaryFile {
public:
  /// Throws Error when the folder is missing or full, or `path` is a directory.
  explicit TemporaryFile(const std::string &path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const std::string &name() const { return temporary; }
  /// The file, open for writing until commit().
  int descriptor() const { return opened; }
  void commit();
  /// Throws Error `path: error: what: ` and the system's reason.
  [[noreturn]] void fail(std::string_view what) const;

private:
  std::string path, temporary;
  int opened = -1;
};

/// Collects bytes in a temporary file next to `path`, optionally as gzip; commit() renames it to `path`.
/// Without commit() (an exception) the temporary file is removed. Throws Error when the folder is missing or
/// full.
class Output {
public:
  Output(const std::string &path, bool compressed);
  ~Output();
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  void write(std::string_view bytes);
  /// A number as the shortest text that reads back to the same value.
  void number(double value);
  void number(int64_t value);
  void commit();

private:
  void flush(bool last);
  void writeAll(const char *data, size_t size);

  struct Deflate;
  TemporaryFile file;
  std::string buffer;
  std::unique_ptr<Deflate> deflater;
};

} // namespace tulle::runtime::io
