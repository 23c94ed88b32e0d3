// Text in HTML and SVG documents.
#pragma once
#include <string>
#include <string_view>

namespace tulle::support {

/// The text with the characters that markup means something by as entities.
inline std::string escapeMarkup(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

} // namespace tulle::support
