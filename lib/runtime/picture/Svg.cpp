// Pictures as SVG documents of their own: no font, script or style sheet is fetched.
#include "runtime/picture/Picture.h"
#include "runtime/picture/Tree.h"
#include "runtime/tensor/LevelShapes.h"
#include "support/Errors.h"
#include "support/Markup.h"
#include <algorithm>
#include <cmath>

namespace tulle::runtime {
namespace {

constexpr int kPlot = 360, kMargin = 12, kLine = 18, kBars = 520;

/// Where what stands behind the levels' texts begins; a character is at most 7.2 wide.
double behindLevels(const Tensor &tensor) {
  size_t longest = 6;
  for (unsigned l = 0; l < tensor.encoding->levels.size(); ++l)
    longest = std::max(longest, format::printLevel(tensor.encoding, l).size() + 3);
  return kMargin + 7.2 * double(longest) + kMargin;
}

/// A picture that grows downwards.
class Svg {
public:
  void text(double x, double y, std::string_view words, const char *more = "") {
    body += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more,
                        support::escapeMarkup(words));
  }
  void box(double x, double y, double width, double height, double opacity, const char *more = "") {
    body += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" opacity=\"{:.2f}\"{}/>\n", x, y,
        width, height, opacity, more);
  }
  void frame(double x, double y, double width, double height) {
    box(x, y, width, height, 0.6, " fill=\"none\" stroke=\"currentColor\"");
  }
  void line(double x1, double y1, double x2, double y2) {
    body +=
        fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"currentColor\" "
                    "opacity=\"0.35\"/>\n",
                    x1, y1, x2, y2);
  }
  std::string document(double width, double height) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"currentColor\" "
        "color=\"#475569\">\n{2}</svg>\n",
        width, height, body);
  }

private:
  std::string body;
};

/// Draws the spy plot below `y`; returns where it ends.
double drawSpy(Svg &svg, const Tensor &tensor, double y) {
  const Bins bins = binned(tensor, 120, 120);
  svg.text(kMargin, y + kLine - 4, fmt::format("{}, {} entries", shapeText(tensor.dims), bins.total));
  y += kLine;
  const double cell = std::min(double(kPlot) / double(std::max<int64_t>({bins.rows, bins.columns, 1})), 24.0);
  const double width = cell * double(bins.columns), height = cell * double(bins.rows);
  for (int64_t r = 0; r < bins.rows; ++r)
    for (int64_t c = 0; c < bins.columns; ++c)
      if (const int64_t count = bins.at(r, c)) {
        const double share = bins.most > 1 ? std::log1p(double(count)) / std::log1p(double(bins.most)) : 1;
        svg.box(kMargin + cell * double(c), y + cell * double(r), cell, cell, 0.25 + 0.75 * share,
                " fill=\"#2563eb\"");
      }
  svg.frame(kMargin, y, width, height);
  y += height + kLine;
  if (bins.rowSize * bins.columnSize > 1) {
    svg.text(kMargin, y - 4,
             fmt::format("a square: {} x {} coordinates, up to {} entries", bins.rowSize, bins.columnSize,
                         bins.most));
    y += kLine;
  }
  return y;
}

/// A bar for each level's bytes, and one for those of the values, of which the entries are darker.
double drawLevels(Svg &svg, const Tensor &tensor, const StorageUse &use, double y) {
  svg.text(kMargin, y + kLine - 4,
           fmt::format("{}: {} bytes, {:.1f} an entry", format::displayName(tensor.encoding), use.bytes,
                       use.entries ? double(use.bytes) / double(use.entries) : 0.0));
  y += kLine + 4;
  const double left = behindLevels(tensor), scale = use.bytes ? kBars / double(use.bytes) : 0;
  auto row = [&](std::string_view label, int64_t bytes, std::string_view note) {
    svg.text(kMargin, y + 12, label);
    svg.box(left, y + 2, std::max(1.0, scale * double(bytes)), kLine - 5, 0.35, " fill=\"#2563eb\"");
    svg.text(left + 4, y + 12, note, " font-size=\"11\"");
    y += kLine;
  };
  for (size_t l = 0; l < use.levels.size(); ++l) {
    const LevelUse &level = use.levels[l];
    row(fmt::format("{}  {}", l, level.text), level.bytes,
        fmt::format("size {}, {} positions{}{}", level.size, level.positions,
                    level.buffers.empty() ? "" : "; ", level.buffers));
  }
  if (use.slots)
    svg.box(left, y + 2, scale * double(use.valueBytes) * double(use.entries) / double(use.slots), kLine - 5,
            0.55, " fill=\"#2563eb\"");
  row("values", use.valueBytes,
      fmt::format("{} {}, {} of them padding or zeros", use.slots, name(tensor.type),
                  use.slots - use.entries));
  return y + 8;
}

/// The coordinates of each level below those of its parents, and the values at the bottom.
std::pair<double, double> drawTree(Svg &svg, const Tensor &tensor, const StorageTree &tree, double y) {
  const double step = 34, left = behindLevels(tensor), drop = 40;
  auto center = [&](const StorageTree::Node &node) { return left + step * (node.at + 0.5); };
  for (size_t l = 0; l < tree.levels.size(); ++l) {
    svg.text(kMargin, y + 15,
             l + 1 == tree.levels.size() ? "values" : format::printLevel(tensor.encoding, unsigned(l)));
    for (const StorageTree::Node &node : tree.levels[l]) {
      if (l)
        svg.line(center(tree.levels[l - 1][node.parent]), y - drop + 22, center(node), y);
      svg.box(center(node) - 15, y, 30, 22, node.isPadding ? 0.12 : 0.3, " rx=\"3\" fill=\"#2563eb\"");
      svg.text(center(node), y + 15, node.text, " text-anchor=\"middle\"");
    }
    y += drop;
  }
  return {left + step * double(tree.width) + kMargin, y};
}

} // namespace

std::string pictureSvg(const Tensor &given, bool storage) {
  Svg svg;
  double width = kPlot + 2 * kMargin, y = drawSpy(svg, given, kMargin);
  if (storage) {
    const Tensor tensor = whole(given);
    y = drawLevels(svg, tensor, storageUse(tensor), y);
    width = behindLevels(tensor) + kBars + kMargin;
    if (const std::optional<StorageTree> tree = storageTree(tensor)) {
      const auto [right, bottom] = drawTree(svg, tensor, *tree, y);
      width = std::max(width, right);
      y = bottom;
    }
  }
  return svg.document(width, y + kMargin);
}

} // namespace tulle::runtime
