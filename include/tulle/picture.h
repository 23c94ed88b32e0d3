// Tensors to look at.
#pragma once
#include "tulle/tensor.h"

namespace tulle {

/// A spy plot for a terminal, at most `columns` characters wide: entries other than the fill, counted in bins
/// of coordinates, darker where there are more. Of more dimensions than two, the first two.
TULLE_EXPORT std::string spyText(const AnyTensor &tensor, int columns = 72);
/// What the format stores, as a table: of each level its size, positions, buffers and bytes, and the share of
/// the values that are padding or zeros.
TULLE_EXPORT std::string storageText(const AnyTensor &tensor);
/// The spy plot as an SVG document; with `storage` the levels as well, and of a small tensor the tree of its
/// coordinates.
TULLE_EXPORT std::string pictureSvg(const AnyTensor &tensor, bool storage = false);

} // namespace tulle
