// A storage format as a plain value: dimensions, levels, maps, widths. See docs/design and formats.md.
#pragma once
#include "format/Expr.h"
#include "support/ElementType.h"
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::format {

enum class LevelKind : uint8_t {
  Dense,
  Batch,
  Compressed,
  LooseCompressed,
  Singleton,
  Structured,
  Ragged,
  Fixed,
  Squeezed,
  Banded,
  Offset,
  Hashed,
  Bitmap,
  Jagged,
  Declared ///< by its user, as text: see LevelDeclaration.h
};

struct LevelDeclaration;
/// Level formats that encodings may name besides the built-in ones.
using Declarations = std::vector<std::shared_ptr<const LevelDeclaration>>;

/// How one level is stored: the kind, its integers (`structured[n,m]`, `fixed[n]`) and properties.
struct LevelFormat {
  LevelKind kind = LevelKind::Dense;
  int64_t n = 0, m = 0;
  bool unique = true, ordered = true, soa = false, padded = false;
  std::shared_ptr<const LevelDeclaration> declaration{}; ///< of a declared level, else null
  bool operator==(const LevelFormat &other) const;       ///< declarations by their texts
};

/// `slice(offset, size, stride)`: coordinate c of the dimension is coordinate offset + stride * c of the
/// whole tensor; nullopt is '?'.
struct Slice {
  std::optional<int64_t> offset, size, stride;
  bool operator==(const Slice &) const = default;
};

struct Dimension {
  /// After parsing: dimensionNames, unless one of these names something else in the encoding.
  std::string name;
  std::optional<Slice> slice;
  Expr inverse; ///< given explicitly (over level variables), else null
};

struct Level {
  std::string name; ///< given explicitly, else empty
  Expr expr;        ///< over dimension variables and symbols
  LevelFormat format;
};

/// A level in a map made of permutations and floordiv/mod pairs, as a digit of one dimension: its coordinate
/// is `(coordinate of dim / stride) % modulus`, without the `%` when modulus is 0.
struct Digit {
  unsigned dim = 0;
  int64_t stride = 1, modulus = 0;
  bool operator==(const Digit &) const = default;
};

constexpr unsigned maxDims = 64; ///< of an encoding as text

/// A tensor storage format. Widths are bits; 0 means: not named (chosen when data is stored: 32, or 64 where
/// needed).
struct Encoding {
  std::vector<std::string> symbols;
  std::vector<Dimension> dims;
  std::vector<Level> levels;
  unsigned posWidth = 0, crdWidth = 0;
  std::optional<std::string> fill, explicitVal, implicitVal; ///< scalar texts, canonical

  unsigned order() const { return dims.size(); }
  bool operator==(const Encoding &other) const; ///< same canonical text
};

/// Parses an encoding: `#tulle.encoding<{…}>`, `#sparse_tensor.encoding<{…}>`, `{ map = … }`, `map = …` or
/// just the map `(i,j) -> (…)`. Verifies it whole. Throws support::SyntaxError at the offending character.
/// Levels may be of the formats in `declared`, and of those of the field `levels = { level mine { … } }`.
Encoding parseEncoding(std::string_view text, std::string_view name = "<encoding>",
                       const Declarations &declared = {});

/// A preset's name (with arguments) for a tensor of `order` dimensions, or encoding text (whose order must
/// agree). Throws support::SyntaxError, for an unknown name with the nearest ones.
Encoding parseFormat(std::string_view text, unsigned order, std::string_view name = "<format>",
                     const Declarations &declared = {});

/// Canonical text `#tulle.encoding<{ map = …, posWidth = … }>`; parses back to an equal value. Shifts print
/// as `shl` / `shr`, words the parser accepts next to `<<` and `>>`: an MLIR file cannot hold the signs.
std::string print(const Encoding &encoding);
/// The part between `<{` and `}>`.
std::string printBody(const Encoding &encoding);
/// `j - i`: an expression over dimensions, which are called i, j, k, … in order.
std::string print(const Expr &expr, unsigned order);
/// `j - i : squeezed`
std::string printLevel(const Encoding &encoding, unsigned level);
/// `(i, j) -> (j - i, i, j)`: what the levels' coordinates are.
std::string printRemapping(const Encoding &encoding);

/// A rule across levels that an encoding breaks, and the part that it is about.
struct Violation {
  enum Part { LevelExpr, LevelFormatPart, Inverse, CrdWidth } part;
  unsigned index = 0; ///< level or dimension
  std::string message;
};
/// The first broken rule, if any.
std::optional<Violation> verify(const Encoding &encoding);

/// `i`, `j`, … for up to eight dimensions, else `d0`, `d1`, …
std::vector<std::string> dimensionNames(unsigned order);

/// All levels dense in dimension order: what a tensor without an encoding means.
Encoding denseEncoding(unsigned order);
/// One dimension more than a dense tensor of that order, of which each element stores one coordinate, of that
/// width, or none, where all bits are set: what a tensor of integers selects.
Encoding selectionEncoding(unsigned order, unsigned width);
/// The encoding in which the buffers of a tensor are one of other dimensions: `digits[d]` is what dimension d
/// is of these, `order` in number. Nullopt where its levels are no digits of them, or not in order. (RFC on
/// structured codegen beyond rectangular arrays: a reshape is a change of the map.) Dense levels that follow
/// on each other are one.
std::optional<Encoding> reshaped(const Encoding &encoding, const std::vector<Digit> &digits, unsigned order);
/// The encoding that `reshaped` makes this one of; nullopt where some level is a digit of several dimensions.
std::optional<Encoding> unreshaped(const Encoding &encoding, const std::vector<Digit> &digits);
/// The encoding in which the buffers of a tensor are one of more dimensions, which are these digits of its
/// own: dense levels become several. Nullopt where another level holds several digits.
std::optional<Encoding> expanded(const Encoding &encoding, const std::vector<Digit> &digits);
/// The same where each level is one of the sum of the digits, `6 * i + j`, or a digit of that.
std::optional<Encoding> linearized(const Encoding &encoding, const std::vector<Digit> &digits);
/// The encoding in which the buffers of a tensor are one whose dimension d is its dimension `order[d]`.
Encoding permuted(const Encoding &encoding, const std::vector<unsigned> &order);
/// The encoding in which they are one whose coordinates of a dimension, of that size, count from its end.
/// Nullopt where levels divide the dimension, count or rank it, or the dimension is a slice.
std::optional<Encoding> mirrored(const Encoding &encoding, unsigned dimension, int64_t size);
/// The encoding in which each row (coordinate of the first dimension) may be anywhere in the buffers: the
/// second level is `jagged`, or `loose_compressed`. Nullopt where the first level is not the first dimension,
/// dense, or the second is none whose positions are a segment.
std::optional<Encoding> withRowsAnywhere(const Encoding &encoding);
/// Whether the level has a position for every coordinate: dense or batch.
inline bool isFull(const LevelFormat &format) {
  return format.kind == LevelKind::Dense || format.kind == LevelKind::Batch;
}
bool isAllDense(const Encoding &encoding); ///< every level is full, in any order and blocking

/// The encoding of a tensor that has the structure of one in `pattern`: its levels in the same buffers, and
/// below them a dense level for each further dimension, up to `order`; for fewer dimensions, the levels that
/// the first `order` ones have. Values and fill are its own. Precondition: whyNotLike is empty.
Encoding likeEncoding(const Encoding &pattern, unsigned order);
/// Empty where a tensor of that many dimensions can have the structure of one in `pattern`, else why not.
std::string whyNotLike(const Encoding &pattern, unsigned order);
/// Whether a tensor in `encoding` can have the structure of one in `pattern`, as likeEncoding makes it.
bool sharesStructure(const Encoding &encoding, const Encoding &pattern);
/// The number of levels before all that a dimension from `order` on has, where these store each coordinate of
/// the first `order` dimensions at one position; nullopt where they do not.
std::optional<size_t> outerLevels(const Encoding &encoding, unsigned order);
/// Whether the first `count` levels of both map, and are stored, alike.
bool haveEqualLevels(const Encoding &a, const Encoding &b, size_t count);

/// Whether some dimension is a slice: the tensor then is a view of a whole one.
bool hasSlices(const Encoding &encoding);
/// The encoding of the whole tensor: the same levels over whole dimensions.
Encoding withoutSlices(Encoding encoding);
/// Empty when every number of every slice is known, else one sentence about the first '?'.
std::string whyNotResolved(const Encoding &encoding);

/// The digits of a map made of permutations and floordiv/mod chains; nullopt for any other map. For every
/// dimension the digits form a complete mixed-radix system, so the map is a bijection onto the padded
/// dimensions.
std::optional<std::vector<Digit>> digits(const Encoding &encoding);
/// Whether the entries of a part of a dimension that the level stores are found by search: they are
/// neighbours.
bool canBeCut(const LevelFormat &level);
/// Whether one level stores the coordinates of the dimension, in order and as they are: those of a part of it
/// are found by search.
bool storesInOrder(const Encoding &encoding, unsigned dim);

/// The inverse map (one expression over level variables per dimension): the explicit one, else inferred for
/// digits, ranks, offsets, additions of one unknown, permutations of bits; nullopt where it cannot be.
std::optional<std::vector<Expr>> inverseMap(const Encoding &encoding);

/// The coordinate of the `offset` level as an expression over the variables of the levels above it; null
/// where these do not determine it.
Expr offsetCoordinate(const Encoding &encoding, unsigned level);

/// The dimension whose coordinates differ wherever those of the level do: the level is a digit of it, or of
/// its rank.
std::optional<unsigned> separatedDimension(const Encoding &encoding, unsigned level);

/// Whether padding may lie beyond the end of the dimension: its inverse reads levels whose coordinates are
/// implied (padded blocks, windows of ranks, diagonals) and which are not the dimension itself. `inverse` is
/// the dimension's, without an outermost `unrank`.
bool mayLieOutside(const Encoding &encoding, unsigned dim, const Expr &inverse);
/// Whether the level may have positions in reserve, which no entry has: those of a `loose_compressed[n]`, and
/// what lies below them.
bool hasReserve(const Encoding &encoding, unsigned level);

/// Whether tensors store more than their entries, and nothing marks what else they store: whole blocks,
/// diagonals, rows up to their lengths.
bool storesPadding(const Encoding &encoding);
/// Whether all positions are those of coordinates within the dimensions: levels are dimensions, and full or
/// of entries only. Code that assigns all elements of a tensor writes all of its memory.
bool hasNoPadding(const Encoding &encoding);

/// The largest size dimension `dim` can have: maps that move bits keep only so many of them.
int64_t largestSize(const Encoding &encoding, unsigned dim);

/// The value of coordinates that are not stored: `fill`, or upstream's `implicitVal`, in the tensor's element
/// type; else 0.
Scalar fillValue(const Encoding &encoding, ElementType type);
bool hasZeroFill(const Encoding &encoding);

/// The value of everything stored, where the encoding names one (`explicitVal`), in the tensor's element
/// type: no values are stored then.
std::optional<Scalar> explicitValue(const Encoding &encoding, ElementType type);
/// The encoding whose tensors store their values.
Encoding withStoredValues(Encoding encoding);

/// Empty when tensors can have this encoding, else one sentence: why not, and which formats they can have.
std::string whyNotExecutable(const Encoding &encoding);
/// The same for elements of that type: `explicitVal` must be one of its values, and not the fill.
std::string whyNotExecutable(const Encoding &encoding, ElementType type);
/// Empty when a tensor of these sizes can be stored in the executable encoding: the map keeps so many
/// coordinates, and all that code computes with them (levels, their sizes, the inverse map) fits 64 bits.
/// Else one sentence with the dimension or level and a cure. Checked before any storage of given sizes is
/// made.
std::string whyNotSizes(const Encoding &encoding, const std::vector<int64_t> &sizes);

/// One row of the table of presets.
struct Preset {
  std::string name;    ///< with parameters, as shown to users: `BCSR(b,c)`
  std::string pattern; ///< encoding text for the example order, parameters substituted
  std::string what;    ///< one line for `tulle formats`
};
std::vector<Preset> presets();
/// The preset name that gives this encoding (widths ignored), or the map's text.
std::string displayName(const Encoding &encoding);

std::string_view name(LevelKind kind);
/// `structured[2,4](nonunique)` …
std::string print(const LevelFormat &format);

} // namespace tulle::format
