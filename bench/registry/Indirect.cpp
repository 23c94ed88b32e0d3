// The rows of subscripts that tensors give, of tensors one behind the other, and of rows of any
// lengths: all in single precision.
#include "Kernel.h"
#include <fmt/format.h>

namespace tulle::bench {

static Target over(double ratio, const char *peer) { return {.mean = ratio, .peer = peer}; }

/// The same targets with one thread and with several.
static void push(std::vector<Kernel> &list, Kernel kernel) {
  kernel.name += " f32";
  kernel.type = ElementType::F32;
  kernel.wantThreads = kernel.want;
  list.push_back(std::move(kernel));
}

static void pushJoined(std::vector<Kernel> &list) {
  struct Join {
    const char *name, *text;
    Op op;
  };
  for (const Join &join : {Join{"hstack", "C(i,j) = concat(A, B; 1)", Op::HStack},
                           {"vstack", "C(i,j) = concat(A, B; 0)", Op::VStack},
                           {"block_diag", "C(i,j) = concat(A, B; 0, 1)", Op::BlockDiagonal}})
    push(list, {.group = "indirect",
                .name = join.name,
                .text = join.text,
                .op = join.op,
                .format = "CSR",
                .target = "CSR",
                .inputs = {"uniform:1000000:1000000:8", "rmat:17:16"},
                .want = {over(3, "SciPy"), over(0.8, kRoofline)}});
}

/// Gathers and scatters, of elements and of rows, with one integer a row of the input.
static void pushSubscripts(std::vector<Kernel> &list) {
  const std::string elements = "uniform:2097152:131072:1", rows = "uniform:524288:131072:1";
  const std::vector<Target> gather = {over(0.9, "loop"), over(1.5, "NumPy")},
                            scatter = {over(1, "loop"), over(10, "NumPy")};
  push(list, {.group = "indirect",
              .name = "gather",
              .text = "y(i) = x(s(i))",
              .op = Op::Gather,
              .format = "COO-soa",
              .inputs = {elements, "sorted:" + elements}});
  push(list, {.group = "indirect",
              .name = "gather rows 64",
              .text = "Y(i,k) = X(s(i),k)",
              .op = Op::Gather,
              .format = "COO-soa",
              .n = 64,
              .inputs = {rows, "sorted:" + rows},
              .want = gather});
  push(list, {.group = "indirect",
              .name = "scatter-add",
              .text = "z(s(i)) = y(i)",
              .op = Op::Scatter,
              .format = "COO-soa",
              .inputs = {elements},
              .want = scatter});
  push(list, {.group = "indirect",
              .name = "scatter-add rows 64",
              .text = "Z(s(i),k) = Y(i,k)",
              .op = Op::Scatter,
              .format = "COO-soa",
              .n = 64,
              .inputs = {rows},
              .want = scatter});
  push(list, {.group = "indirect",
              .name = "messages 64",
              .text = "Z(d(e),k) = w(e) * X(s(e),k)",
              .op = Op::Messages,
              .format = "COO shuffled",
              .n = 64,
              .inputs = {"rmat:17:16"},
              .want = {over(2, kUnfused)},
              .apart = "G(e,k) = X(s(e),k); M(e,k) = w(e) * G(e,k); Z(d(e),k) = M(e,k)"});
}

/// Rows of any lengths: reductions and what is computed element by element.
static void pushRows(std::vector<Kernel> &list) {
  auto add = [&](const char *name, const char *text, Op op, std::map<std::string, std::string> formats) {
    push(list, {.group = "indirect",
                .name = name,
                .text = text,
                .op = op,
                .format = "ragged",
                .inputs = {"rows:100000:1:99"},
                .want = {over(2, kAwkward)},
                .formats = std::move(formats)});
  };
  add("sums of rows", "y(i) = A(i,j)", Op::RowSums, {});
  add("maxima of rows", "y(i) max= A(i,j)", Op::RowMaxima, {});
  add("squares in rows", "B(i,j) = A(i,j) * A(i,j) + A(i,j)", Op::RowSquares, {{"B", "like A"}});
}

/// A product that is read as a vector, in tiles of it: with memory for one tile, against the product as a
/// whole.
static void pushTiles(std::vector<Kernel> &list) {
  for (int64_t size : {64, 5})
    push(list, {.group = "indirect",
                .name = fmt::format("tiles of {}", size),
                .text = "C(i,j) = A(i,k) * B(k,j); v(l) = C(l / 64, l % 64) - x(l)",
                .op = Op::Collapsed,
                .format = "dense",
                .n = 64,
                .inputs = {"uniform:42:32:32", "uniform:4200:32:32"},
                .want = {over(0.95, kUnfused)},
                .schedule = fmt::format("v: split(l, l0, l1, {}); compute_at(C, l0)", size)});
}

static void pushConvolutions(std::vector<Kernel> &list) {
  const std::string text = "O(o,c) = X(t(o,r) else 0, d) * W(r,d,c)";
  auto add = [&](const char *name, int64_t channels, const char *input, std::vector<Target> want) {
    push(list, {.group = "indirect",
                .name = name,
                .text = text,
                .op = Op::Convolution,
                .format = "CSR",
                .n = channels,
                .inputs = {input},
                .want = std::move(want)});
  };
  add("convolution 64", 64, "pixels:56:56", {over(0.8, kIm2col)});
  add("convolution 128", 128, "pixels:28:28", {over(0.8, kIm2col)});
  add("strided convolution 64", 64, "pixels:56:56:3:2", {over(1, kIm2col)});
  add("strided convolution 128", 128, "pixels:28:28:3:2", {over(1, kIm2col)});
  add("1x1 convolution 64", 64, "pixels:56:56:1:1", {over(1, kIm2col)});
  add("1x1 convolution 128", 128, "pixels:28:28:1:1", {over(1, kIm2col)});
  add("voxel convolution 32", 32, "voxels:128:80", {over(3, "NumPy"), over(0.9, "loop")});
}

std::vector<Kernel> indirect() {
  std::vector<Kernel> list;
  pushSubscripts(list);
  pushJoined(list);
  pushConvolutions(list);
  pushRows(list);
  pushTiles(list);
  return list;
}

} // namespace tulle::bench
