// The exceptions Tulle throws: Error for what its users got wrong, InternalError for what we did, Interrupted
// for what its users asked for.
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

/// A run was ended before its end by who called it (RunReport::isInterrupted).
class __attribute__((visibility("default"))) Interrupted : public std::runtime_error {
public:
  Interrupted() : std::runtime_error("the run was interrupted") {}
};

/// Tulle itself is wrong: `what()` says so, with what a report needs. Nothing the user does should cause it.
class InternalError : public std::logic_error {
public:
  explicit InternalError(const std::string &message)
      : std::logic_error("internal error: " + message +
                         "\nThis is a mistake in Tulle, not in your input. Please report it with the command "
                         "line and this "
                         "message.") {}
};

} // namespace tulle
