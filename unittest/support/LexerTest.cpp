// One lexer for all languages: what they have in common, and what a language adds.
#include "support/Lexer.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::support {
namespace {

constexpr std::string_view signs[] = {"->", "-", ">", "(", ")", "."};
constexpr Language plain = {signs, "unexpected {}"}, complex = {signs, "no {} here", true, 4};

std::string tokens(const Language &language, std::string_view text) {
  std::string out;
  for (const Token &token : tokenize(language, text, "<text>"))
    out += "ewirms"[token.kind] + std::string(token.text) + " ";
  return out;
}

std::string error(const Language &language, std::string_view text) {
  try {
    tokenize(language, text, "<text>");
  } catch (const SyntaxError &error) {
    return error.what();
  }
  return "";
}

TEST(Lexer, LongerSignsComeFirst) {
  EXPECT_EQ(tokens(plain, "a->b - > _1 // (\n)"), "wa s-> wb s- s> w_1 s) e ");
}

TEST(Lexer, NumbersOfALanguageWithComplexOnes) {
  EXPECT_EQ(tokens(plain, "1 0x1F 2. 3e-2 .5 2i"), "i1 i0x1F r2. r3e-2 s. i5 i2 wi e ");
  EXPECT_EQ(tokens(complex, ".5 2i 2.e1j 7"), "r.5 m2i m2.e1j i7 e ");
  EXPECT_THAT(error(complex, "2xy"),
              testing::HasSubstr("<text>:1:1: error: expected a number; a product needs"));
}

TEST(Lexer, ErrorsShowTheCharacter) {
  EXPECT_EQ(error(plain, "a\n $"), "<text>:2:2: error: unexpected '$'\n   $\n   ^");
  EXPECT_THAT(error(complex, "\x01"), testing::HasSubstr("no byte 0x01 here"));
  EXPECT_THAT(error(complex, "a b c d e"), testing::HasSubstr("more than 4 tokens"));
}

TEST(Lexer, Integers) {
  int64_t value = 0;
  EXPECT_EQ(parseInteger("0x7fffffffffffffff", value), std::errc());
  EXPECT_EQ(value, INT64_MAX);
  EXPECT_EQ(parseInteger("9223372036854775808", value), std::errc::result_out_of_range);
  EXPECT_EQ(parseInteger("0x", value), std::errc::invalid_argument);
  EXPECT_EQ(parseInteger("0x1g", value), std::errc::invalid_argument);
}

TEST(Cursor, RangesReachToTheEndOfTheLastToken) {
  Cursor cursor(plain, "(ab)  -", "<text>");
  cursor.expect("(", "first");
  EXPECT_EQ(cursor.expectWord("a word").text, "ab");
  EXPECT_TRUE(cursor.accept(")"));
  EXPECT_EQ(cursor.since(0).end, 4u);
  cursor.take();
  EXPECT_TRUE(cursor.atEnd());
  EXPECT_EQ(cursor.take().kind, Token::End);
  EXPECT_THROW(cursor.expectInteger("an integer"), SyntaxError);
}

} // namespace
} // namespace tulle::support
