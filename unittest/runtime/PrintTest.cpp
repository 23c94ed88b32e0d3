// Expectations are what `mlir-opt --sparsifier` and `mlir-runner` of LLVM 22 print for the same tensors.
#include "Model.h"
#include "engine/Conversion.h"

namespace tulle::runtime::testing {
namespace {

TEST(Print, ComplexCsr) {
  Entries entries = makeEntries({3, 3}, {{{0, 0}, 0}, {{1, 2}, 0}, {{2, 1}, 0}}, ElementType::C128);
  const std::complex<double> values[] = {{1, 2.5}, {3, -1}, {0, 1e-7}};
  std::memcpy(entries.values.data(), values, sizeof values);
  EXPECT_EQ(printStorage(engine::store(entries, encoding("CSR"))),
            "---- Sparse Tensor ----\n"
            "nse = 3\n"
            "dim = ( 3, 3 )\n"
            "lvl = ( 3, 3 )\n"
            "pos[1] : ( 0, 1, 2, 3 )\n"
            "crd[1] : ( 0, 2, 1 )\n"
            "values : ( ( 1, 2.5 ), ( 3, -1 ), ( 0, 1e-07 ) )\n"
            "----\n");
}

TEST(Print, CooInterleavesAndSoaDoesNot) {
  Entries bits = makeEntries({3, 3}, {{{0, 0}, 1}, {{1, 2}, 1}, {{2, 1}, 1}}, ElementType::Bool);
  EXPECT_EQ(printStorage(engine::store(bits, encoding("COO"))), "---- Sparse Tensor ----\n"
                                                                "nse = 3\n"
                                                                "dim = ( 3, 3 )\n"
                                                                "lvl = ( 3, 3 )\n"
                                                                "pos[0] : ( 0, 3 )\n"
                                                                "crd[0] : ( 0, 0, 1, 2, 2, 1 )\n"
                                                                "values : ( 1, 1, 1 )\n"
                                                                "----\n");
  Entries bytes = makeEntries({3, 3}, {{{0, 0}, 1}, {{1, 2}, -1}, {{2, 1}, 100}}, ElementType::I8);
  EXPECT_EQ(printStorage(
                engine::store(bytes, encoding("(i,j) -> (i : compressed(nonunique), j : singleton(soa))"))),
            "---- Sparse Tensor ----\n"
            "nse = 3\n"
            "dim = ( 3, 3 )\n"
            "lvl = ( 3, 3 )\n"
            "pos[0] : ( 0, 3 )\n"
            "crd[0] : ( 0, 1, 2 )\n"
            "crd[1] : ( 0, 2, 1 )\n"
            "values : ( 1, -1, 100 )\n"
            "----\n");
}

TEST(Print, DenseInColumnOrder) {
  Entries entries = makeEntries({3, 3}, {{{0, 0}, 1}, {{1, 2}, -0.1}, {{2, 1}, 3.14159265358979}});
  EXPECT_EQ(printStorage(engine::store(entries, encoding("(i,j) -> (j : dense, i : dense)"))),
            "---- Sparse Tensor ----\n"
            "nse = 9\n"
            "dim = ( 3, 3 )\n"
            "lvl = ( 3, 3 )\n"
            "values : ( 1, 0, 0, 0, 0, 3.14159, 0, -0.1, 0 )\n"
            "----\n");
}

TEST(Print, NothingStored) {
  EXPECT_EQ(printStorage(engine::store(makeEntries({3, 3}, {}), encoding("CSR"))), "---- Sparse Tensor ----\n"
                                                                                   "nse = 0\n"
                                                                                   "dim = ( 3, 3 )\n"
                                                                                   "lvl = ( 3, 3 )\n"
                                                                                   "pos[1] : ( 0, 0, 0, 0 )\n"
                                                                                   "crd[1] : (  )\n"
                                                                                   "values : (  )\n"
                                                                                   "----\n");
}

TEST(Print, BatchesNest) {
  Entries entries = makeEntries(
      {2, 2, 4},
      {{{0, 0, 1}, 1.5}, {{0, 1, 0}, 2}, {{0, 1, 1}, 3}, {{1, 0, 2}, 4}, {{1, 0, 3}, 5}, {{1, 1, 1}, 1e10}},
      ElementType::F32);
  EXPECT_EQ(
      printStorage(engine::store(entries, encoding("(b,i,j) -> (b : batch, i : dense, j : compressed)", 3))),
      "---- Sparse Tensor ----\n"
      "nse = 3\n"
      "dim = ( 2, 2, 4 )\n"
      "lvl = ( 2, 2, 4 )\n"
      "pos[2] : ( ( 0, 1, 3 )( 0, 2, 3 ) )\n"
      "crd[2] : ( ( 1, 0, 1 )( 2, 3, 1 ) )\n"
      "values : ( ( 1.5, 2, 3 )( 4, 5, 1e+10 ) )\n"
      "----\n");
}

TEST(Print, Blocks) {
  Tensor t = engine::store(
      blockExample(), encoding("(i,j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, "
                               "j mod 2 : dense)"));
  EXPECT_EQ(printStorage(t), "---- Sparse Tensor ----\n"
                             "nse = 12\n"
                             "dim = ( 4, 6 )\n"
                             "lvl = ( 2, 3, 2, 2 )\n"
                             "pos[1] : ( 0, 2, 3 )\n"
                             "crd[1] : ( 0, 2, 1 )\n"
                             "values : ( 1, 2, 0, 3, 4, 0, 0, 5, 6, 7, 8, 0 )\n"
                             "----\n");
}

} // namespace
} // namespace tulle::runtime::testing
