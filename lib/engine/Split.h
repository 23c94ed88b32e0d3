// Tensors split into parts that together store exactly their entries.
#pragma once
#include "engine/Engine.h"

namespace tulle::engine {

/// The text that the parts were parsed from, and what errors call it.
struct PartsText {
  std::string_view text, name;
};

/// The number of the part that each entry is in, -1 where it is in none: the first whose conditions all hold,
/// among entries that no part before took.
std::vector<int> partsOf(const runtime::Entries &entries, const std::vector<notation::Part> &parts);

/// Each part of a tensor, in its format, with widths that are not named chosen. Throws SyntaxError pointing
/// at the parts when an entry is in none of them, and at one whose format cannot hold its entries. What a
/// dense tensor stores are the elements other than its fill.
std::vector<runtime::Tensor> split(const runtime::Tensor &tensor,
                                   const notation::Decomposition &decomposition, const PartsText &source,
                                   const std::string &name, const Options &options = {});

} // namespace tulle::engine
