// Ragged inputs: a padded tensor and the lengths of its dimensions.
#include "runtime/tensor/Lengths.h"
#include "Inputs.h"
#include "support/Errors.h"
#include <algorithm>

namespace tulle::cli {

using runtime::FileContents;
using runtime::Tensor;

std::vector<std::string> parseLengths(const std::string &what, const std::string &text, unsigned order) {
  std::vector<std::string> files{"-"};
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    files.push_back(text.substr(begin, end - begin));
    if (files.back().empty())
      throwError("{}: expected a file, or '-', for each dimension from the second on", what);
    begin = end + 1;
  }
  if (files.size() > order)
    throwError("{}: there are lengths for {} dimensions, but the tensor has {}, of which the first has none",
               what, files.size() - 1, order);
  files.resize(order, "-");
  return files;
}

FileContents withinLengths(const std::string &what, FileContents contents,
                           const std::vector<std::string> &files, const engine::Options &options) {
  const format::Encoding dense = format::denseEncoding(unsigned(contents.dims().size()));
  const Tensor padded = store(what, std::move(contents), dense, options);
  std::vector<std::optional<Tensor>> lengths(files.size());
  for (size_t d = 0; d < files.size(); ++d) {
    if (files[d] == "-")
      continue;
    FileContents read = readContents(files[d], files[d], unsigned(d), {padded.dims[0]}, ElementType::I64);
    const unsigned order = unsigned(read.dims().size());
    lengths[d] = store(files[d], std::move(read), format::denseEncoding(order), options);
  }
  try {
    return {runtime::withinLengths(padded, lengths), "dense"};
  } catch (const Error &error) {
    throwError("{}: {}", what, error.what());
  }
}

} // namespace tulle::cli
