#include "support/Suggest.h"
#include <gtest/gtest.h>

namespace tulle::support {
namespace {

TEST(Suggest, NeighboursThatChangedPlacesAreOneSlip) {
  EXPECT_EQ(nearest("CRS", {"COO", "CSR", "CSC"}), "CSR");
}

TEST(Suggest, CaseDoesNotMatter) { EXPECT_EQ(nearest("csrr", {"COO", "CSR"}), "CSR"); }

TEST(Suggest, FarWordsAreNoGuess) {
  EXPECT_EQ(nearest("hashed", {"COO", "CSR"}), "");
  EXPECT_EQ(didYouMean("hashed", {"COO"}), "");
}

TEST(Suggest, SaysWhatWasMeant) { EXPECT_EQ(didYouMean("dnse", {"dense"}), "; did you mean 'dense'?"); }

} // namespace
} // namespace tulle::support
