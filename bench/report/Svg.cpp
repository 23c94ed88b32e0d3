// A plot: for each kernel its ratios to the best peer and the fraction of the roofline that was reached.
#include "Report.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tulle::bench {

namespace {

constexpr double left = 190, width = 620, right = 30, top = 70, lineHeight = 20;
constexpr double least = 0.05, most = 50; ///< of the axis

/// The x coordinate of a ratio on the logarithmic axis.
double xOf(double ratio) {
  const double clamped = std::clamp(ratio, least, most);
  return left + width * std::log(clamped / least) / std::log(most / least);
}

std::string escaped(const std::string &text) {
  std::string made;
  for (char c : text)
    made += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return made;
}

std::string axis(double height) {
  std::string text;
  for (double tick : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0})
    text += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"{3}\"/>"
                        "<text x=\"{0:.1f}\" y=\"{4}\" text-anchor=\"middle\">{5:g}</text>\n",
                        xOf(tick), top - 10, height - 20, tick == 1.0 ? "#444" : "#ddd", top - 16, tick);
  return text;
}

/// A dot for each input, a bar to their mean, and a diamond for the fraction of the roofline.
std::string kernel(const Family &family, double y) {
  std::string text =
      fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}{}</text>\n", left - 10, y + 4,
                  escaped(family.kernel), family.threads > 1 ? fmt::format(" ×{}", family.threads) : "");
  const double mean = family.mean(), roofline = family.roofline();
  if (mean > 0)
    text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"8\" fill=\"{}\"/>\n",
                        std::min(xOf(1), xOf(mean)), y - 4, std::abs(xOf(mean) - xOf(1)),
                        mean >= 1 ? "#8fc79a" : "#e8a08f");
  for (const Row *row : family.rows)
    if (const double ratio = family.ratio(*row); ratio > 0)
      text += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#1d5c2e\"><title>{}: {:.2f}</title></circle>\n",
          xOf(ratio), y, escaped(row->input), ratio);
  if (roofline > 0)
    text += fmt::format(
        "<path d=\"M {0:.1f} {1:.1f} l 4 4 l -4 4 l -4 -4 z\" fill=\"#2b4c9b\"><title>{2:.0f}% of the "
        "roofline</title></path>\n",
        xOf(roofline), y - 4, 100 * roofline);
  if (family.target.mean > 0)
    text +=
        fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#c00\"/>\n",
                    xOf(family.target.mean), y - 7, y + 7);
  return text;
}

} // namespace

std::string svg(const Report &report) {
  std::string body;
  double y = top + 5;
  for (const Family &family : families(report.rows))
    if (family.number == 0 && (family.mean() > 0 || family.roofline() > 0)) {
      body += kernel(family, y);
      y += lineHeight;
    }
  const double height = y + 20;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
             "<text x=\"{2}\" y=\"20\" font-size=\"14\">Time of the peer / Tulle's (dots: inputs, bar: their "
             "mean, red: target)</text>\n"
             "<text x=\"{2}\" y=\"36\">blue: fraction of the machine's roofline; ×2: two threads; "
             "logarithmic</text>\n",
             left + width + right, height, left) +
         axis(height) + body + "</svg>\n";
}

} // namespace tulle::bench
