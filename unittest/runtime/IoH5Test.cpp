// Binsparse .h5: round trips, the features of the specification that we read but do not write, and files that
// lie.
#include "Model.h"
#include "engine/Conversion.h"
#include "io_support.h"
#include <fmt/format.h>
#include <hdf5.h>

using namespace tulle;
using namespace tulle::runtime;
using namespace tulle::runtime::test;
using ::testing::HasSubstr;
using tulle::runtime::testing::makeEntries;

namespace {

using IoH5 = FolderTest;

/// A dataset in the making: elements of `memory`'s type, stored as `stored`.
struct Data {
  hid_t stored, memory;
  std::string bytes;
  int64_t count;
};
template <typename T> Data data(hid_t stored, hid_t memory, std::vector<T> list) {
  return {stored, memory, std::string(reinterpret_cast<const char *>(list.data()), list.size() * sizeof(T)),
          int64_t(list.size())};
}
Data index(std::vector<int64_t> list) { return data(H5T_STD_U64LE, H5T_NATIVE_UINT64, list); }
Data reals(std::vector<double> list) { return data(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, list); }

using Sets = std::map<std::string, Data>;

/// Writes a file with the library itself, not with our writer.
std::string h5(const std::string &path, const std::string &json, const Sets &sets) {
  hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (const auto &[name, data] : sets) {
    hsize_t extent = hsize_t(data.count);
    hid_t space = H5Screate_simple(1, &extent, nullptr);
    hid_t set = H5Dcreate2(file, name.c_str(), data.stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data.count)
      H5Dwrite(set, data.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.bytes.data());
    H5Dclose(set);
    H5Sclose(space);
  }
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, H5T_VARIABLE);
  hid_t attribute = H5Acreate2(file, "binsparse", type, space, H5P_DEFAULT, H5P_DEFAULT);
  const char *text = json.c_str();
  H5Awrite(attribute, type, &text);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
  return path;
}

std::string describe(const std::string &format, const std::string &shape, const std::string &more = "",
                     const std::string &type = "float64") {
  return R"({"binsparse": {"version": "0.1", "format": ")" + format + R"(", "shape": )" + shape +
         R"(, "data_types": {"values": ")" + type + R"("})" + more + "}}";
}

/// [ 1 2 0 ; 0 0 3 ]
Sets csr() {
  return {{"pointers_to_1", index({0, 2, 3})}, {"indices_1", index({0, 1, 2})}, {"values", reals({1, 2, 3})}};
}
const Values csrValues = {{{0, 0}, 1.0}, {{0, 1}, 2.0}, {{1, 2}, 3.0}};

TEST_F(IoH5, EveryFormatOfTheSpecification) {
  struct Format {
    std::string name, shape, suggested;
    Sets sets;
    Values want;
  };
  const Sets coordinates = {
      {"indices_0", index({0, 0, 1})}, {"indices_1", index({0, 1, 2})}, {"values", reals({1, 2, 3})}};
  Sets doubly = csr();
  doubly["indices_0"] = index({1, 4});
  const Format formats[] = {
      {"CSR", "[2, 3]", "CSR", csr(), csrValues},
      {"CSC", "[3, 2]", "CSC", csr(), {{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{2, 1}, 3.0}}},
      {"DCSR", "[6, 3]", "DCSR", doubly, {{{1, 0}, 1.0}, {{1, 1}, 2.0}, {{4, 2}, 3.0}}},
      {"DCSC", "[3, 6]", "DCSC", doubly, {{{0, 1}, 1.0}, {{1, 1}, 2.0}, {{2, 4}, 3.0}}},
      {"COO", "[2, 3]", "COO", coordinates, csrValues},
      {"COOR", "[2, 3]", "COO", coordinates, csrValues},
      // The columns come first in COOC.
      {"COOC", "[3, 2]", "COO", coordinates, {{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{2, 1}, 3.0}}},
      {"CVEC",
       "[9]",
       "(i) -> (i : compressed)",
       {{"indices_0", index({2, 7})}, {"values", reals({5, 6})}},
       {{{2}, 5.0}, {{7}, 6.0}}},
      {"DVEC", "[2]", "dense", {{"values", reals({5, 6})}}, {{{0}, 5.0}, {{1}, 6.0}}},
      {"DMATR",
       "[2, 2]",
       "dense",
       {{"values", reals({1, 2, 3, 4})}},
       {{{0, 0}, 1.0}, {{0, 1}, 2.0}, {{1, 0}, 3.0}, {{1, 1}, 4.0}}},
      {"DMATC",
       "[2, 2]",
       "denseColMajor",
       {{"values", reals({1, 2, 3, 4})}},
       {{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{0, 1}, 3.0}, {{1, 1}, 4.0}}},
  };
  for (const Format &format : formats) {
    SCOPED_TRACE(format.name);
    FileContents contents = readFile(h5(path("a.h5"), describe(format.name, format.shape), format.sets));
    EXPECT_EQ(contents.suggested, format.suggested);
    EXPECT_EQ(valuesOf(contents), format.want);
    if (contents.isStored)
      validate(contents.stored);
    // The same bytes in memory, as a decompressed file is read.
    EXPECT_EQ(valuesOf(parseFile(load(path("a.h5")), "a.h5")), format.want);
  }
}

TEST_F(IoH5, TypesAndIsoAndComplex) {
  Sets sets = csr();
  sets["values"] = reals({7});
  EXPECT_EQ(valuesOf(readFile(h5(path("a.h5"), describe("CSR", "[2, 3]", "", "iso[float64]"), sets))),
            (Values{{{0, 0}, 7.0}, {{0, 1}, 7.0}, {{1, 2}, 7.0}}));
  sets["values"] = reals({1, 2, 3, 4, 5, 6});
  FileContents complex = readFile(h5(path("b.h5"), describe("CSR", "[2, 3]", "", "complex[float64]"), sets));
  EXPECT_EQ(complex.type(), ElementType::C128);
  EXPECT_EQ(valuesOf(complex).at({0, 1}), std::complex<double>(3, 4));
  sets["values"] = data<uint8_t>(H5T_STD_U8LE, H5T_NATIVE_UINT8, {1, 0, 1});
  EXPECT_EQ(readFile(h5(path("c.h5"), describe("CSR", "[2, 3]", "", "bint8"), sets)).type(),
            ElementType::Bool);
  EXPECT_EQ(readFile(h5(path("d.h5"), describe("CSR", "[2, 3]", "", "uint8"), sets)).type(),
            ElementType::I16);
  // Big-endian and narrow index arrays.
  sets = csr();
  sets["indices_1"] = data<int16_t>(H5T_STD_I16BE, H5T_NATIVE_INT16, {0, 1, 2});
  sets["values"] = data<float>(H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, {1, 2, 3});
  FileContents big = readFile(h5(path("e.h5"), describe("CSR", "[2, 3]", "", "float32"), sets));
  EXPECT_EQ(big.type(), ElementType::F32);
  EXPECT_EQ(valuesOf(big), csrValues);
}

TEST_F(IoH5, StructuresGiveTheOtherTriangle) {
  // The example of the specification: symmetric_lower, 5 x 5.
  Sets sets = {{"pointers_to_1", index({0, 1, 3, 5, 7, 9})},
               {"indices_1", index({0, 0, 1, 0, 2, 1, 3, 2, 4})},
               {"values", reals({1, 2, 9, 7, 2, 2, 3, 3, 7})}};
  auto read = [&](const std::string &structure) {
    return valuesOf(readFile(
        h5(path("a.h5"), describe("CSR", "[5, 5]", R"(, "structure": ")" + structure + "\""), sets)));
  };
  Values symmetric = read("symmetric_lower");
  EXPECT_EQ(symmetric.size(), 13u);
  EXPECT_EQ(symmetric.at({0, 2}), 7.0);
  EXPECT_EQ(symmetric.at({2, 0}), 7.0);
  EXPECT_EQ(symmetric.at({1, 1}), 9.0);
  EXPECT_EQ(read("skew_symmetric_lower").at({0, 2}), -7.0);
  EXPECT_THAT(errorOf([&] { read("symmetric_upper"); }), HasSubstr("entry (1, 0) lies outside the triangle"));
  EXPECT_THAT(errorOf([&] { read("odd"); }), HasSubstr("the structure 'odd' is unknown"));
}

TEST_F(IoH5, RoundTripOfEveryFormat) {
  Entries entries;
  entries.dims = {4, 6};
  entries.coords = {{0, 0, 1, 3, 3}, {0, 5, 2, 1, 3}};
  const double list[] = {1.5, -2, 0, 4, 5e-324};
  entries.values.resize(sizeof list);
  std::memcpy(entries.values.data(), list, sizeof list);
  for (std::string form : {"CSR", "CSC", "DCSR", "DCSC", "COO", "dense", "denseColMajor",
                           "map = (i,j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 8"}) {
    SCOPED_TRACE(form);
    Tensor tensor = engine::store(entries, format::parseFormat(form, 2));
    EXPECT_EQ(writeFile(path("a.h5"), tensor), "");
    FileContents back = readFile(path("a.h5"));
    EXPECT_EQ(back.suggested, form.starts_with("map") ? "CSR" : form);
    EXPECT_EQ(valuesOf(back), values(unpack(tensor)));
    if (back.isStored)
      validate(back.stored);
  }
  Tensor blocks = engine::store(entries, format::parseFormat("BCSR(3,4)", 2));
  EXPECT_THAT(writeFile(path("b.h5"), blocks),
              HasSubstr("binsparse has no BCSR(3,4); the entries are written as COO"));
  EXPECT_EQ(valuesOf(readFile(path("b.h5"))), values(unpack(blocks)));
  // Entries in columns come back in rows: the specification wants COO sorted.
  Tensor columns =
      engine::store(entries, format::parseFormat("(i,j) -> (j : compressed(nonunique), i : singleton)", 2));
  writeFile(path("c.h5"), columns);
  EXPECT_EQ(readFile(path("c.h5")).entries.coords, entries.coords);
  writeFile(path("d.h5"), columns);
  EXPECT_EQ(load(path("c.h5")), load(path("d.h5"))) << "equal tensors give equal files";
}

TEST_F(IoH5, LevelsOfTheSpecification) {
  // B of 2 x 3 x 4 = [ . b ; a ] in its outer two dimensions, a = (0: 1, 3: 2), b = (1: 3); A is B with the
  // last dimension first.
  const std::string custom =
      R"(, "custom": {"transpose": [1, 2, 0], "level": {"level_desc": "dense", "rank": 1,
    "level": {"level_desc": "sparse", "rank": 1, "level": {"level_desc": "sparse", "rank": 1, "level": {"level_desc": "element"}}}}})";
  const Sets sets = {{"pointers_to_1", index({0, 1, 2})},
                     {"indices_1", index({1, 0})},
                     {"pointers_to_2", index({0, 1, 3})},
                     {"indices_2", index({1, 0, 3})},
                     {"values", reals({3, 1, 2})}};
  FileContents contents = readFile(h5(path("a.h5"), describe("custom", "[4, 2, 3]", custom), sets));
  EXPECT_EQ(contents.suggested, "map = (i, j, k) -> (j : dense, k : compressed, i : compressed)");
  ASSERT_TRUE(contents.isStored);
  EXPECT_EQ(valuesOf(contents), (Values{{{1, 0, 1}, 3.0}, {{0, 1, 0}, 1.0}, {{3, 1, 0}, 2.0}}));
  // A list of coordinates: the root has no pointers.
  const std::string list =
      R"(, "custom": {"level": {"level_desc": "sparse", "rank": 3, "level": {"level_desc": "element"}}})";
  contents = readFile(h5(path("b.h5"), describe("custom", "[2, 3, 4]", list),
                         {{"indices_0", index({0, 1})},
                          {"indices_1", index({2, 0})},
                          {"indices_2", index({3, 3})},
                          {"values", reals({5, 6})}}));
  EXPECT_EQ(contents.suggested, "COO-soa");
  EXPECT_EQ(valuesOf(contents), (Values{{{0, 2, 3}, 5.0}, {{1, 0, 3}, 6.0}}));
}

TEST_F(IoH5, RoundTripOfLevels) {
  Entries entries = makeEntries({3, 4, 5}, {{{0, 1, 2}, 1}, {{0, 1, 4}, 2}, {{2, 0, 0}, 3}, {{2, 3, 1}, 4}});
  for (std::string form :
       {"CSF", "CSF(2,0,1)", "COO", "COO-soa", "dense", "(i,j,k) -> (i : dense, j : compressed, k : dense)",
        "(i,j,k) -> (k : compressed, i : compressed(nonunique), j : singleton)"}) {
    SCOPED_TRACE(form);
    Tensor tensor = engine::store(entries, format::parseFormat(form, 3));
    EXPECT_EQ(writeFile(path("a.h5"), tensor), "");
    FileContents back = readFile(path("a.h5"));
    EXPECT_EQ(valuesOf(back), values(unpack(tensor)));
    ASSERT_TRUE(back.isStored);
    validate(back.stored);
    Tensor again = engine::convert(back.stored, tensor.encoding);
    EXPECT_EQ(printStorage(again), printStorage(tensor));
  }
  Tensor hashed = engine::store(entries, format::parseFormat("DOK", 3));
  EXPECT_THAT(writeFile(path("b.h5"), hashed),
              HasSubstr("binsparse has no DOK; the entries are written as COO"));
  EXPECT_EQ(valuesOf(readFile(path("b.h5"))), values(entries));
}

TEST_F(IoH5, EveryElementType) {
  for (ElementType type :
       {ElementType::Bool, ElementType::I8, ElementType::I16, ElementType::I32, ElementType::I64,
        ElementType::F32, ElementType::F64, ElementType::C64, ElementType::C128}) {
    Entries entries;
    entries.type = type;
    entries.dims = {5};
    entries.coords = {{1, 4}};
    entries.values.resize(2 * byteWidth(type));
    storeScalar(type, entries.values.data(), {1, {1, isComplex(type) ? -2.0 : 0.0}});
    storeScalar(type, entries.values.data() + byteWidth(type), {1, {1, 0}});
    writeFile(path("a.h5"), engine::store(entries, format::parseFormat("(i) -> (i : compressed)", 1)));
    FileContents back = readFile(path("a.h5"));
    EXPECT_EQ(back.type(), type) << name(type);
    EXPECT_EQ(valuesOf(back), values(entries)) << name(type);
  }
  EXPECT_THAT(errorOf([&] { writeFile(path("b.h5"), makeDense(ElementType::BF16, {2})); }),
              HasSubstr("has no bf16; convert the tensor to f32"));
}

TEST_F(IoH5, WhatIsWrongIsNamed) {
  struct Refusal {
    std::string json;
    Sets sets;
    std::string message;
  };
  auto with = [](const std::string &name, Data data) {
    Sets sets = csr();
    sets[name] = data;
    return sets;
  };
  Sets missing = csr();
  missing.erase("indices_1");
  const std::string element = R"({"level_desc": "element"})",
                    sparse = R"({"level_desc": "sparse", "rank": 1, "level": )" + element + "}";
  auto dense = [](int rank, const std::string &level) {
    return fmt::format(R"({{"level_desc": "dense", "rank": {}, "level": {}}})", rank, level);
  };
  auto levels = [](const std::string &shape, const std::string &level,
                   const std::string &more = R"("transpose": null)") {
    return describe("custom", shape, fmt::format(R"(, "custom": {{"level": {}, {}}})", level, more));
  };
  const std::string good = describe("CSR", "[2, 3]");
  const Refusal refusals[] = {
      {"no json", csr(), "holds no JSON object: 'no json'"},
      {R"({"binsparse": 3})", csr(), "holds no JSON object"},
      {R"({"binsparse": {"format": "CSR"}})", csr(), "lacks 'shape', a list of sizes"},
      {describe("CSR", "[2, -3]"), csr(), "'shape' holds -3"},
      {describe("CSR", "[2, 9223372036854775807]"), csr(), "'shape' holds 9223372036854775807"},
      {describe("CSR", "[2]"), csr(), "'shape' has 1 sizes, expected 2"},
      {describe("XYZ", "[2, 3]"), csr(), "the format 'XYZ' is not read; CSR, CSC"},
      {good, missing, "the dataset 'indices_1' is missing"},
      {good, with("pointers_to_1", index({0, 3, 2})), "'pointers_to_1'[2] is 2, less than the 3"},
      {good, with("indices_1", index({0, 1, 3})), "'indices_1'[2] is 3, outside 0 to 2"},
      {good, with("indices_1", index({0, -1, 2})), "the dataset 'indices_1' [1] is 18446744073709551615"},
      {good, with("values", reals({1})), "'values' has 1 elements, but 'pointers_to_1' ends at 3"},
      {describe("CSR", "[2, 3]", "", "iso[float64]"), csr(), "expected 1, since the type says iso"},
      {describe("CSR", "[2, 3]", R"(, "number_of_stored_values": 4)"), csr(), "is 4, but the arrays hold 3"},
      {describe("DMATR", "[4611686018427387904, 4]"), csr(), "out of memory"},
      {describe("custom", "[2, 3]"), csr(), "lacks 'custom'"},
      {levels("[2, 3]", R"({"level_desc": "dense", "rank": 2})"), csr(), "a level of 'custom' lacks 'level'"},
      {levels("[2, 3]", dense(1, element)), csr(), "have 1 dimensions, but 'shape' has 2"},
      {levels("[2, 3]", dense(3, element)), csr(),
       "the rank of a level of 'custom' is 3; 2 dimensions are left"},
      {levels("[2, 3]", R"({"level_desc": "round", "rank": 1})"), csr(),
       "the level 'round' of 'custom' is unknown"},
      {levels("[2, 3]", dense(2, element), R"("transpose": [0, 0])"), csr(),
       "'transpose' is [0,0], expected each of 0 to 1"},
      {levels("[2, 3]", dense(1, sparse)), with("pointers_to_1", index({0, 2, 9})),
       "'pointers_to_1' holds 9, outside 0 to 3"},
      {levels("[2, 3]", dense(1, sparse)), with("pointers_to_1", index({0, 3})), "pos[1]"},
      {levels("[2, 3]", dense(1, sparse)), with("indices_1", index({1, 0, 2})), "crd[1]"},
      {levels("[2, 3]", dense(1, sparse)), with("indices_1", index({0, 1, 7})),
       "'indices_1'[2] is 7, outside 0 to 2"},
      {levels("[2, 3]", dense(1, sparse)), with("values", reals({1})), "values"},
      {describe("CSR", "[2, 3]", R"(, "fill": true)"), with("fill_value", reals({1})),
       "'fill_value' is not 0"},
  };
  for (const Refusal &refusal : refusals) {
    SCOPED_TRACE(refusal.message);
    EXPECT_THAT(errorOf([&] { readFile(h5(path("a.h5"), refusal.json, refusal.sets)); }),
                HasSubstr(refusal.message));
  }
  EXPECT_THAT(errorOf([&] { readFile(store("b.h5", "not HDF5")); }),
              HasSubstr("b.h5: error: not a whole HDF5 file"));
}

TEST_F(IoH5, DamagedFiles) {
  const std::string whole = load(h5(path("a.h5"), describe("CSR", "[2, 3]"), csr()));
  for (size_t cut = 0; cut < whole.size(); cut += 61)
    errorOf([&] { parseFile(std::string_view(whole).substr(0, cut), "cut.h5"); });
  for (size_t at = 0; at < whole.size(); at += 23) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 0x55);
    try {
      valuesOf(parseFile(changed, "changed.h5"));
    } catch (const Error &error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

TEST_F(IoH5, NothingIsLeftBehind) {
  Entries cube;
  cube.dims.assign(17, 2);
  cube.coords.assign(17, {1});
  cube.values.resize(8);
  Tensor tensor = engine::store(cube, format::parseFormat("CSF", 17));
  EXPECT_THAT(errorOf([&] { writeFile(path("a.h5"), tensor); }), HasSubstr("write .tns instead"));
  EXPECT_THAT(errorOf([&] { writeFile(path("a.h5.gz"), tensor); }), HasSubstr("leave .gz out"));
  EXPECT_THAT(errorOf([&] { writeFile(path("none/a.h5"), makeDense(ElementType::F64, {2})); }),
              HasSubstr("cannot create a file in this folder"));
  EXPECT_TRUE(listing().empty());
}

} // namespace
