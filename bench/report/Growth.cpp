// A plot of growth: a panel for each kernel and kind of matrix, logarithmic both ways, a line for each
// competitor.
#include "Report.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tulle::bench {

namespace {

constexpr double width = 260, height = 190, gapX = 70, gapY = 62, left = 60;
constexpr double fewest = 5e4, most = 2e8; ///< entries

/// What belongs together: one kernel on inputs of one kind.
struct Panel {
  std::string title;
  std::vector<const Row *> rows; ///< by entries
};

std::vector<Panel> panelsOf(const Report &report) {
  std::vector<Panel> panels;
  for (const Row &row : report.rows) {
    if (row.entries <= 0)
      continue;
    const std::string kind = row.input.substr(0, row.input.find(':'));
    const std::string title = fmt::format("{}, {}{}", row.kernel.substr(row.kernel.find(' ') + 1), kind,
                                          row.threads > 1 ? fmt::format(", {} threads", row.threads) : "");
    auto at = std::ranges::find(panels, title, &Panel::title);
    if (at == panels.end())
      at = panels.insert(panels.end(), {title, {}});
    at->rows.push_back(&row);
  }
  std::ranges::stable_sort(panels, {}, &Panel::title);
  for (Panel &panel : panels)
    std::ranges::sort(panel.rows, {}, &Row::entries);
  return panels;
}

double perEntry(const Row &row, const std::string &competitor) {
  auto found = row.times.find(competitor);
  return found == row.times.end() ? 0 : 1e6 * found->second.median / double(row.entries);
}

std::string colorOf(size_t competitor) {
  static constexpr const char *colors[] = {"#1d5c2e", "#c0392b", "#2b4c9b", "#b7791f", "#6b3fa0", "#16808a",
                                           "#888888", "#d1589f", "#6fbf73", "#e58e73", "#86a8e0", "#3d3d3d"};
  return colors[competitor % std::size(colors)];
}

/// Nanoseconds that a panel reaches, in whole powers of 10.
std::pair<double, double> rangeOf(const Panel &panel, const std::vector<std::string> &names) {
  double least = 1e9, greatest = 1e-9;
  for (const Row *row : panel.rows)
    for (const std::string &name : names)
      if (const double ns = perEntry(*row, name); ns > 0) {
        least = std::min(least, ns);
        greatest = std::max(greatest, ns);
      }
  return {std::pow(10, std::floor(std::log10(least))), std::pow(10, std::ceil(std::log10(greatest)))};
}

class Axes {
public:
  Axes(double x, double y, std::pair<double, double> range) : x(x), y(y), range(range) {}
  double xOf(double entries) const {
    return x + width * std::log(entries / fewest) / std::log(most / fewest);
  }
  double yOf(double ns) const {
    return y + height - height * std::log(ns / range.first) / std::log(range.second / range.first);
  }

  std::string draw() const {
    std::string text =
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n", x,
                    y, width, height);
    for (int power = 5; power <= 8; ++power)
      text += tick(xOf(std::pow(10, power)), y + height + 14, fmt::format("1e{}", power), "middle", true);
    for (double ns = range.first; ns <= range.second * 1.01; ns *= 10)
      text += tick(x - 5, yOf(ns) + 4, fmt::format("{:g}", ns), "end", false);
    return text;
  }

private:
  const double x, y;
  const std::pair<double, double> range;

  std::string tick(double atX, double atY, const std::string &label, const char *anchor,
                   bool vertical) const {
    const std::string line =
        vertical ? fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/>",
                               atX, y, y + height)
                 : fmt::format("<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>",
                               x, atY - 4, x + width);
    return line + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", atX, atY,
                              anchor, label);
  }
};

std::string linesOf(const Panel &panel, const std::vector<std::string> &names, const Axes &axes) {
  std::string text;
  for (size_t k = names.size(); k-- > 0;) { // Tulle's on top
    std::string points;
    for (const Row *row : panel.rows)
      if (const double ns = perEntry(*row, names[k]); ns > 0) {
        points += fmt::format("{:.1f},{:.1f} ", axes.xOf(double(row->entries)), axes.yOf(ns));
        text += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"><title>{}, {}: {:.3g} ns an "
            "entry</title></circle>\n",
            axes.xOf(double(row->entries)), axes.yOf(ns), colorOf(k), names[k], row->input, ns);
      }
    text += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", points,
                        colorOf(k), k == 0 ? 2.5 : 1.2);
  }
  return text;
}

} // namespace

std::string growthSvg(const Report &report) {
  const std::vector<Panel> panels = panelsOf(report);
  std::vector<std::string> names = competitors(report.rows);
  std::erase_if(names, [&](const std::string &name) {
    return std::ranges::none_of(report.rows, [&](const Row &row) { return row.times.contains(name); });
  });
  constexpr size_t columns = 2;
  constexpr double right = left + columns * (width + gapX);
  std::string body;
  double x = left, y = 40;
  for (size_t k = 0; k < names.size(); ++k) {
    const double length = 24 + 7.0 * double(names[k].size());
    if (x + length > right) {
      x = left;
      y += 16;
    }
    body += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">● {}</text>\n", x, y, colorOf(k), names[k]);
    x += length;
  }
  const double top = y + 34;
  for (size_t p = 0; p < panels.size(); ++p) {
    const double atX = left + double(p % columns) * (width + gapX),
                 atY = top + double(p / columns) * (height + gapY);
    const Axes axes(atX, atY, rangeOf(panels[p], names));
    body += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", atX, atY - 6,
                        panels[p].title) +
            axes.draw() + linesOf(panels[p], names, axes);
  }
  const size_t lines = (panels.size() + columns - 1) / columns;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
             "<text x=\"{2}\" y=\"20\" font-size=\"14\">Nanoseconds for each stored entry, against their "
             "number</text>\n",
             right, top + double(lines) * (height + gapY), left) +
         body + "</svg>\n";
}

} // namespace tulle::bench
