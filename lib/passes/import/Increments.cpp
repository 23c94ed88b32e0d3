// Formats of increments: see ImportStatement, which collects them where they may meet an entry many times.
#include "passes/import/Increments.h"
#include "dialect/Reshape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
namespace {

/// Makes the dimensions of levels, each of which is one, those of the encoding's in the order in which it has
/// them: one loop order then follows both.
void orderAs(const format::Encoding &encoding, std::vector<format::Level> &levels) {
  const auto digits = format::digits(encoding);
  if (!digits)
    return;
  llvm::SetVector<unsigned> order;
  for (const format::Digit &digit : *digits)
    order.insert(digit.dim);
  for (auto [level, d] : llvm::zip_equal(levels, order))
    level.expr = format::dim(d);
}

/// Whether the reduction does not start from the result's fill.
bool startsElsewhere(const format::Encoding &result, ElementType type, const Scalar &start) {
  const Scalar fill = format::fillValue(result, type);
  return isFloat(type) || isComplex(type) ? fill.f != start.f : fill.i != start.i;
}

/// Formats in which the increments can meet the old entries coordinate by coordinate.
bool isPlain(const format::Encoding &encoding) {
  using enum format::LevelKind;
  return format::digits(encoding) && llvm::all_of(encoding.levels, [](const format::Level &level) {
           const format::LevelFormat &f = level.format;
           return f.ordered && !f.padded &&
                  llvm::is_contained({Dense, Batch, Compressed, LooseCompressed, Singleton}, f.kind);
         });
}

/// The text of a fill value; nothing for 0.
std::optional<std::string> fillOf(ElementType type, const Scalar &start) {
  if (isFloat(type) || isComplex(type)) {
    if (start.f == std::complex<double>(0))
      return std::nullopt;
    return start.f.real() == 1 ? "1" : start.f.real() < 0 ? "-inf" : "inf";
  }
  if (start.i == 0)
    return std::nullopt;
  return type == ElementType::Bool ? "true" : std::to_string(start.i);
}

} // namespace

format::Encoding incrementEncoding(const notation::Statement &statement, const notation::TensorDecl &result,
                                   const format::Encoding &resultEncoding, const Scalar &start) {
  const ElementType type = statement.rhs->type;
  format::Encoding encoding = resultEncoding;
  // Elements of a row that no increment reached would look like entries in the second step.
  const bool full = encoding.levels.back().format.kind == format::LevelKind::Dense;
  if (!isPlain(encoding) || (full && !statement.accumulate && startsElsewhere(resultEncoding, type, start))) {
    encoding.levels = dialect::plainEncoding(encoding, encoding.order()).levels;
    orderAs(resultEncoding, encoding.levels);
    // Widths that do for blocks and groups may not do for whole dimensions.
    const bool large = llvm::any_of(result.dims, [](int64_t size) { return size > INT32_MAX; });
    for (unsigned *width : {&encoding.posWidth, &encoding.crdWidth})
      *width = *width == 0 ? 0 : large ? 64 : std::max(*width, 32u);
  }
  encoding.implicitVal.reset();
  encoding.fill = fillOf(type, start);
  return encoding;
}

} // namespace tulle::passes
