// A message shows one line of the text, shortened around the range, and marks the range below it, column by
// column.
#include "support/Diagnostic.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::support {
namespace {

/// Of a line longer than this, a window around the range is shown.
constexpr size_t mostShown = 100;

/// Bytes of the UTF-8 character at the front that a terminal shows in one column; 0 where the byte is to be
/// written as \xNN: control characters, and what is no UTF-8.
size_t shownBytes(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80)
    return byte(0) >= ' ' && byte(0) != 0x7f;
  size_t size = byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf5 ? 4 : 0;
  if (size > text.size())
    return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  return byte(0) == 0xc2 && byte(1) < 0xa0 ? 0 : size; // the second half of the control characters
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The line around a range, shortened where it is long, and the caret below with what it underlines.
std::string renderLine(std::string_view line, size_t begin, size_t end) {
  if (!line.empty() && line.back() == '\r' && begin + 1 < line.size())
    line.remove_suffix(1);
  size_t from = begin > mostShown / 2 && line.size() > mostShown ? begin - mostShown / 2 : 0;
  size_t to = std::min(line.size(), from + mostShown);
  while (from > 0 && continues(line[from]) && begin - from < mostShown / 2 + 3)
    --from;
  while (to < line.size() && continues(line[to]))
    ++to;
  std::string shown = from > 0 ? "…" : "", below = from > 0 ? " " : "";
  for (size_t i = from, size; i < to; i += size) {
    size_t plain = shownBytes(line.substr(i, to - i));
    size = std::max<size_t>(plain, 1);
    std::string text = line[i] == '\t' ? " "
                       : plain ? std::string(line.substr(i, plain))
                               : fmt::format("\\x{:02x}", unsigned(static_cast<unsigned char>(line[i])));
    shown += text;
    size_t columns = plain || line[i] == '\t' ? 1 : text.size();
    if (i + size <= begin)
      below.append(columns, ' ');
    else if (i <= begin)
      below += "^" + std::string(columns - 1, end > begin + 1 ? '~' : ' ');
    else if (i < end)
      below.append(columns, '~');
  }
  if (begin >= to)
    below += '^';
  while (below.back() == ' ')
    below.pop_back();
  return fmt::format("\n  {}{}\n  {}", shown, to < line.size() ? "…" : "", below);
}

std::string renderOne(std::string_view name, std::string_view text, SourceRange range, std::string_view kind,
                      std::string_view message) {
  const size_t begin = std::min(range.begin, text.size());
  const TextPosition position = positionOf(text, begin);
  const size_t lineBegin = begin + 1 - position.column;
  const size_t lineEnd = std::min(text.find('\n', begin), text.size());
  const size_t end = std::clamp(range.end, begin + 1, std::max(lineEnd, begin + 1));
  std::string head = fmt::format("{}:{}:{}: {}: {}", name, position.line, position.column, kind, message);
  if (lineBegin == lineEnd)
    return head;
  return head + renderLine(text.substr(lineBegin, lineEnd - lineBegin), begin - lineBegin, end - lineBegin);
}

} // namespace

TextPosition positionOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t lineBegin = before.rfind('\n') + 1; // 0 without one
  return {unsigned(1 + std::ranges::count(before, '\n')), unsigned(before.size() - lineBegin + 1)};
}

size_t offsetOf(std::string_view text, TextPosition position) {
  size_t lineBegin = 0;
  for (unsigned line = 1; line < position.line && lineBegin < text.size(); ++line)
    lineBegin = std::min(text.find('\n', lineBegin), text.size() - 1) + 1;
  return std::min(lineBegin + position.column - 1, text.size());
}

std::string render(std::string_view name, std::string_view text, SourceRange range, std::string_view message,
                   const std::vector<Note> &notes) {
  std::string out = renderOne(name, text, range, "error", message);
  for (const Note &note : notes)
    out += "\n" + renderOne(name, text, note.range, "note", note.message);
  return out;
}

} // namespace tulle::support
