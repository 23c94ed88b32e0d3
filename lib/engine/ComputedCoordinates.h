// Coordinates that are computed at each entry, as further dimensions of a list of entries: what queries ask
// about, and what counters among levels that store coordinates need. (Chou, Kjolstad, Amarasinghe, "Automatic
// generation of efficient sparse tensor format conversion routines": remapping makes a hypersparse tensor of
// higher order.)
#pragma once
#include "engine/Conversion.h"

namespace tulle::engine {

struct ComputedList {
  runtime::Tensor list; ///< entries in the order of the tensor's dimensions; a dimension more for each
                        ///< expression, which has the values from `low` on as coordinates
  std::vector<int64_t> lows;
  format::Encoding from, to; ///< of the conversion that computed them
};

/// Expressions over the dimensions of a tensor that stores entries once; a counter stands alone.
ComputedList computeCoordinates(const runtime::Tensor &tensor, const std::vector<format::Expr> &computed,
                                const Options &options, ConversionReport *report = nullptr);

/// The conversion of entries that come in order to a format in whose storage order they are: one kernel,
/// which numbers them where there are counters.
runtime::Tensor convertInOrder(const runtime::Tensor &list, const format::Encoding &encoding,
                               const Options &options, ConversionReport &report);

/// The sizes, 0 counted as 1.
std::vector<int64_t> atLeastOne(std::vector<int64_t> sizes);

/// Whether a counter stands where entries cannot be numbered while they are stored: in a level that stores
/// coordinates, or above several.
bool needsNumbers(const format::Encoding &encoding);
/// The conversions by which a tensor gets to such a format: to a list of entries, to one with their numbers
/// as levels, and from these as dimensions to the format.
std::vector<std::pair<format::Encoding, format::Encoding>> numberedSteps(const format::Encoding &from,
                                                                         const format::Encoding &to);
runtime::Tensor storeNumbered(const runtime::Tensor &tensor, const format::Encoding &encoding,
                              const Options &options, ConversionReport &report);

} // namespace tulle::engine
