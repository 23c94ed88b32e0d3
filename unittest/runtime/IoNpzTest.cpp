// .npz: round trips of every format SciPy has, notes where it has none, and archives that lie.
#include "Model.h"
#include "engine/Conversion.h"
#include "io_support.h"
#include "runtime/io/Text.h"
#include <cmath>

using namespace tulle;
using namespace tulle::runtime;
using namespace tulle::runtime::test;
using ::testing::HasSubstr;
using tulle::runtime::testing::makeEntries;

namespace {

using IoNpz = FolderTest;

/// One element type's bytes behind a header: a member of an archive.
template <typename T> std::string npy(ElementType type, std::vector<int64_t> dims, std::vector<T> elements) {
  return io::npyHeader(type, dims) +
         std::string(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(T));
}
std::string indices(std::vector<int64_t> list) {
  return npy<int64_t>(ElementType::I64, {int64_t(list.size())}, list);
}
std::string reals(std::vector<double> list) {
  return npy<double>(ElementType::F64, {int64_t(list.size())}, list);
}
std::string word(const std::string &text) {
  std::string header = io::npyHeader(ElementType::I8, {});
  return header.replace(header.find("|i1"), 3, "|S3") + text;
}

using MemberMap = std::map<std::string, std::string>;

std::string archive(const std::string &path, const MemberMap &members) {
  std::vector<io::ZipMember> list;
  for (const auto &[name, bytes] : members)
    list.push_back({name + ".npy", {bytes}});
  io::writeZip(path, list);
  return path;
}

/// [ 1 2 0 ; 0 0 3 ]
MemberMap csr() {
  return {{"format", word("csr")},
          {"shape", indices({2, 3})},
          {"indptr", indices({0, 2, 3})},
          {"indices", indices({0, 1, 2})},
          {"data", reals({1, 2, 3})}};
}
const Values csrValues = {{{0, 0}, 1.0}, {{0, 1}, 2.0}, {{1, 2}, 3.0}};

TEST_F(IoNpz, CsrIsReadAsItIs) {
  FileContents contents = readFile(archive(path("a.npz"), csr()));
  ASSERT_TRUE(contents.isStored);
  EXPECT_EQ(contents.suggested, "CSR");
  validate(contents.stored);
  EXPECT_EQ(valuesOf(contents), csrValues);
  // The storage is what storing the entries gives, so that asking for CSR converts nothing.
  Tensor again = engine::convert(contents.stored, format::parseFormat("CSR", 2));
  EXPECT_EQ(again.values(), contents.stored.values());
}

TEST_F(IoNpz, CscHasColumns) {
  MemberMap members = csr();
  members["format"] = word("csc");
  members["shape"] = indices({3, 2});
  FileContents contents = readFile(archive(path("a.npz"), members));
  EXPECT_EQ(contents.suggested, "CSC");
  validate(contents.stored);
  EXPECT_EQ(valuesOf(contents), (Values{{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{2, 1}, 3.0}}));
}

TEST_F(IoNpz, UnorderedAndDuplicateColumnsAreEntries) {
  MemberMap members = csr();
  members["indices"] = indices({1, 1, 2});
  FileContents contents = readFile(archive(path("a.npz"), members));
  EXPECT_FALSE(contents.isStored);
  EXPECT_EQ(valuesOf(contents), (Values{{{0, 1}, 3.0}, {{1, 2}, 3.0}}));
  members["indices"] = indices({2, 0, 1});
  EXPECT_EQ(valuesOf(readFile(archive(path("b.npz"), members))),
            (Values{{{0, 2}, 1.0}, {{0, 0}, 2.0}, {{1, 1}, 3.0}}));
}

TEST_F(IoNpz, WhatFollowsTheLastPositionIsNotRead) {
  MemberMap members = csr();
  members["indices"] = indices({0, 1, 2, 99, -5});
  members["data"] = reals({1, 2, 3, 4, 5});
  FileContents contents = readFile(archive(path("a.npz"), members));
  validate(contents.stored);
  EXPECT_EQ(valuesOf(contents), csrValues);
}

TEST_F(IoNpz, DiagonalsDropTheirPadding) {
  // SciPy: data[k, j] is A[j - offsets[k], j]. [ 10 0 ; 21 11 ; 0 22 ]
  MemberMap members = {{"format", word("dia")},
                       {"shape", indices({3, 2})},
                       {"offsets", indices({0, -1})},
                       {"data", npy<double>(ElementType::F64, {2, 2}, {10, 11, 21, 22})}};
  FileContents contents = readFile(archive(path("a.npz"), members));
  EXPECT_EQ(contents.suggested, "DIA");
  EXPECT_EQ(valuesOf(contents), (Values{{{0, 0}, 10.0}, {{1, 1}, 11.0}, {{1, 0}, 21.0}, {{2, 1}, 22.0}}));
  members["offsets"] = indices({1, -2}); // column 1 of row 0; column 0 of row 2
  EXPECT_EQ(valuesOf(readFile(archive(path("b.npz"), members))), (Values{{{0, 1}, 11.0}, {{2, 0}, 21.0}}));
}

TEST_F(IoNpz, RoundTripOfEveryFormat) {
  Entries entries;
  entries.dims = {4, 6};
  entries.coords = {{0, 0, 1, 3, 3}, {0, 5, 2, 1, 3}};
  const double list[] = {1.5, -2, 0, 4, 5e-324};
  entries.values.resize(sizeof list);
  std::memcpy(entries.values.data(), list, sizeof list);
  for (std::string form : {"CSR", "CSC", "BCSR(2,3)", "BCSR(4,6)", "COO", "COO-soa"}) {
    SCOPED_TRACE(form);
    Tensor tensor = engine::store(entries, format::parseFormat(form, 2));
    EXPECT_EQ(writeFile(path("a.npz"), tensor), "");
    FileContents back = readFile(path("a.npz"));
    EXPECT_EQ(back.suggested, form == "COO-soa" ? "COO" : form);
    EXPECT_EQ(valuesOf(back), values(unpack(tensor)));
    if (back.isStored) {
      validate(back.stored);
      EXPECT_EQ(back.stored.encoding, tensor.encoding);
    }
  }
  Tensor dcsr = engine::store(entries, format::parseFormat("DCSR", 2));
  EXPECT_THAT(writeFile(path("d.npz"), dcsr), HasSubstr("SciPy has no DCSR; the entries are written as coo"));
  EXPECT_EQ(valuesOf(readFile(path("d.npz"))), values(entries));
  // Blocks that do not divide the sizes have no bsr.
  Tensor blocks = engine::store(entries, format::parseFormat("BCSR(3,4)", 2));
  EXPECT_THAT(writeFile(path("e.npz"), blocks), HasSubstr("written as coo"));
  EXPECT_EQ(valuesOf(readFile(path("e.npz"))), values(unpack(blocks)));
}

TEST_F(IoNpz, DiagonalsComeBackAsTheyWere) {
  for (auto dims : {std::vector<int64_t>{3, 5}, std::vector<int64_t>{5, 3}}) {
    Entries entries = makeEntries(dims, {{{0, 0}, 1}, {{2, 2}, -2}, {{2, 1}, 3}, {{0, 2}, 4}});
    Tensor tensor = engine::store(entries, format::parseFormat("DIA", 2));
    EXPECT_EQ(writeFile(path("a.npz"), tensor), "");
    FileContents back = readFile(path("a.npz"));
    Tensor again = engine::store(back.entries, format::parseFormat(back.suggested, 2));
    EXPECT_EQ(again.encoding, tensor.encoding);
    EXPECT_EQ(printStorage(again), printStorage(tensor));
  }
}

TEST_F(IoNpz, DenseIsOneArrayAndEqualTensorsGiveEqualFiles) {
  Tensor dense = makeDense(ElementType::F32, {2, 3});
  static_cast<float *>(dense.values())[4] = 2.5f;
  EXPECT_EQ(writeFile(path("a.npz"), dense), "");
  writeFile(path("b.npz"), dense);
  EXPECT_EQ(load(path("a.npz")), load(path("b.npz")));
  FileContents back = readFile(path("a.npz"));
  ASSERT_TRUE(back.isStored);
  EXPECT_EQ(back.suggested, "dense");
  EXPECT_EQ(elements(back.stored), elements(dense));
}

TEST_F(IoNpz, WrongArraysAreRefusedWithTheirPlace) {
  struct Refusal {
    std::string member, bytes, message;
  };
  const Refusal refusals[] = {
      {"indptr", indices({0, 2, 4}), "'indptr' ends at 4, but 'indices' has 3 elements"},
      {"indptr", indices({0, 3, 2}), "'indptr'[2] is 2, less than the 3 before it"},
      {"indptr", indices({1, 2, 3}), "'indptr'[0] is 1, expected 0"},
      {"indptr", indices({0, 3}), "'indptr' has 2 elements, expected 3"},
      {"indptr", reals({0, 2, 3}), "'indptr' holds f64 in 1 dimensions, expected a list of integers"},
      {"indices", indices({0, 1, 3}), "'indices'[2] is 3, outside 0 to 2"},
      {"indices", indices({0, -1, 2}), "'indices'[1] is -1, outside 0 to 2"},
      {"data", reals({1, 2}), "'data' has 2 elements, but 'indptr' ends at 3"},
      {"shape", indices({2}), "'shape' has 1 elements"},
      {"shape", indices({-2, 3}), "sizes lie between 0"},
      {"shape", indices({2, INT64_MAX}), "sizes lie between 0"},
      {"format", word("lil"), "format 'lil' are not supported; csr, csc"},
      {"data", "no array at all", "data.npy: error: not a NumPy array"},
  };
  for (const Refusal &refusal : refusals) {
    SCOPED_TRACE(refusal.message);
    MemberMap members = csr();
    members[refusal.member] = refusal.bytes;
    std::string message = errorOf([&] { readFile(archive(path("a.npz"), members)); });
    EXPECT_THAT(message, HasSubstr(refusal.message));
    EXPECT_THAT(message, HasSubstr("a.npz"));
  }
  MemberMap members = csr();
  members.erase("indices");
  EXPECT_THAT(errorOf([&] { readFile(archive(path("a.npz"), members)); }),
              HasSubstr("the array 'indices' is missing"));
  EXPECT_THAT(errorOf([&] { readFile(archive(path("b.npz"), {{"x", reals({1})}, {"y", reals({2})}})); }),
              HasSubstr("holds 2 members (x.npy, y.npy) and no 'format'"));
}

TEST_F(IoNpz, DamagedArchives) {
  const std::string whole = load(archive(path("a.npz"), csr()));
  // Every cut and every changed byte gives the same contents or an Error, never anything else.
  for (size_t cut = 0; cut < whole.size(); cut += 7)
    errorOf([&] { parseFile(std::string_view(whole).substr(0, cut), "cut.npz"); });
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 0x55);
    try {
      EXPECT_EQ(valuesOf(parseFile(changed, "changed.npz")), csrValues) << "byte " << at;
    } catch (const Error &error) {
      EXPECT_THAT(error.what(), HasSubstr("changed.npz"));
    }
  }
}

/// Sizes that the archive's length excludes are refused before there is memory for them.
TEST_F(IoNpz, MembersLargerThanTheArchive) {
  std::string bytes = load(archive(path("a.npz"), csr()));
  const uint32_t packed = 1 << 20, whole = uint32_t(1) << 30;
  for (size_t at = 0; (at = bytes.find("PK\1\2", at)) != std::string::npos; at += 4) {
    std::memcpy(bytes.data() + at + 20, &packed, sizeof packed);
    std::memcpy(bytes.data() + at + 24, &whole, sizeof whole);
  }
  EXPECT_THAT(errorOf([&] { parseFile(bytes, "lies.npz"); }),
              HasSubstr("compressed bytes are more than the archive's"));
}

TEST_F(IoNpz, WhatItCannotHold) {
  Entries cube;
  cube.dims = {2, 2, 2};
  cube.coords.assign(3, {1});
  cube.values.resize(8);
  Tensor tensor = engine::store(cube, format::parseFormat("CSF", 3));
  EXPECT_THAT(errorOf([&] { writeFile(path("a.npz"), tensor); }), HasSubstr("write .tns instead"));
  EXPECT_THAT(errorOf([&] { writeFile(path("a.npz.gz"), tensor); }), HasSubstr("leave .gz out"));
  EXPECT_TRUE(listing().empty());
}

} // namespace
