// Writing: the text itself, round trips of every type, and files that appear whole or not at all.
#include "engine/Conversion.h"
#include "io_support.h"
#include <cmath>
#include <csignal>
#include <limits>
#include <sys/resource.h>

using namespace tulle;
using namespace tulle::runtime;
using namespace tulle::runtime::test;
using ::testing::HasSubstr;

namespace {

using IoWrite = FolderTest;

template <typename T>
Entries entriesOf(ElementType type, std::vector<int64_t> dims, std::vector<std::vector<int64_t>> coords,
                  std::vector<T> values) {
  Entries entries;
  entries.type = type;
  entries.dims = std::move(dims);
  entries.coords = std::move(coords);
  entries.values.resize(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(entries.values.data(), values.data(), entries.values.size());
  return entries;
}

Tensor packed(const Entries &entries, const std::string &format) {
  return engine::store(entries, format::parseFormat(format, unsigned(entries.dims.size())));
}

/// Awkward to print: subnormal, largest, not exactly decimal, negative zero.
const std::vector<double> awkward = {
    5e-324, std::numeric_limits<double>::max(), 0.1, 1.0 / 3, -0.0, 123456789012345678.0};

Entries awkwardMatrix() {
  return entriesOf<double>(ElementType::F64, {3, 4}, {{0, 0, 1, 1, 2, 2}, {0, 3, 1, 2, 0, 3}}, awkward);
}

std::vector<uint64_t> bits(const std::vector<std::byte> &values) {
  std::vector<uint64_t> out(values.size() / 8);
  std::memcpy(out.data(), values.data(), values.size());
  return out;
}

TEST_F(IoWrite, MtxText) {
  writeFile(path("a.mtx"), packed(awkwardMatrix(), "CSR"));
  EXPECT_EQ(load(path("a.mtx")),
            "%%MatrixMarket matrix coordinate real general\n3 4 6\n1 1 5e-324\n1 4 1.7976931348623157e+308\n"
            "2 2 0.1\n2 3 0.3333333333333333\n3 1 -0\n3 4 123456789012345680\n");
  Tensor dense = makeDense(ElementType::I32, {2, 2});
  for (int32_t k = 0; k < 4; ++k)
    static_cast<int32_t *>(dense.values())[k] = k + 1; // [1 2; 3 4]
  writeFile(path("d.mtx"), dense);
  EXPECT_EQ(load(path("d.mtx")), "%%MatrixMarket matrix array integer general\n2 2\n1\n3\n2\n4\n");
  Tensor vector = makeDense(ElementType::F64, {2});
  static_cast<double *>(vector.values())[1] = 1.5;
  writeFile(path("v.mtx"), vector);
  EXPECT_EQ(load(path("v.mtx")), "%%MatrixMarket matrix array real general\n2 1\n0\n1.5\n");
}

TEST_F(IoWrite, TnsText) {
  Entries entries =
      entriesOf<int64_t>(ElementType::I64, {2, 9, 4}, {{0, 1}, {2, 0}, {3, 1}}, {INT64_MIN, INT64_MAX});
  writeFile(path("a.tns"), packed(entries, "CSF"));
  EXPECT_EQ(load(path("a.tns")),
            "# dims: 2 9 4\n# type: i64\n1 3 4 -9223372036854775808\n2 1 2 9223372036854775807\n");
}

TEST_F(IoWrite, RoundTripsOfValues) {
  for (std::string name : {"a.mtx", "a.mtx.gz", "a.tns", "a.tns.gz"})
    for (std::string format : {"CSR", "COO", "DCSR"}) {
      writeFile(path(name), packed(awkwardMatrix(), format));
      Entries back = readFile(path(name)).entries;
      EXPECT_EQ(back.dims, awkwardMatrix().dims);
      EXPECT_EQ(back.coords, awkwardMatrix().coords);
      EXPECT_EQ(bits(back.values), bits(awkwardMatrix().values)) << name << " " << format;
    }
}

TEST_F(IoWrite, RoundTripsOfTypesThroughTns) {
  std::vector<Scalar> scalars = {{1, 1.0}, {0, 0.5}, {1, -2.0}};
  for (int t = 0; t < 11; ++t) {
    ElementType type = ElementType(t);
    Entries entries;
    entries.type = type;
    entries.dims = {5, 1, 7};
    entries.coords = {{0, 1, 4}, {0, 0, 0}, {3, 3, 5}};
    entries.values.resize(3 * byteWidth(type));
    for (int k = 0; k < 3; ++k)
      storeScalar(type, entries.values.data() + k * byteWidth(type), scalars[size_t(k)]);
    writeFile(path("t.tns"), packed(entries, "COO"));
    Entries back = readFile(path("t.tns")).entries;
    EXPECT_EQ(back.type, type);
    EXPECT_EQ(back.dims, entries.dims);
    EXPECT_EQ(back.coords, entries.coords);
    EXPECT_EQ(back.values, entries.values) << name(type);
  }
}

TEST_F(IoWrite, NarrowFloatsKeepTheirValueThroughMtx) {
  std::vector<float> floats = {0.1f, 1.0f / 3, std::numeric_limits<float>::denorm_min()};
  writeFile(path("f.mtx"),
            packed(entriesOf<float>(ElementType::F32, {3, 3}, {{0, 1, 2}, {0, 1, 2}}, floats), "CSR"));
  Entries back = readFile(path("f.mtx")).entries;
  ASSERT_EQ(back.count(), 3);
  double stored[3];
  std::memcpy(stored, back.values.data(), sizeof stored);
  for (int k = 0; k < 3; ++k)
    EXPECT_EQ(stored[k], double(floats[size_t(k)]));
}

TEST_F(IoWrite, SpecialValues) {
  Entries entries =
      entriesOf<double>(ElementType::F64, {1, 3}, {{0, 0, 0}, {0, 1, 2}}, {NAN, INFINITY, -INFINITY});
  for (std::string name : {"s.mtx", "s.tns"}) {
    writeFile(path(name), packed(entries, "CSR"));
    Entries back = readFile(path(name)).entries;
    double stored[3];
    ASSERT_EQ(back.values.size(), sizeof stored);
    std::memcpy(stored, back.values.data(), sizeof stored);
    EXPECT_TRUE(std::isnan(stored[0]));
    EXPECT_EQ(stored[1], INFINITY);
    EXPECT_EQ(stored[2], -INFINITY);
  }
}

TEST_F(IoWrite, NpyOfEveryTypeAndOrder) {
  for (int t = 0; t < 11; ++t) {
    ElementType type = ElementType(t);
    for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {3}, {2, 3}, {2, 0, 3}, {2, 1, 3}}) {
      Tensor dense = makeDense(type, dims);
      for (int64_t k = 0; k < dense.storedCount(); ++k)
        storeScalar(type, static_cast<std::byte *>(dense.values()) + k * byteWidth(type),
                    {k % 2, double(k) - 1});
      if (type == ElementType::BF16) {
        EXPECT_THAT(errorOf([&] { writeFile(path("b.npy"), dense); }),
                    HasSubstr("NumPy has no bf16; convert the tensor to f32"));
        continue;
      }
      writeFile(path("a.npy"), dense);
      std::string bytes = load(path("a.npy"));
      EXPECT_EQ((bytes.size() - size_t(dense.storedCount()) * byteWidth(type)) % 64, 0u);
      Tensor back = readFile(path("a.npy")).stored;
      EXPECT_EQ(back.type, type);
      EXPECT_EQ(back.dims, dims);
      EXPECT_EQ(elements(back), elements(dense)) << name(type);
    }
  }
}

TEST_F(IoWrite, NpyHeaderText) {
  writeFile(path("a.npy"), makeDense(ElementType::F32, {2, 3}));
  EXPECT_EQ(load(path("a.npy")).substr(0, 71),
            std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  ");
}

TEST_F(IoWrite, DenseInOtherOrders) {
  Entries entries =
      entriesOf<double>(ElementType::F64, {2, 3}, {{0, 0, 1}, {0, 2, 1}}, {1, 2, 3}); // [1 0 2; 0 3 0]
  Tensor columnMajor = packed(entries, "(i,j) -> (j : dense, i : dense)");
  writeFile(path("a.npy"), columnMajor);
  EXPECT_EQ(elements(readFile(path("a.npy")).stored), (std::vector<std::complex<double>>{1, 0, 2, 0, 3, 0}));
  writeFile(path("a.mtx"), columnMajor);
  EXPECT_EQ(elements(readFile(path("a.mtx")).stored), (std::vector<std::complex<double>>{1, 0, 2, 0, 3, 0}));
  writeFile(path("a.tns"), columnMajor);
  EXPECT_EQ(values(readFile(path("a.tns")).entries), values(entries));
}

TEST_F(IoWrite, BlocksAreWrittenWithinTheDimensions) {
  Entries entries = entriesOf<double>(ElementType::F64, {3, 3}, {{2}, {2}}, {5});
  writeFile(path("b.mtx"), packed(entries, "BCSR(2,2)"));
  Entries back = readFile(path("b.mtx")).entries;
  EXPECT_EQ(back.dims, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(values(back), (Values{{{2, 2}, 5}}));
}

TEST_F(IoWrite, NothingStored) {
  Tensor empty = packed(entriesOf<double>(ElementType::F64, {4, 5}, {{}, {}}, {}), "CSR");
  for (std::string name : {"e.mtx", "e.tns", "e.mtx.gz"}) {
    writeFile(path(name), empty);
    Entries back = readFile(path(name)).entries;
    EXPECT_EQ(back.dims, (std::vector<int64_t>{4, 5})) << name;
    EXPECT_EQ(back.count(), 0);
  }
}

TEST_F(IoWrite, EqualTensorsGiveEqualGzipFiles) {
  writeFile(path("a.mtx.gz"), packed(awkwardMatrix(), "CSR"));
  writeFile(path("b.mtx.gz"), packed(awkwardMatrix(), "CSR"));
  EXPECT_EQ(load(path("a.mtx.gz")), load(path("b.mtx.gz")));
}

TEST_F(IoWrite, FailuresLeaveNothingBehind) {
  Tensor matrix = packed(awkwardMatrix(), "CSR");
  Tensor cube = makeDense(ElementType::F64, {2, 2, 2});
  std::filesystem::create_directory(folder / "folder.mtx");
  store("old.npy", "old contents");
  struct {
    std::string file;
    const Tensor &tensor;
    std::string reason;
  } refusals[] = {
      {path("a.txt"), matrix, "unknown file format; the name must end in .mtx, .tns"},
      {path("a.smtx"), matrix, "unknown file format"},
      {path("missing/a.mtx"), matrix, "cannot create a file in this folder: No such file or directory"},
      {path("folder.mtx"), matrix, "a directory has this name"},
      {path("cube.mtx"), cube,
       ".mtx files hold matrices, but the tensor has 3 dimensions; write .tns instead"},
      {path("old.npy"), matrix,
       ".npy files hold dense arrays, but the tensor is stored as CSR; write .mtx or convert it to dense"},
  };
  for (const auto &refusal : refusals) {
    std::string message = errorOf([&] { writeFile(refusal.file, refusal.tensor); });
    EXPECT_THAT(message, ::testing::StartsWith(refusal.file + ": error: "));
    EXPECT_THAT(message, HasSubstr(refusal.reason));
  }
  EXPECT_THAT(listing(), ::testing::UnorderedElementsAre("folder.mtx", "old.npy"));
  EXPECT_EQ(load(path("old.npy")), "old contents");
}

TEST_F(IoWrite, AFullDiskLeavesTheOldFile) {
  // A limit on file sizes fails a write as a full disk does.
  store("a.mtx", "old contents");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight{64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string plain = errorOf([&] { writeFile(path("a.mtx"), packed(awkwardMatrix(), "CSR")); });
  std::string gzip = errorOf([&] { writeFile(path("b.mtx.gz"), packed(awkwardMatrix(), "CSR")); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(plain, HasSubstr("a.mtx: error: cannot write the file: File too large"));
  EXPECT_THAT(gzip, HasSubstr("b.mtx.gz: error: cannot write the file: File too large"));
  EXPECT_THAT(listing(), ::testing::ElementsAre("a.mtx"));
  EXPECT_EQ(load(path("a.mtx")), "old contents");
}

TEST_F(IoWrite, ReplacesAnOlderFile) {
  store("a.mtx", "old contents that are longer than what replaces them "
                 "............................................................");
  writeFile(path("a.mtx"), packed(awkwardMatrix(), "CSR"));
  EXPECT_EQ(readFile(path("a.mtx")).entries.count(), 6);
  EXPECT_THAT(listing(), ::testing::ElementsAre("a.mtx"));
}

} // namespace
