// Errors that point into a text.
#pragma once
#include "tulle/error.h"
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::support {

/// Half-open byte range in a source text.
struct SourceRange {
  size_t begin = 0, end = 0;
};

/// A second place that explains the first ("also used here as …").
struct Note {
  SourceRange range;
  std::string message;
};

/// Lines and columns (bytes) count from 1.
struct TextPosition {
  unsigned line = 1, column = 1;
};
TextPosition positionOf(std::string_view text, size_t offset);
/// The inverse; the end of the text for positions that it does not have.
size_t offsetOf(std::string_view text, TextPosition position);

/// Renders `name:line:col: error: message`, the line, and a caret with underline; then each note likewise.
/// `name` is a file name or `<expr>`; the range may reach past the end of the text (points at its end).
std::string render(std::string_view name, std::string_view text, SourceRange range, std::string_view message,
                   const std::vector<Note> &notes = {});

/// A tulle::Error that also keeps where it is, so that a caller who embeds the text elsewhere (an MLIR file)
/// can point there instead.
class SyntaxError : public Error {
public:
  SyntaxError(std::string_view name, std::string_view text, SourceRange range, std::string message,
              const std::vector<Note> &notes = {})
      : Error(render(name, text, range, message, notes)), range(range), message(std::move(message)) {}
  SourceRange range;
  std::string message;
};

} // namespace tulle::support
