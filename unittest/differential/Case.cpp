// Cases as text.
#include "Case.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::differential {

std::string Tree::text() const {
  switch (kind) {
  case Kind::Leaf:
    return head.starts_with("-") ? "(" + head + ")" : head;
  case Kind::Prefix:
    return "(" + head + args[0].text() + ")";
  case Kind::Infix:
    return "(" + args[0].text() + " " + head + " " + args[1].text() + ")";
  case Kind::Call:
    break;
  }
  std::string text;
  for (const Tree &arg : args)
    text += (text.empty() ? "" : ", ") + arg.text();
  return head + "(" + text + ")";
}

std::string StatementText::text() const {
  return lhs + " " + assign + " " + rhs.text() + (where.empty() ? "" : " where " + where);
}

bool readsInMask(const Case &c, const std::string &name) {
  return std::ranges::any_of(
      c.statements, [&](const StatementText &s) { return s.where.find(name + "(") != std::string::npos; });
}

std::string Case::text() const {
  std::string text;
  for (unsigned s = 0; s < statements.size(); ++s) {
    text += s == 0 ? "" : "; ";
    for (const LoopText &loop : loops)
      if (loop.begin == s)
        text += fmt::format("repeat {} {{ ", loop.rounds);
    text += statements[s].text();
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
      if (loop->end == s + 1)
        text += " }" + (loop->until.empty() ? "" : " until " + loop->until);
  }
  return text;
}

std::string Case::describe() const {
  std::string out = fmt::format("seed {}\nprogram  {}\n", seed, text());
  for (const auto &[name, g] : inputs) {
    out += fmt::format("input    {}: {}[{}] as {}, {} stored\n", name, tulle::name(g.type),
                       fmt::join(g.dims, ","), g.format, g.entries.size());
    for (size_t d = 0; d < g.slices.size(); ++d)
      if (const auto &s = g.slices[d])
        out +=
            fmt::format("         dimension {} is slice({}, {}, {})\n", d, *s->offset, *s->size, *s->stride);
    for (size_t d = 0; d < g.lengths.size(); ++d)
      if (!g.lengths[d].empty())
        out += fmt::format("         dimension {} has lengths {}\n", d, fmt::join(g.lengths[d], ","));
    for (size_t e = 0; e < std::min<size_t>(g.entries.size(), 40); ++e) {
      const Scalar &v = g.values[e];
      out += fmt::format("         ({}) {}\n", fmt::join(g.entries[e], ","),
                         isComplex(g.type) ? fmt::format("{} + {}i", v.f.real(), v.f.imag())
                         : isFloat(g.type) ? fmt::format("{}", v.f.real())
                                           : fmt::format("{}", v.i));
    }
  }
  for (const auto &[name, r] : results)
    out += fmt::format("result   {}: [{}] as {}\n", name, fmt::join(r.dims, ","),
                       r.format.empty() ? "dense" : r.format);
  for (const auto &[name, pattern] : likes)
    out += fmt::format("like     {}: like {}\n", name, pattern);
  return out;
}

} // namespace tulle::differential
