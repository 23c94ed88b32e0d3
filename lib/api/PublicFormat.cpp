// tulle::Format with level formats of its own.
#include "format/LevelDeclaration.h"
#include "tulle/format.h"

namespace tulle {

Format Format::withLevels(const std::string &declarations, const std::string &name) const {
  format::parseLevels(declarations, name); // errors there point into it, not into the whole
  const std::string_view text = std::string_view(value).substr(0, value.find_last_not_of(" \n") + 1);
  // Where `#tulle.encoding<{ … }>` or `{ … }` ends.
  size_t end = text.size();
  if (text.starts_with('#') && text.ends_with("}>"))
    end -= 2;
  else if (text.starts_with('{') && text.ends_with('}'))
    end -= 1;
  // Line by line, as it was written: errors about a stored tensor show the lines of a declaration.
  std::string made = std::string(text.substr(0, end)) + "\n, levels = {\n" + declarations + "\n}" +
                     std::string(text.substr(end));
  format::parseEncoding(made, "<format>");
  return Format(std::move(made));
}

} // namespace tulle
