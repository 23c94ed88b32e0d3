#include "engine/ExplainPage.h"
#include "engine/Compilation.h"
#include "engine/Conversion.h"
#include "engine/PageStyle.h"
#include "runtime/generate/Generate.h"
#include "runtime/picture/Picture.h"
#include "support/Diagnostic.h"
#include "support/Errors.h"
#include "support/Markup.h"
#include <fmt/ranges.h>

namespace tulle::engine {
namespace {

using pipeline::Stage;

/// `line:column` where a statement begins, by which its lines know each other.
std::string key(unsigned line, unsigned column) { return line ? fmt::format("{}:{}", line, column) : ""; }

std::string lineTag(std::string_view text, const std::string &statement) {
  return statement.empty() ? fmt::format("<span class=\"line\">{}</span>\n", support::escapeMarkup(text))
                           : fmt::format("<span class=\"line\" data-of=\"{}\">{}</span>\n", statement,
                                         support::escapeMarkup(text));
}

std::string column(std::string_view name, std::string_view what, const std::string &lines, bool shown) {
  return fmt::format(
      "<section class=\"stage{}\" id=\"stage-{}\"><h2>{} <small>{}</small></h2><pre>{}</pre></section>\n",
      shown ? "" : " hidden", name, name, support::escapeMarkup(what), lines);
}

/// The program's text, each statement in a span of its own.
std::string programText(const notation::Program &program) {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (const notation::Statement &statement : program.statements)
    if (statement.range.end <= program.text.size() &&
        (ranges.empty() || statement.range.begin >= ranges.back().second))
      ranges.emplace_back(statement.range.begin, statement.range.end);
  std::string out;
  size_t at = 0;
  const std::string_view text = program.text;
  for (auto [begin, end] : ranges) {
    const support::TextPosition place = support::positionOf(text, begin);
    out += support::escapeMarkup(text.substr(at, begin - at)) +
           fmt::format("<span class=\"statement\" data-of=\"{}\">{}</span>", key(place.line, place.column),
                       support::escapeMarkup(text.substr(begin, end - begin)));
    at = end;
  }
  return out + support::escapeMarkup(text.substr(at));
}

/// What the format stores of a few entries: a tensor of the same order, small enough to be drawn whole.
std::string formatPicture(const notation::TensorDecl &decl) {
  if (format::isAllDense(decl.encoding) || decl.dims.empty() || decl.dims.size() > 3)
    return "";
  std::vector<int64_t> dims;
  for (int64_t size : decl.dims)
    dims.push_back(std::min<int64_t>(size, decl.dims.size() > 2 ? 4 : 6));
  try {
    const format::Encoding encoding = format::withStoredValues(format::withoutSlices(decl.encoding));
    const runtime::Tensor few =
        store(runtime::generate("random:3:0.3", dims, ElementType::F64).entries, encoding);
    return fmt::format(
        "<figure>{}<figcaption>{} in {}: what the format stores of a small tensor</figcaption></figure>\n",
        runtime::pictureSvg(few, true), support::escapeMarkup(decl.name),
        support::escapeMarkup(format::displayName(decl.encoding)));
  } catch (const Error &) {
    return ""; // a format that holds certain patterns only
  }
}

std::string tensorTable(const notation::Program &program) {
  std::string rows;
  for (const notation::TensorDecl &decl : program.tensors) {
    if (decl.condition)
      continue;
    rows += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td><code>{}</"
                        "code></td></tr>\n",
                        support::escapeMarkup(decl.name),
                        decl.input    ? (decl.written ? "input and result" : "input")
                        : decl.result ? "result"
                                      : "intermediate",
                        name(decl.type),
                        decl.dims.empty() ? "scalar" : fmt::format("{}", fmt::join(decl.dims, " × ")),
                        decl.entries >= 0 ? std::to_string(decl.entries) : "",
                        support::escapeMarkup(format::displayName(decl.encoding)),
                        support::escapeMarkup(format::print(decl.encoding)));
  }
  return "<table><tr><th>tensor</th><th></th><th>type</th><th>sizes</th><th>entries</th><th>format</"
         "th><th>encoding</th></tr>\n" +
         rows + "</table>\n";
}

std::string stageColumns(const notation::Program &program, const Options &options, std::string &reasons) {
  std::string columns =
      column("schedule", "what was chosen", lineTag(explain(program, "schedule", options), ""), true);
  std::string buttons = "<button data-stage=\"stage-schedule\" class=\"on\">schedule</button>";
  Compilation compilation = compilationOf(withOpenSlices(program), options);
  compilation.keepReasons();
  for (const pipeline::StageInfo &info : pipeline::stages()) {
    if (info.stage == Stage::Notation || info.stage == Stage::Schedule)
      continue;
    std::string lines;
    for (const ExplainedLine &line : compilation.lines(info.stage))
      lines += lineTag(line.text, key(line.line, line.column));
    const bool shown =
        info.stage == Stage::Iteration || info.stage == Stage::Loops || info.stage == Stage::Asm;
    columns += column(info.name, info.what, lines, shown);
    buttons += fmt::format("<button data-stage=\"stage-{}\"{}>{}</button>", info.name,
                           shown ? " class=\"on\"" : "", info.name);
  }
  for (const std::string &reason : compilation.reasons())
    reasons += "<li>" + support::escapeMarkup(reason) + "</li>\n";
  return fmt::format("<nav>{}</nav>\n<div class=\"stages\">{}</div>\n", buttons, columns);
}

} // namespace

std::string explainPage(const notation::Program &program, const Options &options) {
  std::string reasons, pictures;
  const std::string stages = stageColumns(program, options, reasons);
  for (const notation::TensorDecl &decl : program.tensors)
    pictures += formatPicture(decl);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tulle explain: {}</title>\n"
      "<style>{}</style></head><body>\n<h1>tulle explain</h1>\n<pre class=\"program\">{}</pre>\n{}"
      "<details open><summary>Reasons</summary><ul>{}</ul></details>\n{}"
      "<h2>Formats</h2><div class=\"figures\">{}</div>\n<script>{}</script></body></html>\n",
      support::escapeMarkup(program.text.substr(0, 80)), kPageStyle, programText(program),
      tensorTable(program), reasons, stages, pictures, kPageScript);
}

} // namespace tulle::engine
