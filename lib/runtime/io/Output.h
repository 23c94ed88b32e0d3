// Text and bytes into a file that appears whole or not at all.
#pragma once
#include "runtime/io/TemporaryFile.h"
#include <charconv>
#include <memory>
#include <string>
#include <string_view>

namespace tulle::runtime::io {

/// Collects bytes for a file, optionally as gzip; it appears at commit(). Throws Error when the folder is
/// missing or full.
class Output {
public:
  Output(const std::string &path, bool compressed);
  ~Output();
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  void write(std::string_view bytes);
  /// A number as the shortest text that reads back to the same value.
  template <class Number> void number(Number value) {
    char text[32];
    write({text, size_t(std::to_chars(text, text + sizeof text, value).ptr - text)});
  }
  void commit();

private:
  void flush(bool last);

  struct Deflate;
  TemporaryFile file;
  std::string buffer;
  std::unique_ptr<Deflate> deflater;
};

} // namespace tulle::runtime::io
