#include "runtime/io/Output.h"
#include "tulle/error.h"
#include <zlib.h>

namespace tulle::runtime::io {

static constexpr size_t bufferSize = size_t(1) << 18;

struct Output::Deflate {
  z_stream stream{};
  Deflate() {
    // Level 6, gzip wrapper; the time stamp stays 0, so equal tensors give equal files.
    if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Error("out of memory: cannot start compression");
  }
  ~Deflate() { deflateEnd(&stream); }
};

Output::Output(const std::string &path, bool compressed) : file(path) {
  if (compressed)
    deflater = std::make_unique<Deflate>();
  buffer.reserve(bufferSize + 64);
}

Output::~Output() = default;

void Output::write(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t left = bufferSize - buffer.size();
    buffer.append(bytes.substr(0, left));
    bytes.remove_prefix(std::min(left, bytes.size()));
    if (buffer.size() == bufferSize)
      flush(false);
  }
}

void Output::flush(bool last) {
  if (!deflater) {
    file.write(buffer);
    buffer.clear();
    return;
  }
  z_stream &stream = deflater->stream;
  stream.next_in = reinterpret_cast<Bytef *>(buffer.data());
  stream.avail_in = uInt(buffer.size());
  char packed[1 << 16];
  do {
    stream.next_out = reinterpret_cast<Bytef *>(packed);
    stream.avail_out = sizeof packed;
    deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    file.write({packed, sizeof packed - stream.avail_out});
  } while (stream.avail_out == 0);
  buffer.clear();
}

void Output::commit() {
  flush(true);
  file.commit();
}

} // namespace tulle::runtime::io
