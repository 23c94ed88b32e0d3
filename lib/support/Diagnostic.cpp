#include "support/Diagnostic.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::support {

static std::string renderOne(std::string_view name, std::string_view text, SourceRange range,
                             std::string_view kind, std::string_view message) {
  size_t begin = std::min(range.begin, text.size());
  size_t lineBegin = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
  size_t lineEnd = std::min(text.find('\n', begin), text.size());
  size_t line = 1 + std::count(text.begin(), text.begin() + lineBegin, '\n');
  size_t end = std::clamp(range.end, begin + 1, std::max(lineEnd, begin + 1));
  std::string indent;
  for (char c : text.substr(lineBegin, begin - lineBegin))
    indent += c == '\t' ? '\t' : ' ';
  return fmt::format("{}:{}:{}: {}: {}\n  {}\n  {}^{}", name, line, begin - lineBegin + 1, kind, message,
                     text.substr(lineBegin, lineEnd - lineBegin), indent, std::string(end - begin - 1, '~'));
}

std::string render(std::string_view name, std::string_view text, SourceRange range, std::string_view message,
                   const std::vector<Note> &notes) {
  std::string out = renderOne(name, text, range, "error", message);
  for (const Note &note : notes)
    out += "\n" + renderOne(name, text, note.range, "note", note.message);
  return out;
}

} // namespace tulle::support
