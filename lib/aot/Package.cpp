// Paths are relative to the files that name them: a package may be moved.
#include "aot/Package.h"
#include <fmt/format.h>

namespace tulle::aot {

static std::string cmakeConfig(const std::string &name, bool openMp) {
  return fmt::format("# find_package({0}) gives the target {0}::{0}.\n"
                     "get_filename_component(_{0}_root \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n"
                     "if(NOT TARGET {0}::{0})\n"
                     "  add_library({0}::{0} STATIC IMPORTED)\n"
                     "  set_target_properties({0}::{0} PROPERTIES\n"
                     "    IMPORTED_LOCATION \"${{_{0}_root}}/lib/lib{0}.a\"\n"
                     "    INTERFACE_INCLUDE_DIRECTORIES \"${{_{0}_root}}/include\"\n"
                     "    INTERFACE_LINK_LIBRARIES m{1})\n"
                     "endif()\n",
                     name, openMp ? "\n    INTERFACE_LINK_OPTIONS -fopenmp" : "");
}

static std::string pkgConfig(const std::string &name, const std::string &text, bool openMp) {
  std::string oneLine = text;
  for (char &c : oneLine)
    c = c == '\n' || c == '#' ? ' ' : c;
  return fmt::format("prefix=${{pcfiledir}}/../..\n\nName: {0}\nDescription: {1}\nVersion: 1\n"
                     "Libs: -L${{prefix}}/lib -l{0} -lm{2}\nCflags: -I${{prefix}}/include\n",
                     name, oneLine, openMp ? " -fopenmp" : "");
}

/// From the header: the comment of the arguments, and the declarations.
static std::string signatures(const std::string &header) {
  const size_t from = header.find("/* Returns one of"), to = header.find("#ifdef __cplusplus", from);
  return header.substr(from, to - from);
}

static std::string readme(const Ahead &code, const AheadOptions &options) {
  const bool openMp = options.threads == Threads::OpenMp;
  return fmt::format(
      "# {0}\n\n    {1}\n\nMade by `tulle compile`; it needs a C library{2}, and nothing else.\n\n"
      "```c\n{3}```\n\n"
      "- C: `cc main.c $(PKG_CONFIG_PATH=lib/pkgconfig pkg-config --cflags --libs {0})`\n"
      "- CMake: `find_package({0})`, with this folder in `CMAKE_PREFIX_PATH`, and the target `{0}::{0}`\n",
      options.name, code.text, openMp ? " and OpenMP" : "", signatures(code.header));
}

std::vector<std::pair<std::string, std::string>> packageOf(const Ahead &code, const AheadOptions &options) {
  const std::string &name = options.name;
  const bool openMp = options.threads == Threads::OpenMp;
  return {{"include/" + name + ".h", code.header},
          {"lib/lib" + name + ".a", code.code},
          {"lib/cmake/" + name + "/" + name + "Config.cmake", cmakeConfig(name, openMp)},
          {"lib/pkgconfig/" + name + ".pc", pkgConfig(name, code.text, openMp)},
          {"README.md", readme(code, options)}};
}

} // namespace tulle::aot
