// Whether results can be written where the options say: asked before anything is computed.
#include "Inputs.h"
#include "support/Errors.h"
#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>

namespace tulle::cli {

std::string whyNoFileName(const std::string &path) {
  return path.empty() ? "expected the name of a file, got an empty one" : "";
}

void requireNewFile(const std::string &what, const std::string &path, std::set<std::string> &files) {
  // What is written into a device is not overwritten there.
  if (std::error_code error; std::filesystem::is_other(path, error))
    return;
  if (!files.insert(runtime::writtenFile(path)).second)
    throwError("{}: another result is written to this file; give each a file of its own", what);
}

void requireOutput(const std::string &what, const std::string &path) {
  if (std::string why = whyNoFileName(path); !why.empty())
    throwError("{}: {}", what, why);
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throwError("{}: there is no folder '{}'; create it first", what, folder.string());
  constexpr std::string_view endings[] = {".mtx", ".mtx.gz", ".tns", ".tns.gz", ".npy", ".npz", ".h5"};
  if (std::none_of(std::begin(endings), std::end(endings), [&](auto end) { return path.ends_with(end); }))
    throwError("{}: unknown file type; expected a name that ends in {}", what, fmt::join(endings, ", "));
}

} // namespace tulle::cli
