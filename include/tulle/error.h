// The one exception Tulle throws at its users.
#pragma once
#include <stdexcept>
#include <string>

namespace tulle {

/// The user's input (text, file, flag, buffer) is wrong. `what()` is the whole rendered diagnostic: the
/// place, what was expected, what was found, and the cure; text inputs show the line with a caret.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
public:
  explicit Error(const std::string &message) : std::runtime_error(message) {}
};

} // namespace tulle
