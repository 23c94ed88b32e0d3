// Views move nothing: their buffers are those of what they show, and kernels read them as any tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tulle/tulle.h>

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

namespace {

template <class Action> std::string messageOf(Action action) {
  try {
    action();
  } catch (const tulle::Error &error) {
    return error.what();
  }
  return "";
}

/// 0 1 2 3 in row 0, 4 5 6 7 in row 1, …
tulle::Tensor<double> iota(std::vector<int64_t> dims) {
  tulle::Tensor<double> made = tulle::zeros<double>(std::move(dims));
  made.write([](std::span<double> all) {
    for (size_t k = 0; k < all.size(); ++k)
      all[k] = double(k);
  });
  return made;
}

/// 1 . 2 .
/// . . . .
/// 3 4 . 5
tulle::Tensor<double> sparse(const tulle::Format &format = tulle::CSR) {
  return tulle::pack<double>({{3, 4}, {{0, 0, 2, 2, 2}, {0, 2, 0, 1, 3}}, {1, 2, 3, 4, 5}}, format);
}

std::vector<double> elements(const tulle::AnyTensor &tensor) {
  tulle::Tensor<double> dense = tensor.to(tulle::Format("dense"));
  return {dense.values().begin(), dense.values().end()};
}

std::string formatOf(const tulle::AnyTensor &tensor) { return tensor.type().format.text(); }

TEST(Views, TransposeSharesEveryBuffer) {
  for (const char *format : {"dense", "CSR", "DCSR", "COO", "BCSR(2,2)", "ELL", "DIA"}) {
    SCOPED_TRACE(format);
    tulle::Tensor<double> A = sparse(tulle::Format(format)), T = A.transpose();
    EXPECT_EQ(T.rawValues().data, A.rawValues().data);
    EXPECT_THAT(T.dims(), ElementsAre(4, 3));
    EXPECT_THAT(elements(T), ElementsAre(1, 0, 3, 0, 0, 4, 2, 0, 0, 0, 0, 5));
    EXPECT_EQ(formatOf(T.transpose()), formatOf(A));
  }
  EXPECT_THAT(formatOf(sparse().transpose()), HasSubstr("(j : dense, i : compressed)"));
  tulle::Tensor<double> C = iota({2, 3, 4}).transpose({2, 0, 1});
  EXPECT_THAT(C.dims(), ElementsAre(4, 2, 3));
  EXPECT_EQ(elements(C)[1], 4);
  EXPECT_THAT(messageOf([&] { C.transpose({0, 0, 1}); }), HasSubstr("each once"));
  EXPECT_THAT(messageOf([&] { C.transpose({0, 1}); }), HasSubstr("the dimensions 0 to 2"));
}

TEST(Views, ReverseCountsFromTheEnd) {
  for (const char *format : {"dense", "CSR", "DCSR", "COO", "CSC"}) {
    SCOPED_TRACE(format);
    tulle::Tensor<double> A = sparse(tulle::Format(format)), R = A.reverse(1);
    EXPECT_EQ(R.rawValues().data, A.rawValues().data);
    EXPECT_THAT(elements(R), ElementsAre(0, 2, 0, 1, 0, 0, 0, 0, 5, 0, 4, 3));
    EXPECT_THAT(elements(R.reverse(0)), ElementsAre(5, 0, 4, 3, 0, 0, 0, 0, 0, 2, 0, 1));
  }
  // Digits of a distance from the end are none of the buffers: a copy.
  tulle::Tensor<double> B = sparse(tulle::Format("BCSR(2,2)")), R = B.reverse(0);
  EXPECT_NE(R.rawValues().data, B.rawValues().data);
  EXPECT_THAT(elements(R), ElementsAre(3, 4, 0, 5, 0, 0, 0, 0, 1, 0, 2, 0));
  EXPECT_THAT(messageOf([&] { B.reverse(2); }), HasSubstr("they are counted from 0"));
}

TEST(Views, ReshapeIsTheSameBuffersWhereLevelsAreDigits) {
  tulle::Tensor<double> D = iota({4, 6});
  for (std::vector<int64_t> dims : {std::vector<int64_t>{24}, {2, 12}, {2, 2, 3, 2}, {1, 4, 6, 1}, {8, 3}}) {
    tulle::Tensor<double> R = D.reshape(dims);
    EXPECT_EQ(R.rawValues().data, D.rawValues().data);
    EXPECT_THAT(elements(R), ElementsAreArray(elements(D)));
  }
  // The seed's 10 x 10 is a vector of 100, and back.
  tulle::Tensor<double> A = tulle::pack<double>({{10, 10}, {{0, 3, 9}, {1, 7, 9}}, {1, 2, 3}}, tulle::CSR);
  tulle::Tensor<double> v = A.reshape({100}), B = v.reshape({10, 10});
  EXPECT_EQ(v.rawValues().data, A.rawValues().data);
  EXPECT_EQ(v.coordinates(1).data, A.coordinates(1).data);
  EXPECT_EQ(elements(v)[37], 2);
  EXPECT_EQ(B.rawValues().data, A.rawValues().data);
  EXPECT_EQ(formatOf(B), formatOf(A));
  // Rows of 10 are no digits of rows of 20: a copy.
  tulle::Tensor<double> W = A.reshape({5, 20});
  EXPECT_NE(W.rawValues().data, A.rawValues().data);
  EXPECT_THAT(elements(W), ElementsAreArray(elements(A)));
  EXPECT_EQ(formatOf(W), formatOf(A));
  EXPECT_THAT(elements(A.reshape({1, 25, 1, 4, 1})), ElementsAreArray(elements(A)));
  tulle::Tensor<double> none = tulle::pack<double>({{0, 5}, {{}, {}}, {}}, tulle::CSR);
  EXPECT_THAT(none.reshape({3, 2, 0}).dims(), ElementsAre(3, 2, 0));
  EXPECT_THAT(messageOf([&] { A.reshape({7, 7}); }),
              HasSubstr("reshape(7, 7) has 49 elements, the tensor of 10 x 10 has 100"));
}

TEST(Views, BlocksAreReshapedAndTransposed) {
  tulle::Tensor<double> D = iota({4, 6}), blocks = D.reshape({2, 2, 2, 3}).transpose({0, 2, 1, 3});
  EXPECT_EQ(blocks.rawValues().data, D.rawValues().data);
  EXPECT_THAT(elements(blocks.slice(0, 1, 1).slice(1, 0, 1)), ElementsAre(12, 13, 14, 18, 19, 20));
  EXPECT_THAT(elements(blocks.transpose({0, 2, 1, 3}).reshape({4, 6})), ElementsAreArray(elements(D)));
}

TEST(Views, GatheredRowsAreReadInPlace) {
  const std::vector<int64_t> rows{2, 0, 2};
  const std::vector<double> want{3, 4, 0, 5, 1, 0, 2, 0, 3, 4, 0, 5};
  for (const char *format :
       {"dense", "CSR", "ragged", "jagged", "(i,j) -> (i : dense, j : loose_compressed[2])"}) {
    SCOPED_TRACE(format);
    tulle::Tensor<double> A = sparse(tulle::Format(format)), G = A.gather(rows);
    EXPECT_EQ(G.rawValues().data, A.rawValues().data);
    EXPECT_THAT(elements(G), ElementsAreArray(want));
    EXPECT_THAT(elements(G.gather(std::vector<int64_t>{1, 1})), ElementsAre(1, 0, 2, 0, 1, 0, 2, 0));
    auto sums = tulle::compile("y(i) = G(i,j) * x(j)",
                               {{"G", G.type()}, {"x", {"f64", tulle::Format("dense"), {4}}}});
    EXPECT_THAT(elements(sums(G, tulle::full<double>({4}, 2))), ElementsAre(24, 6, 24));
    // A result with the pattern of rows that repeat has a value for each of them.
    auto scaled = tulle::compile("S(i,j) = G(i,j) * r(i)",
                                 {{"G", G.type()}, {"r", {"f64", tulle::Format("dense"), {3}}}});
    EXPECT_THAT(elements(scaled(G, iota({3}))), ElementsAre(0, 0, 0, 0, 1, 0, 2, 0, 6, 8, 0, 10));
  }
  for (const char *format : {"CSC", "COO", "DCSR", "DIA"}) { // rows are no pieces of these
    SCOPED_TRACE(format);
    tulle::Tensor<double> A = sparse(tulle::Format(format)), G = A.gather(rows);
    EXPECT_NE(G.rawValues().data, A.rawValues().data);
    EXPECT_THAT(elements(G), ElementsAreArray(want));
  }
  EXPECT_THAT(messageOf([&] { sparse().gather(std::vector<int64_t>{0, 3}); }),
              HasSubstr("number 1, counted from 0, is 3, and the rows are 0 to 2"));
  EXPECT_THAT(messageOf([&] { sparse().gather(std::vector<int64_t>{-1}); }), HasSubstr("is -1"));
}

TEST(Views, RowsOfSeveralAllocations) {
  std::vector<double> a{1, 2, 3}, b{4}, c{5, 6};
  tulle::Tensor<double> J = tulle::stack<double>(
      {tulle::dense<double>({3}, a), tulle::dense<double>({1}, b), tulle::dense<double>({2}, c)});
  EXPECT_THAT(J.dims(), ElementsAre(3, 3));
  EXPECT_THAT(formatOf(J), HasSubstr("j : jagged"));
  EXPECT_EQ(J.storedCount(), 6);
  EXPECT_THAT(elements(J), ElementsAre(1, 2, 3, 4, 0, 0, 5, 6, 0));
  c[0] = 7; // nothing was copied
  auto sum = tulle::compile("y(i) = J(i,j)", {{"J", J.type()}});
  EXPECT_THAT(elements(sum(J)), ElementsAre(6, 4, 13));
  EXPECT_THAT(messageOf([&] { J.values(); }), HasSubstr("lie in several allocations"));
  EXPECT_THAT(J.print(), HasSubstr("values : ( 1, 2, 3, 4, 7, 6 )"));
  // Writing makes the values the tensor's own.
  J.write([](std::span<double> all) { all[0] = 100; });
  EXPECT_EQ(a[0], 1);
  EXPECT_THAT(elements(sum(J)), ElementsAre(105, 4, 13));
  // Wherever its arrays lie, a batch is of one type.
  std::vector<double> far(1 << 20);
  tulle::Tensor<double> other =
      tulle::stack<double>({tulle::dense<double>({1 << 20}, far), tulle::dense<double>({3}, a)});
  EXPECT_EQ(formatOf(other), formatOf(J));
  // Lengths are the maker's: those of another batch must agree.
  tulle::Tensor<double> K = tulle::stack<double>(
      {tulle::dense<double>({1}, b), tulle::dense<double>({1}, b), tulle::dense<double>({3}, a)});
  auto both = tulle::compile("y(i) = J(i,j) + K(i,j)", {{"J", J.type()}, {"K", K.type()}});
  EXPECT_THAT(messageOf([&] { both(J, K); }),
              HasSubstr("index 'j' has length 3 in J(i,j) and 1 in K(i,j) at i = 0"));
}

TEST(Views, MemoryLivesAsLongAsTheLastView) {
  tulle::Tensor<double> J;
  {
    tulle::Tensor<double> a = tulle::full<double>({100, 3}, 1), b = tulle::full<double>({50, 3}, 2);
    J = tulle::stack<double>({a, b}).gather(std::vector<int64_t>{1, 0});
  }
  std::vector<tulle::Tensor<double>> others; // would take the memory
  for (int k = 0; k < 10; ++k)
    others.push_back(tulle::full<double>({100, 3}, 9));
  auto sum = tulle::compile("y(i) = J(i,j,k)", {{"J", J.type()}});
  EXPECT_THAT(elements(sum(J)), ElementsAre(300, 300));
}

TEST(Views, ConcatTakesRowsFromEverywhere) {
  tulle::Tensor<double> a = iota({2, 3}), b = iota({1, 3}), C = tulle::concat<double>({a, b, a});
  EXPECT_THAT(formatOf(C), HasSubstr("j : jagged"));
  EXPECT_THAT(elements(C), ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 5));
  tulle::Tensor<double> A = sparse(), top = A.gather(std::vector<int64_t>{2}),
                        S = tulle::concat<double>({top, A});
  EXPECT_EQ(S.rawValues().data, A.rawValues().data);
  EXPECT_THAT(elements(S), ElementsAre(3, 4, 0, 5, 1, 0, 2, 0, 0, 0, 0, 0, 3, 4, 0, 5));
  // Entries of two matrices have coordinates in two buffers, and those along columns mix: copies.
  EXPECT_THAT(elements(tulle::concat<double>({sparse(), sparse()})).size(), 24u);
  EXPECT_THAT(elements(tulle::concat<double>({a, a}, 1)), ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
  EXPECT_THAT(messageOf([&] { tulle::concat<double>({a, iota({2, 4})}); }),
              HasSubstr("dimension 1 of tensor 1 has size 4, that of tensor 0 has size 3"));
  EXPECT_THAT(messageOf([&] { tulle::concat<double>({}); }), HasSubstr("of no tensors"));
}

/// What lies outside of a slice is in none of its copies.
TEST(Views, SlicesAreCopiedWhereTheyHaveNoView) {
  tulle::Tensor<double> D = iota({3, 4});
  for (tulle::Tensor<double> part : {D.slice(1, 1, 2), D.to(tulle::CSR).slice(1, 1, 2)}) {
    EXPECT_THAT(elements(part.reshape({6})), ElementsAre(1, 2, 5, 6, 9, 10));
    EXPECT_THAT(elements(part.reverse(1)), ElementsAre(2, 1, 6, 5, 10, 9));
    EXPECT_THAT(elements(part.gather(std::vector<int64_t>{2, 0})), ElementsAre(9, 10, 1, 2));
    EXPECT_THAT(elements(tulle::concat<double>({part.slice(0, 0, 1), part.slice(0, 2, 1)})),
                ElementsAre(1, 2, 9, 10));
    EXPECT_THAT(elements(tulle::concat<double>({part.slice(0, 0, 1), part.slice(0, 2, 1)}, 1)),
                ElementsAre(1, 2, 9, 10));
  }
  EXPECT_THAT(messageOf([&] { iota({1, 1}).reshape({}); }), HasSubstr("to no dimensions"));
}

TEST(Views, CanonicalFormsCostNothing) {
  tulle::Tensor<double> D = iota({6, 2});
  auto gathered = [&](std::vector<int64_t> rows) { return D.gather(rows).canonical(); };
  tulle::Tensor<double> middle = gathered({2, 3}), every = gathered({1, 3, 5}), mixed = gathered({3, 1, 4});
  EXPECT_EQ(formatOf(middle), formatOf(iota({1, 1}))); // a piece of the dense tensor
  EXPECT_EQ(middle.rawValues().data, D.values().data() + 4);
  EXPECT_THAT(formatOf(every), HasSubstr("slice(2, 2, 1)")); // of rows of four
  EXPECT_EQ(every.rawValues().data, D.values().data());
  EXPECT_THAT(formatOf(gathered({0, 2, 4})), HasSubstr("slice(0, 2, 1)"));
  EXPECT_THAT(formatOf(mixed), HasSubstr("jagged"));
  EXPECT_THAT(elements(every), ElementsAre(2, 3, 6, 7, 10, 11));
  EXPECT_THAT(elements(middle), ElementsAre(4, 5, 6, 7));
  tulle::Tensor<double> R = sparse(tulle::Format("ragged")),
                        low = R.gather(std::vector<int64_t>{1, 2}).canonical();
  EXPECT_THAT(formatOf(low), HasSubstr("j : ragged"));
  EXPECT_EQ(low.rawValues().data, R.values().data() + 3);
  EXPECT_THAT(elements(low), ElementsAre(0, 0, 0, 0, 3, 4, 0, 5));
  tulle::Tensor<double> A = sparse(), csr = A.gather(std::vector<int64_t>{1, 2}).canonical();
  EXPECT_EQ(formatOf(csr), formatOf(A));
  EXPECT_EQ(csr.rawValues().data, A.values().data() + 2);
  EXPECT_THAT(elements(csr), ElementsAre(0, 0, 0, 0, 3, 4, 0, 5));
}

} // namespace
