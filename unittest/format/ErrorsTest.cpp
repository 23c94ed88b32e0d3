// Every wrong encoding: which words are said, and under which characters the caret stands.
#include "format/Encoding.h"
#include "support/Diagnostic.h"
#include <gtest/gtest.h>

using namespace tulle;
using namespace tulle::format;

namespace {

/// `marked`: an encoding with `@` before and after the part that the caret must cover (`@@`: it points at one
/// place).
void expectError(const std::string &marked, const std::string &message) {
  size_t begin = marked.find('@'), end = marked.rfind('@') - 1;
  std::string text = marked;
  std::erase(text, '@');
  try {
    parseEncoding(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const support::SyntaxError &error) {
    EXPECT_EQ(error.message, message) << text;
    EXPECT_EQ(error.range.begin, begin) << text << ": " << error.message;
    EXPECT_EQ(error.range.end, end) << text << ": " << error.message;
  }
}

TEST(Errors, renderedWithLineColumnAndCaret) {
  try {
    parseEncoding("#tulle.encoding<{\n  map = (i, j) -> (i : dense,\n\tj : compresed)\n}>", "a.mlir");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(),
                 "a.mlir:3:6: error: unknown level format 'compresed'; did you mean 'compressed'?\n"
                 "   j : compresed)\n" // a tab takes one place
                 "       ^~~~~~~~~");
  }
}

TEST(Errors, frame) {
  expectError("@@", "expected a map '(i, j) -> (…)' or a field such as 'map' or 'posWidth', got the end");
  expectError(
      "#@tule@.encoding<{ map = () -> () }>",
      "expected 'tulle.encoding' or 'sparse_tensor.encoding' after '#', got 'tule'; did you mean 'tulle'?");
  expectError("#tulle.encoding<{ map = () -> () }@@", "expected '>' to close the encoding, got the end");
  expectError("{ map = () -> () } @x@", "expected nothing after the encoding, got 'x'");
  expectError("() -> () @x@", "expected ',' or the end of the encoding, got 'x'");
  expectError("() -> @@", "expected '(' before the levels, got the end");
}

TEST(Errors, fields) {
  expectError("@posWidth = 8@", "an encoding needs 'map = (i, j) -> (…)'");
  expectError("map = () -> (), @crdwidth@ = 8", "unknown field 'crdwidth'; did you mean 'crdWidth'?");
  expectError("map = () -> (), @zzz@ = 8",
              "unknown field 'zzz'; expected map, posWidth, crdWidth, fill, explicitVal, implicitVal or levels");
  expectError("() -> (), @map@ = () -> ()", "'map' is given twice");
  expectError("() -> (), posWidth = @12@", "expected a width of 0, 8, 16, 32 or 64 bits, got 12");
  expectError("() -> (), posWidth = @2@", "expected a width of 0, 8, 16, 32 or 64 bits, got 2");
  expectError("() -> (), crdWidth = @3@", "expected a width of 0, 2, 8, 16, 32 or 64 bits, got 3");
  expectError(
      "(i) -> (i : compressed), crdWidth = @2@",
      "2-bit coordinates are for structured[n,m] levels with m up to 4; this encoding also has compressed: "
      "write 8, 16, 32 or 64");
  expectError("(i) -> (i : dense), crdWidth = @2@",
              "2-bit coordinates are for structured[n,m] levels, and there is none; write 8, 16, 32 or 64");
  expectError("(i) -> (i : dense), fill = @none@",
              "expected a number, inf, nan, true, false or a complex pair (re, im), got 'none'");
  expectError("(i) -> (i : dense), fill = 1 : @f46@", "unknown type 'f46'; did you mean 'f16'?");
  expectError("(i) -> (i : dense), fill = @1e999@", "this number is outside the range of a 64-bit float");
  expectError("(i) -> (i : dense), fill = @99999999999999999999@", "this integer does not fit 64 bits");
  expectError("(i @$@ 1) -> (i : dense)", "this character has no meaning in an encoding");
}

TEST(Errors, variables) {
  expectError("(i, @i@) -> (i : dense)", "'i' is declared twice");
  expectError("[i](@i@) -> (i : dense)", "'i' is declared twice");
  expectError("(@mod@) -> (mod : dense)", "'mod' is a word of the language; name the variable otherwise");
  expectError("(i, @j@) -> (i : dense)", "no level stores dimension 'j'; add a level for it");
  expectError("(i, @j@) -> (i : dense, #j : dense)", "no level stores dimension 'j'; add a level for it");
  expectError("(row, col) -> (row : dense, @cool@ : dense)",
              "undeclared variable 'cool'; did you mean 'col'?");
  expectError("(i = @ib@) -> (i : dense)",
              "undeclared variable 'ib'; list the level variables in braces before the "
              "dimensions: {ib, …} (…) -> (…)");
  expectError("{a, b} (i = a) -> (@b@ = i : dense, a = i : dense)",
              "expected level variable 'a' here: levels come in the order of the list in braces");
  expectError("{a} (i = a) -> (@i@ : dense)", "expected 'a =' before this level's expression");
  expectError("{a, b} (i = a) -> @(a = i : dense)@", "level variable 'b' is declared, but no level has it");
  expectError("{a} (i = a) -> (a = i : dense, @b@ = i : dense)",
              "level variable 'b' is not in the list in braces");
  expectError("{a} (i = a) -> (a = @a@ : dense)",
              "'a' is a level; a level's expression is made of dimensions");
  expectError("{a, b} (i = a, j = @i@) -> (a = i : dense, b = j : dense)",
              "'i' is a dimension; the inverse map is made of levels");
  expectError("(i) -> (@i@ = i : dense)", "'i' already names something here; choose another name");
  expectError("(i) -> (let @i@ = 2 in i : dense)", "'i' already names something here; choose another name");
  expectError("(i) -> ((let r = i in r) : dense, @r@ : dense)", "undeclared variable 'r'");
}

TEST(Errors, inverses) {
  expectError("{b, r} (@i = b * 3 + r@) -> (b = i floordiv 2 : dense, r = i mod 2 : dense)",
              "this is not the inverse of the map: at coordinate 2 of dimension 'i' it gives 3");
  expectError("{a} (@i = a + 1@) -> (a = i : dense)",
              "this is not the inverse of the map: at coordinate 0 of dimension 'i' it gives 1");
}

TEST(Errors, expressions) {
  expectError("(i, j) -> (i @*@ j : dense, j : dense)",
              "a product of two variables is not affine; one side must be an integer");
  expectError("(i, j) -> (i floordiv @j@ : dense, j : dense)",
              "expected a positive integer after 'floordiv'");
  expectError("(i) -> (i mod @0@ : dense)", "expected a positive integer after 'mod'");
  expectError("(i) -> (i / @-2@ : dense)", "expected a positive integer after '/'");
  expectError("(i) -> (i shl @64@ : dense)", "expected a number of bits from 0 to 63 after 'shl'");
  expectError("(i) -> (i << @i@ : dense)", "expected a number of bits from 0 to 63 after '<<'");
  expectError("(i) -> (i + @:@ dense)", "expected a variable, an integer, '#' or '(', got ':'");
  expectError("(i) -> ((i + 1 @:@ dense)", "expected ')' to close the parenthesis, got ':'");
  expectError("(i) -> (#@x@ : dense, i : dense)", "expected one of the tensor's dimensions, got 'x'");
  expectError("(i) -> (#(i, @i@) : dense, i : dense)", "this dimension is counted twice");
  expectError("{a} (i = @#@i) -> (a = i : dense)",
              "a counter belongs to a level's expression, not to an inverse map");
  expectError("(i, j) -> (rank(i by count(@i@)) : dense, j : dense)",
              "a dimension is ranked by the entries along another one");
  expectError("(i, j) -> (rank(i by count(j) within @0@) : dense, j : dense)",
              "at least one coordinate is ranked together");
  expectError("(i) -> (let r = i @:@ dense)", "expected 'in' after the value of 'r', got ':'");
  expectError("(i) -> (i + @0xfg@ : dense)", "this is no hexadecimal integer");
}

TEST(Errors, levelFormats) {
  expectError("(i) -> (i @)@",
              "expected ':' and a level format such as 'dense' or 'compressed' after the level's "
              "expression, got ')'");
  expectError("(i) -> (i : @xyz@)", "unknown level format 'xyz'; the level formats are dense, batch, "
                                    "compressed, loose_compressed, singleton, "
                                    "structured, ragged, fixed, squeezed, banded, offset, hashed, bitmap, "
                                    "jagged");
  expectError("(i) -> (i : dense(@nonunique@))",
              "a dense level cannot be 'nonunique': it has every coordinate exactly "
              "once, in order");
  expectError("(i) -> (i : compressed(@soa@))",
              "a compressed level cannot be 'soa': 'soa' and 'padded' belong to singleton levels");
  expectError("(i) -> (i : dense(@high@))",
              "a dense level cannot be 'high': only compressed levels have an upper position");
  expectError("(i) -> (i : compressed(@nonuniqe@))",
              "unknown property 'nonuniqe'; did you mean 'nonunique'?");
  expectError(
      "(i) -> (i mod 4 : block2_4(@nonordered@))",
      "a block2_4 level cannot be 'nonordered': its n coordinates of every m are distinct and in order");
  expectError("(i) -> (i : @structured@)",
              "'structured' needs its sizes: structured[n,m] keeps n of every m");
  expectError("(i) -> (i mod 4 : structured@[5,4]@)", "expected 1 <= n <= m in structured[n,m]");
  expectError("(i) -> (i : dense@[@3])", "'dense' takes no sizes in brackets");
  expectError("(i) -> (i : fixed@[0]@)", "expected at least 1 here");
  expectError("(i, j) -> (#i[@0@] : dense, i : dense, j : compressed)", "a counter makes at least one slice");
  expectError("[N = 0](i) -> (i floordiv @N@ : dense, i mod 4 : dense)",
              "expected a positive integer after 'floordiv'");
  expectError("[N = 2, @N@](i) -> (i : dense)", "'N' is declared twice");
}

TEST(Errors, levelsTogether) {
  expectError("(i, j) -> (i : dense, j : @batch@)", "batch levels come before all others");
  expectError(
      "(i, j) -> (i : dense, j : @singleton@)",
      "a singleton level has one coordinate for every position above it, so it follows a level that stores "
      "coordinates; write 'compressed' or 'singleton(padded)'");
  expectError("(i) -> (i : @offset@)",
              "an offset level's coordinate follows from the levels above it; it cannot come first");
  expectError(
      "(i, j) -> (i : dense, @j@ : block2_4)",
      "the coordinates of structured[2,4] run from 0 to 3; write this level as '… mod 4' below a level '… "
      "floordiv 4'");
  expectError("(i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique, soa), k : @singleton@)",
              "consecutive singleton levels are all 'soa' or none is");
}

TEST(Errors, slices) {
  expectError("(i : #tulle<slice(@-1@, 4, 1)>) -> (i : dense)", "a slice's offset is at least 0, or '?'");
  expectError("(i : #tulle<slice(0, @0@, 1)>) -> (i : dense)", "a slice's size is at least 1, or '?'");
  expectError("(i : #tulle<slice(0, 4@)@>) -> (i : dense)", "expected ',' after the slice's size, got ')'");
  expectError("(i : @dense@) -> (i : dense)",
              "expected '#' of '#tulle<slice(offset, size, stride)>' after ':', got "
              "'dense'");
}

TEST(Errors, whatWouldExhaustTheStackIsRefused) {
  std::string open(100000, '('), minus(100000, '-');
  EXPECT_THROW(parseEncoding("(i) -> (" + open), support::SyntaxError);
  EXPECT_THROW(parseEncoding("(i) -> (" + minus + "i : dense)"), support::SyntaxError);
  std::string sum = "i", lets;
  for (unsigned n = 0; n < 100000; ++n) {
    sum += " + 1";
    lets += "let v" + std::to_string(n) + " = i in ";
  }
  EXPECT_THROW(parseEncoding("(i) -> (" + sum + " : dense)"), support::SyntaxError);
  EXPECT_THROW(parseEncoding("(i) -> (" + lets + "i : dense)"), support::SyntaxError);
}

} // namespace
