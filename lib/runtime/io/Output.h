// A file that appears whole or not at all.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace tulle::runtime::io {

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
  [[noreturn]] void fail(std::string_view what);

  struct Deflate;
  std::string path, temporary, buffer;
  std::unique_ptr<Deflate> deflater;
  int descriptor = -1;
};

} // namespace tulle::runtime::io
