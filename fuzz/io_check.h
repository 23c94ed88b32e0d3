// What must hold of whatever a file parser accepts.
#pragma once
#include "runtime/io/Io.h"
#include "tulle/error.h"
#include <cstdlib>

namespace tulle::fuzz {

inline void require(bool holds) {
  if (!holds)
    std::abort();
}

inline void checkContents(const runtime::FileContents &contents) {
  if (contents.isStored && !format::isAllDense(contents.stored.encoding)) {
    try {
      runtime::validate(contents.stored);
    } catch (const Error &) {
      std::abort(); // the parser let pass what a kernel must not meet
    }
    return;
  }
  if (contents.isStored) {
    // A size of 0 makes the array empty, whatever the others multiply to.
    __int128 count = 1;
    bool empty = false;
    for (int64_t size : contents.stored.dims) {
      require(size >= 0);
      empty = empty || size == 0;
      count = empty ? 0 : count * size;
      require(count <= INT64_MAX);
    }
    require(contents.stored.storedCount() == int64_t(count));
    return;
  }
  const runtime::Entries &entries = contents.entries;
  require(entries.coords.size() == entries.dims.size());
  require(entries.values.size() == size_t(entries.count()) * byteWidth(entries.type));
  for (size_t d = 0; d < entries.dims.size(); ++d) {
    require(entries.coords[d].size() == size_t(entries.count()));
    for (int64_t coordinate : entries.coords[d])
      require(coordinate >= 0 && coordinate < entries.dims[d]);
  }
}

/// Parses; an Error is a good answer, anything else that is thrown is not.
inline void checkFile(const char *name, const uint8_t *data, size_t size) {
  try {
    checkContents(runtime::parseFile({reinterpret_cast<const char *>(data), size}, name));
  } catch (const Error &error) {
    require(error.what()[0] != '\0');
  }
}

} // namespace tulle::fuzz
