// The bytes of a file: mapped, or decompressed into memory.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tulle::runtime::io {

/// Owns the bytes of one input file. Throws Error when the file is missing, not readable, a directory, or
/// damaged gzip.
class Input {
public:
  /// `compressed`: the name ends in .gz.
  Input(const std::string &path, bool compressed);
  ~Input();
  Input(const Input &) = delete;
  Input &operator=(const Input &) = delete;

  std::string_view bytes() const { return {data, size}; }

private:
  struct Take {};
  /// Moves the bytes out of `other`, which is then empty.
  Input(Input &other, Take) : data(other.data), size(other.size), mapped(other.mapped) {
    other.data = nullptr;
    other.size = 0;
    other.mapped = false;
  }
  void map(int descriptor, const std::string &path);
  void decompress(const std::string &path);
  /// Makes the buffer hold `wanted` bytes, or fewer where memory ends, but more than it does; how many.
  size_t grow(size_t wanted, const std::string &path);
  void release();

  char *data = nullptr;
  size_t size = 0;
  bool mapped = false;
};

} // namespace tulle::runtime::io
