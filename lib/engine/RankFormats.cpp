// Each format is a row of a table: what it stores of a matrix, and in how many loops; its time is a sum over
// these, with figures that were fitted to measurements.
#include "engine/RankFormats.h"
#include "engine/Conversion.h"
#include "support/Errors.h"
#include <algorithm>
#include <chrono>
#include <fmt/ranges.h>

namespace tulle::engine {
namespace {

/// Nanoseconds of one thread (experiment 058): of a product with a vector, and for each column of one with a
/// matrix.
struct Figures {
  struct Product {
    double slot;        ///< each value stored
    double loop;        ///< each row, or what the format's outer loop iterates over
    double complexSlot; ///< slot where values are complex numbers
  } vector, columns;
  double change = 0; ///< of a vector: an inner loop whose length is not that of the one before
};
constexpr Figures csr = {{0.21, 0.34, 0.70}, {0.027, 0.09, 0.245}, 0.26};
constexpr Figures dcsr = {{0.21, 0.54, 0.70}, {0.027, 0.15, 0.245}, 0.10};
constexpr Figures csc = {{0.33, 0.42, 0.48}, {0.059, 0.13, 0.183}};
constexpr Figures coo = {{0.44, 0.43, 0.97}, {0.035, 0.09, 0.25}};
constexpr Figures jds = {{0.46, 0.20, 0.63}, {0.106, 0.00, 0.30}};
constexpr Figures sell = {{0.25, 0.71, 0.65}, {0.058, 0.14, 0.19}};
constexpr Figures ell = {{0.29, 0.03, 0.70}, {0.050, 0.10, 0.20}};
constexpr Figures ellr = {{0.25, 0.94, 0.80}, {0.060, 0.10, 0.25}};
constexpr Figures dia = {{0.075, 90, 0.22}, {0.070, 90, 0.196}};
constexpr Figures buckets = {{0.32, 0.17, 0.50}, {0.030, 0.30, 0.245}};
constexpr Figures full = {{0.06, 1.00, 0.25}, {0.030, 0.10, 0.20}};
/// By the size of blocks; a loop is a row of blocks.
constexpr std::pair<int64_t, Figures> blocked[] = {{2, {{0.170, 0.95, 0.88}, {0.073, 0.06, 0.25}}},
                                                   {3, {{0.093, 0.98, 0.48}, {0.052, 0.04, 0.25}}},
                                                   {4, {{0.055, 1.20, 0.37}, {0.039, 0.00, 0.25}}},
                                                   {6, {{0.056, 2.50, 0.37}, {0.032, 0.00, 0.25}}},
                                                   {8, {{0.035, 1.70, 0.37}, {0.027, 0.00, 0.25}}}};

/// Loops whose lengths change are predicted up to this many, which processors remember from the run before;
/// each further one costs a misprediction.
constexpr double rememberedChanges = 8000, misprediction = 3.8;
/// Beyond what the second cache holds, each byte costs.
constexpr double cacheBytes = 1e6, farByte = 0.004;
/// Formats that store so many times the bytes of CSR are not suggested.
constexpr double mostBytes = 6;

/// What a format, or a part, does with a matrix.
struct Work {
  Figures figures;
  double slots = 0, loops = 0, changes = 0;
  double stored = 0; ///< bytes
};

class Ranking {
public:
  Ranking(const MatrixProfile &matrix, ElementType type, const ProductKernel &kernel)
      : m(matrix), type(type), kernel(kernel), width(byteWidth(type)), entries(double(m.entries)),
        rows(double(m.rows)) {}

  std::vector<Suggestion> run() {
    plainFormats();
    paddedFormats();
    decompositions();
    const double most = mostBytes * list.front().bytes;
    std::erase_if(list, [&](const Suggestion &s) { return s.bytes > most; });
    std::ranges::stable_sort(list, {}, &Suggestion::ns);
    return std::move(list);
  }

private:
  const MatrixProfile &m;
  const ElementType type;
  const ProductKernel kernel;
  const double width, entries, rows;
  std::vector<Suggestion> list;

  /// Bytes of values with a coordinate each, below positions or coordinates of loops.
  double compressed(double slots, double loops, double each = 4) const {
    return slots * (width + 4) + each * loops;
  }

  double timeOf(const Work &work) const {
    const bool isVector = kernel.columns == 1;
    const Figures::Product &product = isVector ? work.figures.vector : work.figures.columns;
    const double each = isComplex(type) ? product.complexSlot : product.slot;
    const double ns = double(kernel.columns) * (each * work.slots + product.loop * work.loops);
    return isVector ? ns + work.figures.change * work.changes +
                          misprediction * std::max(0.0, work.changes - rememberedChanges)
                    : ns;
  }

  void add(std::string format, std::string schedule, const std::vector<Work> &parts, std::string why) {
    Suggestion made{.format = std::move(format), .schedule = std::move(schedule), .why = std::move(why)};
    made.bytes = width * double(kernel.columns) * double(m.rows + m.columns);
    for (const Work &part : parts) {
      made.slots += part.slots;
      made.bytes += part.stored;
      made.ns += timeOf(part);
    }
    made.ns += farByte * std::max(0.0, made.bytes - cacheBytes);
    list.push_back(std::move(made));
  }

  void plainFormats() {
    const double filled = double(m.filledRows), changes = double(m.lengthChanges),
                 columns = double(m.columns);
    const std::string average = fmt::format("{:.3g} entries a row", entries / std::max(1.0, filled));
    add("CSR", "", {{csr, entries, filled, changes, compressed(entries, rows)}}, average + ", no padding");
    add("DCSR", "", {{dcsr, entries, filled, changes, compressed(entries, filled, 8)}},
        fmt::format("{:.3g}% of the rows are empty", 100 * (1 - filled / std::max(1.0, rows))));
    add("CSC", "", {{csc, entries, columns, changes, compressed(entries, columns)}},
        "no sum waits for the one before");
    add("COO", "", {{coo, entries, filled, changes, entries * (width + 8)}}, "one loop over all entries");
    add("JDS", "", {{jds, entries, rows, 0, compressed(entries, rows)}}, "long loops, no padding");
  }

  static std::string padding(double slots, double entries) {
    return fmt::format("{:.3g}% of what is stored is padding", 100 * (1 - entries / std::max(1.0, slots)));
  }

  void paddedFormats() {
    auto one = [&](std::string format, const Figures &figures, double slots, double loops, double stored,
                   const std::string &what) {
      add(std::move(format), "", {{figures, slots, loops, 0, stored}}, what + padding(slots, entries));
    };
    one("SELL(8,64)", sell, double(m.sellSlots), rows, compressed(double(m.sellSlots), rows), "");
    const double longest = rows * double(m.longestRow);
    one("ELL", ell, longest, rows, compressed(longest, 0), "");
    one("ELLR", ellr, longest, rows, compressed(longest, 0), "");
    const double diagonals = double(m.diagonals.size());
    one("DIA", dia, diagonals * rows, 1, diagonals * rows * width,
        fmt::format("{} diagonals, no coordinates; ", m.diagonals.size()));
    for (const auto &[size, figures] : blocked) {
      const double blocks = double(m.blocks.at(size)), slots = blocks * double(size * size);
      one(fmt::format("BCSR({0},{0})", size), figures, slots, rows / double(size),
          slots * width + 4 * blocks + 4 * rows / double(size),
          fmt::format("{:.3g} entries in a block; ", entries / std::max(1.0, blocks)));
    }
    one("dense", full, rows * double(m.columns), rows, rows * double(m.columns) * width, "no coordinates; ");
  }

  void decompositions() {
    double slots = 0, bucketRows = 0;
    for (size_t b = 0; b + 1 < m.bucketRows.size(); ++b) {
      slots += double(m.bucketEntries[b]);
      bucketRows += double(m.bucketRows[b]);
    }
    const double longEntries = double(m.bucketEntries.back()), longRows = double(m.bucketRows.back());
    add("CSR", "decompose(A, hyb(1,3))",
        {{buckets, slots, bucketRows, 0, compressed(slots, bucketRows)},
         {dcsr, longEntries, longRows, 0, compressed(longEntries, longRows, 8)}},
        fmt::format("{:.3g}% of the rows have at most 8 entries; in buckets their lengths are known",
                    100 * bucketRows / std::max(1.0, double(m.filledRows))));
    const std::vector<int64_t> &offsets = m.fullDiagonals;
    constexpr size_t mostOffsets = 32;
    if (offsets.empty() || offsets.size() > mostOffsets || offsets.size() == m.diagonals.size())
      return;
    const double stored = double(offsets.size()) * rows, inside = double(m.fullEntries),
                 others = entries - inside;
    add("CSR", fmt::format("decompose(A, [DIA @ j - i in {{{}}}, CSR @ rest])", fmt::join(offsets, ", ")),
        {{dia, stored, 1, 0, stored * width},
         {csr, others, rows, double(m.otherChanges), compressed(others, rows)}},
        fmt::format("{:.3g}% of the entries are on {} diagonals", 100 * inside / entries, offsets.size()));
  }
};

} // namespace

std::vector<Suggestion> suggest(const MatrixProfile &matrix, ElementType type, const ProductKernel &kernel) {
  return Ranking(matrix, type, kernel).run();
}

double measure(const Suggestion &suggestion, const runtime::Entries &matrix, const ProductKernel &kernel,
               const Options &options) {
  const runtime::Tensor A = store(matrix, format::parseFormat(suggestion.format, 2), options);
  const bool one = kernel.columns == 1;
  std::vector<int64_t> sizes = {matrix.dims[1]};
  if (!one)
    sizes.push_back(kernel.columns);
  const runtime::Tensor x = runtime::makeDense(matrix.type, sizes);
  notation::Program program = notation::check(one ? "y(i) = A(i,j) * x(j)" : "Y(i,k) = A(i,j) * x(j,k)",
                                              {{"A", {A.type, A.dims, A.encoding, true, A.storedCount()}},
                                               {"x", {x.type, x.dims, x.encoding, true}}});
  notation::applySchedule(program, suggestion.schedule, strategyNames());
  notation::resolveWidths(program);
  const auto executable = compile(program, options);
  std::vector<std::optional<runtime::Tensor>> tensors(program.tensors.size());
  for (size_t t = 0; t < tensors.size(); ++t)
    if (program.tensors[t].name == "A" || program.tensors[t].name == "x")
      tensors[t] = program.tensors[t].name == "A" ? A : x;
  RunReport report;
  double best = 0;
  constexpr auto most = std::chrono::milliseconds(60);
  const auto begin = std::chrono::steady_clock::now();
  for (int run = 0; run < 10 || (run < 1000 && std::chrono::steady_clock::now() - begin < most); ++run) {
    executable->run(tensors, &report);
    best = run == 0 ? report.computeMs : std::min(best, report.computeMs);
  }
  return 1e6 * best;
}

} // namespace tulle::engine
