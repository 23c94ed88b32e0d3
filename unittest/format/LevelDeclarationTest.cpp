// Declarations of level formats: what is recognized, how encodings print them, and where errors point.
#include "format/LevelDeclaration.h"
#include "format/LevelKinds.h"
#include "support/Diagnostic.h"
#include <gtest/gtest.h>

namespace tulle::format {
namespace {

const std::string compressed = "query select [p] -> count(c) as nz; edges pos[p + 1] = pos[p] + nz[p]; "
                               "coordinates crd[q] = c; positions(p) = pos[p] to pos[p + 1]; "
                               "coordinate(p, q) = crd[q]; insert append;";
const std::string window =
    "query select [p] -> min(c) as first; query select [p] -> max(c) as last; "
    "coordinates crd[p] = first[p]; edges pos[p + 1] = pos[p] + last[p] + 1 - first[p]; "
    "positions(p) = pos[p] to pos[p + 1]; coordinate(p, q) = crd[p] + q - pos[p]; insert(p, c) = pos[p] + c "
    "- crd[p];";

std::string level(const std::string &parts) { return "level mine { " + parts + " }"; }

LevelFormat formatOf(const std::string &parts) {
  return LevelDeclaration::formatOf(parseLevels(level(parts)).at(0));
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// The error's message, and the text that its caret is under.
void expectError(const std::string &parts, const std::string &under, const std::string &message) {
  const std::string text = level(parts);
  try {
    parseLevels(text);
    FAIL() << "no error for " << text;
  } catch (const support::SyntaxError &error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_EQ(text.substr(error.range.begin, error.range.end - error.range.begin), under) << error.what();
  }
}

TEST(LevelDeclaration, BuiltInFormatsAreRecognized) {
  EXPECT_EQ(formatOf(compressed).kind, LevelKind::Compressed);
  EXPECT_EQ(formatOf(compressed).declaration, nullptr);
  EXPECT_EQ(
      formatOf("query select [c] -> id() as used; size K = count(used); coordinates crd[k] = nth(used, k); "
               "positions(p) = p * K to p * K + K; coordinate(p, q) = crd[q - p * K]; "
               "insert(p, c) = p * K + rank(used, c);")
          .kind,
      LevelKind::Squeezed);
  EXPECT_EQ(formatOf("properties padded; query select [p] -> count(c) as nz; size K = max(nz); "
                     "coordinates crd[q] = c; positions(p) = p * K to p * K + K; coordinate(p, q) = crd[q]; "
                     "insert append;")
                .kind,
            LevelKind::Fixed);
  EXPECT_EQ(formatOf("query select [p] -> max(c) as last; edges pos[p + 1] = pos[p] + (last[p] + 1); "
                     "positions(p) = pos[p] to pos[p + 1]; coordinate(p, q) = q - pos[p]; "
                     "insert(p, c) = pos[p] + c;")
                .kind,
            LevelKind::Ragged);
  EXPECT_EQ(
      formatOf("positions(p) = p * N to p * N + N; coordinate(p, q) = q - p * N; insert(p, c) = p * N + c;")
          .kind,
      LevelKind::Dense);
}

TEST(LevelDeclaration, OthersAreDeclaredWithTheBuffersTheyName) {
  const LevelFormat format = formatOf(window);
  EXPECT_EQ(format.kind, LevelKind::Declared);
  EXPECT_TRUE(storesPositions(format));
  EXPECT_TRUE(storesCoordinates(format));
  EXPECT_TRUE(hasUnmarkedPadding(format));
}

TEST(LevelDeclaration, EncodingsPrintWhatTheyDeclare) {
  const Declarations levels = parseLevels(level(window));
  const Encoding encoding = parseEncoding("(i, j) -> (i : dense, j : mine)", "<map>", levels);
  const std::string text = print(encoding);
  EXPECT_NE(text.find("levels = { level mine {"), std::string::npos) << text;
  EXPECT_EQ(print(parseEncoding(text)), text);
  EXPECT_EQ(parseEncoding(text).levels[1].format, encoding.levels[1].format);
  const Encoding other = parseEncoding("(i, j) -> (i : dense, j : mine)", "<map>",
                                       parseLevels(level(replaced(window, "+ 1 -", "+ 2 -"))));
  EXPECT_FALSE(other.levels[1].format == encoding.levels[1].format);
}

TEST(LevelDeclaration, MessagesNameTheLevelFormat) {
  const Encoding encoding =
      parseEncoding("(i, j) -> (i : dense, j : mine), fill = 1", "<map>", parseLevels(level(window)));
  EXPECT_EQ(displayName(encoding), "(i, j) -> (i : dense, j : mine), fill = 1");
}

TEST(LevelDeclaration, ContradictionsPointToTheParts) {
  const std::string text = "// A window\n" + level(window);
  const auto declaration = parseLevels(text, "mine.levels").at(0);
  for (const auto &[fault, part] : {std::pair{DeclaredFault::Outside, "edges pos"},
                                    {DeclaredFault::Differs, "coordinate(p, q)"},
                                    {DeclaredFault::Length, "edges pos"}})
    try {
      failDeclared(*declaration, fault, "storing 'A'", 3, -1);
      FAIL();
    } catch (const support::SyntaxError &error) {
      EXPECT_EQ(text.substr(error.range.begin).rfind(part, 0), 0u) << error.what();
      EXPECT_NE(std::string(error.what()).find("error: storing 'A': its declaration"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).rfind("mine.levels:2:", 0), 0u) << error.what();
    }
}

TEST(LevelDeclaration, RecognizedOnesPrintAsWhatTheyAre) {
  const Declarations levels = parseLevels(level(compressed));
  EXPECT_EQ(print(parseEncoding("(i, j) -> (i : dense, j : mine)", "<map>", levels)),
            print(parseEncoding("(i, j) -> (i : dense, j : compressed)")));
}

TEST(LevelDeclaration, ErrorsPointToThePart) {
  expectError(replaced(compressed, "nz[p]", "nnz[p]"), "nnz", "unknown name 'nnz'; did you mean 'nz'?");
  expectError(replaced(compressed, "+ nz[p]", "+ 1"), "nz", "neither the size nor the edges use 'nz'");
  expectError(replaced(compressed, "insert append;", ""), "mine", "has no part 'insert'");
  expectError(replaced(compressed, "insert append;", "insert(p, c) = pos[p] + c;"), "coordinates crd[q] = c;",
              "two coordinates could be stored at one position");
  expectError(replaced(compressed, "edges pos[p + 1] = pos[p] + nz[p];", ""), "nz",
              "neither the size nor the edges use 'nz'");
  expectError(replaced(compressed, "pos[p] to pos[p + 1]", "p to p + N"), "p to p + N",
              "the positions of parents follow on each other");
  expectError(replaced(compressed, "count(c)", "max(c)"), "nz", "does not say how many entries");
  expectError(replaced(window, "coordinates crd[p] = first[p];", ""),
              "coordinate(p, q) = crd[p] + q - pos[p];", "it reads crd[p], and no part");
  expectError(replaced(compressed, "edges", "edge"), "edge", "unknown part 'edge'");
}

TEST(LevelDeclaration, NamesAreUnique) {
  EXPECT_THROW(parseLevels("level compressed { " + compressed + " }"), support::SyntaxError);
  EXPECT_THROW(parseLevels(level(compressed) + level(compressed)), support::SyntaxError);
}

} // namespace
} // namespace tulle::format
