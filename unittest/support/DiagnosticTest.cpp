#include "support/Diagnostic.h"
#include <gtest/gtest.h>

namespace tulle::support {
namespace {

TEST(Diagnostic, ShowsTheLineAndUnderlinesTheRange) {
  EXPECT_EQ(render("f", "one\ntwo three\n", {8, 13}, "what"), "f:2:5: error: what\n  two three\n      ^~~~~");
}

TEST(Diagnostic, ALongLineIsCutAroundThePlace) {
  std::string text = std::string(1000, 'a') + "!" + std::string(1000, 'b');
  EXPECT_EQ(render("f", text, {1000, 1001}, "what"), "f:1:1001: error: what\n  …" + std::string(50, 'a') +
                                                         "!" + std::string(49, 'b') + "…\n   " +
                                                         std::string(50, ' ') + "^");
}

TEST(Diagnostic, ALongRangeIsUnderlinedAsFarAsItIsShown) {
  EXPECT_EQ(render("f", std::string(5000, 'a'), {0, 5000}, "what"),
            "f:1:1: error: what\n  " + std::string(100, 'a') + "…\n  ^" + std::string(99, '~'));
}

TEST(Diagnostic, ThePlaceBehindALongLineIsShown) {
  EXPECT_EQ(render("f", std::string(300, 'a'), {300, 300}, "what"),
            "f:1:301: error: what\n  …" + std::string(50, 'a') + "\n   " + std::string(50, ' ') + "^");
}

TEST(Diagnostic, ControlCharactersAndBytesThatAreNoTextAreSpelled) {
  EXPECT_EQ(render("f", "a\x1b\xff?", {3, 4}, "what"), "f:1:4: error: what\n  a\\x1b\\xff?\n           ^");
}

TEST(Diagnostic, ACharacterOfSeveralBytesIsOnePlace) {
  EXPECT_EQ(render("f", "\u00e9\u2014x", {5, 6}, "what"), "f:1:6: error: what\n  \u00e9\u2014x\n    ^");
}

TEST(Diagnostic, NotesAreCutLikewise) {
  std::string text = std::string(200, 'a');
  std::string shown = render("f", text, {0, 1}, "what", {{{150, 151}, "here"}});
  EXPECT_NE(shown.find("f:1:151: note: here\n  …" + std::string(100, 'a')), std::string::npos) << shown;
}

} // namespace
} // namespace tulle::support
