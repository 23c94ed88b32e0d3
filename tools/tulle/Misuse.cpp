// Finds the first argument that no option or command took, and the option or command nearest to it.
#include "Misuse.h"
#include "support/Suggest.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::cli {

static bool isOption(const std::string &word) { return word.size() > 1 && word[0] == '-'; }

static std::string withoutDashes(const std::string &word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

/// `; did you mean '--tensor'?`, or nothing.
static std::string nearestOption(const CLI::App &command, const std::string &word) {
  std::vector<std::string> names, flags;
  for (const CLI::Option *option : command.get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back(name), flags.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back(name), flags.push_back("-" + name);
  }
  const std::string guess = support::nearest(withoutDashes(word), names);
  auto at = std::find(names.begin(), names.end(), guess);
  return at == names.end() ? "" : fmt::format("; did you mean '{}'?", flags[at - names.begin()]);
}

/// The first of the arguments that no option or command took, options before others; empty if there is none.
static std::string leftOver(const CLI::App &command, const std::vector<std::string> &arguments) {
  const std::vector<std::string> left = command.remaining();
  auto isLeft = [&](const std::string &word) { return std::count(left.begin(), left.end(), word) != 0; };
  auto first = std::find_if(arguments.begin(), arguments.end(),
                            [&](const std::string &word) { return isOption(word) && isLeft(word); });
  if (first == arguments.end())
    first = std::find_if(arguments.begin(), arguments.end(), isLeft);
  return first == arguments.end() ? "" : *first;
}

/// How to give a tensor that stands where none can, "A=a.mtx"; empty where the command takes none, or it is
/// something else.
static std::string asTensor(const CLI::App &command, const std::string &word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || !command.get_option_no_throw("--tensor"))
    return {};
  return fmt::format("; a tensor is given as '-t {}'", word);
}

static std::string explainMain(const CLI::App &app, const std::string &word) {
  std::vector<std::string> commands;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    commands.push_back(command->get_name());
  if (word.empty())
    return fmt::format("no command is given; it is one of {}", fmt::join(commands, ", "));
  if (isOption(word))
    return fmt::format("unknown option '{}'{}{}", word, nearestOption(app, word),
                       "; options of a command stand after its name");
  return fmt::format("there is no command '{}'{}; the commands are {}", word,
                     support::didYouMean(word, commands), fmt::join(commands, ", "));
}

std::string explainMisuse(const CLI::App &app, const CLI::ParseError &error,
                          const std::vector<std::string> &arguments) {
  const std::vector<CLI::App *> used = app.get_subcommands();
  const std::string stray = leftOver(app, arguments);
  const bool atMain = used.empty() || !stray.empty();
  const CLI::App &command = atMain ? app : *used.front();
  const std::string name = atMain ? app.get_name() : app.get_name() + " " + command.get_name();
  std::string text, word = leftOver(command, arguments);
  if (atMain) {
    text = explainMain(app, stray);
  } else if (!word.empty()) {
    text = isOption(word) ? fmt::format("unknown option '{}'{}", word,
                                        nearestOption(command, word.substr(0, word.find('='))))
                          : fmt::format("'{}' is one argument too many{}", word, asTensor(command, word));
  } else {
    text = error.what();
    // "--tensor: 1 required  missing", where what stands there says what is meant.
    const size_t colon = text.find(": ");
    const CLI::Option *option =
        colon == std::string::npos ? nullptr : command.get_option_no_throw(text.substr(0, colon));
    if (option && error.get_name() == "ArgumentMismatch")
      text = fmt::format("{} needs {} behind it: {}", option->get_name(),
                         option->get_items_expected_min() == 1
                             ? "a value"
                             : fmt::format("{} values", option->get_items_expected_min()),
                         option->get_description());
  }
  return fmt::format("{}: {}\n`{} --help` says what can be written", name, text, name);
}

} // namespace tulle::cli
