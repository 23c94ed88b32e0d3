#include "ScheduleTexts.h"
#include "Schedules.h"
#include "engine/Engine.h"
#include "notation/Sparsity.h"
#include "support/Errors.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex>

namespace tulle::differential {
namespace {

using Texts = std::vector<std::string>;

//===--- Programs ---===//

struct InputChoice {
  std::string name, dims; ///< a letter for each size
  Texts formats;
  bool ragged = false;
};
struct ResultRow {
  std::string name, dims;
  Texts formats; ///< "like A": in the structure of A
};
struct ProgramRow {
  Texts statements;
  std::vector<InputChoice> inputs;
  std::vector<ResultRow> results;
  unsigned rounds = 0; ///< of a loop around all statements; 0: none
};

const Texts matrix{"CSR", "CSR", "CSC", "DCSR", "COO", "ELL", "BCSR(2,2)", "dense"}, rows{"CSR", "DCSR"},
    dense{"dense"};

const std::vector<ProgramRow> &programs() {
  static const std::vector<ProgramRow> all{
      {{"y(i) = A(i,j) * x(j)"},
       {{"A", "nm", {"CSR", "CSC", "COO", "DIA", "ELL", "dense"}}, {"x", "m", dense}},
       {{"y", "n", dense}}},
      {{"Y(i,r) = A(i,j) * X(j,r)"}, {{"A", "nm", matrix}, {"X", "mk", dense}}, {{"Y", "nk", dense}}},
      {{"m(i) max= A(i,j) where A", "e(i,j) = exp(A(i,j) - m(i)) where A", "d(i) = e(i,j)",
        "p(i,j) = e(i,j) / d(i)"},
       {{"A", "nm", rows}},
       {{"m", "n", dense}, {"e", "nm", {"like A"}}, {"d", "n", dense}, {"p", "nm", {"like A"}}}},
      {{"S(i,j) = A(i,j) * X(i,k) * Y(j,k)", "Z(i,k) = S(i,j) * Y(j,k)"},
       {{"A", "nm", rows}, {"X", "nk", dense}, {"Y", "mk", dense}},
       {{"S", "nm", {"like A", "dense"}}, {"Z", "nk", dense}}},
      {{"C(i,j) = A(i,k) * A(k,j)"},
       {{"A", "nn", {"CSR", "CSR", "DCSR", "COO"}}},
       {{"C", "nn", {"CSR", "CSR", "DCSR", "COO", "dense"}}}},
      {{"D(i,l) = A(i,j) * B(j,k) * C(k,l)"},
       {{"A", "nm", rows}, {"B", "mk", rows}, {"C", "kn", {"CSR", "dense"}}},
       {{"D", "nn", {"CSR", "dense"}}}},
      {{"w(i,k) = A(i,j) * B(j,k)", "D(i,l) = w(i,k) * C(k,l)"},
       {{"A", "nm", rows}, {"B", "mk", rows}, {"C", "kn", {"CSR", "dense"}}},
       {{"w", "nk", {"CSR", "CSR", "dense"}}, {"D", "nn", {"CSR", "dense"}}}},
      {{"t(i) = A(i,j) * x(j)", "y(i) = t(i) * 2 + b(i)", "z(i) = t(i) - y(i)"},
       {{"A", "nm", matrix}, {"x", "m", dense}, {"b", "n", dense}},
       {{"t", "n", dense}, {"y", "n", dense}, {"z", "n", dense}}},
      {{"C(i,j) = A(i,j) * B(i,j)", "s = C(i,j)"},
       {{"A", "nm", matrix}, {"B", "nm", rows}},
       {{"C", "nm", {"CSR", "DCSR", "dense"}}, {"s", "", dense}}},
      {{"C(i,j) = A(i,j) + B(i,j)"},
       {{"A", "nm", matrix}, {"B", "nm", rows}},
       {{"C", "nm", {"CSR", "DCSR", "dense"}}}},
      {{"Y(b,t,h) = X(b,t,k) * W(k,h)"},
       {{"X", "nmk", {"ragged", "dense"}, true}, {"W", "kn", dense}},
       {{"Y", "nmn", {"ragged", "dense"}}}},
      {{"C(i,j,k) = A(i,j,l) * B(i,l,k)"},
       {{"A", "nmm", {"ragged"}, true}, {"B", "nmm", {"ragged"}, true}},
       {{"C", "nmm", {"ragged", "dense"}}}},
      {{"q(i) = A(i,j) * p(j)", "s = p(i) * q(i)", "p(i) = p(i) / 2 + q(i) / 8"},
       {{"A", "nn", matrix}, {"p", "n", dense}},
       {{"q", "n", dense}, {"s", "", dense}},
       3},
      {{"Y(i,r) = T(i,j,k) * B(j,r) * C(k,r)"},
       {{"T", "nmk", {"CSF", "COO", "dense"}}, {"B", "mn", dense}, {"C", "kn", dense}},
       {{"Y", "nn", dense}}},
      {{"C(i,j) = A(i,k) * B(k,j)", "v(l) = C(l / {q}, l % {q}) - x(l)"},
       {{"A", "nk", matrix}, {"B", "kq", dense}, {"x", "p", dense}},
       {{"C", "nq", dense}, {"v", "p", dense}}},
      {{"u(l) = A(l,k) * x(k)", "B(i,j) = u({q}*i + j) * 2"},
       {{"A", "pk", matrix}, {"x", "k", dense}},
       {{"u", "p", dense}, {"B", "nq", dense}}},
  };
  return all;
}

Given dataOf(const InputChoice &input, ElementType type, const std::map<char, int64_t> &sizes,
             Random &random) {
  Given given;
  given.type = type;
  for (char letter : input.dims)
    given.dims.push_back(sizes.at(letter));
  given.format = random.pick(input.formats);
  int64_t points = 1;
  for (int64_t size : given.dims)
    points *= size;
  const double density = given.format == "dense" ? 1 : random.pick<double>({0, 0.1, 0.3, 0.3, 0.6, 1});
  for (int64_t p = 0; p < points; ++p) {
    if (!random.chance(density))
      continue;
    std::vector<int64_t> at(given.dims.size());
    int64_t rest = p;
    for (size_t d = at.size(); d-- > 0; rest /= given.dims[d])
      at[d] = rest % given.dims[d];
    given.entries.push_back(std::move(at));
    Scalar value;
    value.i = random.below(33) - 16;
    value.f = double(value.i) / 8;
    given.values.push_back(value);
  }
  return given;
}

/// Lengths of all dimensions but the first, the same for all inputs.
void makeRagged(Given &given, Random &random) {
  given.lengths.resize(given.dims.size());
  for (size_t d = 1; d < given.dims.size(); ++d)
    for (int64_t i = 0; i < given.dims[0]; ++i)
      given.lengths[d].push_back(random.below(given.dims[d] + 1));
}

Case drawProgram(Random &random) {
  const ProgramRow &row = random.pick(programs());
  std::map<char, int64_t> sizes;
  for (char letter : {'n', 'm', 'k'})
    sizes[letter] = random.chance(0.1) ? random.below(2) : 2 + random.below(8);
  Case made;
  made.seed = uint64_t(random.below(24)); // intermediate tensors that are results, and options
  sizes['q'] = sizes['m'] + 1;            // of a dimension that digits are of, and of all of its digits
  sizes['p'] = sizes['n'] * sizes['q'];
  for (const std::string &written : row.statements) {
    const std::string text = std::regex_replace(written, std::regex("\\{q\\}"), std::to_string(sizes['q']));
    StatementText statement;
    const size_t space = text.find(' '), second = text.find(' ', space + 1), where = text.find(" where ");
    statement.lhs = text.substr(0, space);
    statement.assign = text.substr(space + 1, second - space - 1);
    statement.rhs.head = text.substr(second + 1, where == std::string::npos ? where : where - second - 1);
    statement.where = where == std::string::npos ? "" : text.substr(where + 7);
    made.statements.push_back(std::move(statement));
  }
  if (row.rounds > 0)
    made.loops.push_back({0, unsigned(row.statements.size()), row.rounds, ""});
  const uint64_t lengths = random.bits();
  const bool divides = made.text().find_first_of("/") != std::string::npos;
  const ElementType type =
      divides ? ElementType::F64
              : random.pick({ElementType::F64, ElementType::F64, ElementType::F32, ElementType::I64});
  for (const InputChoice &input : row.inputs) {
    made.inputs[input.name] = dataOf(input, type, sizes, random);
    Random same(lengths);
    if (input.ragged)
      makeRagged(made.inputs[input.name], same);
  }
  for (const ResultRow &result : row.results) {
    const std::string format = random.pick(result.formats);
    ResultChoice &choice = made.results[result.name];
    for (char letter : result.dims)
      choice.dims.push_back(sizes.at(letter));
    if (format.starts_with("like "))
      made.likes[result.name] = format.substr(5);
    else if (format != "dense")
      choice.format = format;
  }
  return made;
}

//===--- Texts ---===//

/// Primitives by their grammar: most names are those of something.
class TextGenerator {
public:
  TextGenerator(const notation::Program &program, Random &random) : program(program), random(random) {
    for (const notation::IndexVar &index : program.indices)
      if (std::ranges::count(loops, index.name) == 0)
        loops.push_back(index.name);
    for (const notation::TensorDecl &tensor : program.tensors)
      tensors.push_back(tensor.name);
    for (size_t s = 0; s < program.statements.size(); ++s)
      statements.push_back(notation::nameOf(program, s));
  }

  std::string primitive() {
    std::string text = random.chance(0.3) ? randomPrimitive(program, random) : ofGrammar();
    if (statements.size() > 1 && random.chance(0.15))
      text = random.pick(statements) + ": " + text;
    return text;
  }

  /// Some of its characters are others.
  std::string damaged(std::string text) {
    static constexpr std::string_view letters = "ijkrwpA0149(),;:#/%*+ \n\"[]{}@-<=>_x\xff";
    for (int64_t n = 1 + random.below(3); n > 0; --n) {
      const size_t at = size_t(random.below(int64_t(text.size()) + 1));
      const char letter = letters[size_t(random.below(int64_t(letters.size())))];
      switch (random.below(4)) {
      case 0:
        text.insert(at, 1, letter);
        break;
      case 1:
        text.erase(at, 1 + size_t(random.below(4)));
        break;
      case 2:
        text.insert(at,
                    text.substr(size_t(random.below(int64_t(text.size()) + 1)), size_t(random.below(12))));
        break;
      default:
        if (at < text.size())
          text[at] = letter;
      }
    }
    return text;
  }

private:
  const notation::Program &program;
  Random &random;
  Texts loops, tensors, statements; ///< loops: those that primitives have made, too
  int made = 0;

  std::string loop() {
    if (random.chance(0.03))
      return random.pick<std::string>({"zz", "i/2", "i%2", "0", "", "i_block"});
    return loops.empty() ? "i" : random.pick(loops);
  }
  std::string tensor() { return random.chance(0.03) ? "ZZ" : random.pick(tensors); }
  std::string statement() { return random.chance(0.03) ? "q#3" : random.pick(statements); }
  std::string newName(const char *prefix) {
    return random.chance(0.03) ? loop() : fmt::format("{}{}", prefix, made++);
  }
  std::string newLoop() {
    loops.push_back(newName("f"));
    return loops.back();
  }
  std::string number() {
    if (random.chance(0.05))
      return random.pick<std::string>({"0", "-1", "1099511627776", "99999999999999999999", "x", "64", "128"});
    return std::to_string(random.pick<int>({1, 2, 2, 3, 4, 4, 5, 8}));
  }
  std::string format() {
    return random.pick<std::string>({"CSR", "CSC", "COO", "DCSR", "ELL", "DIA", "BCSR(2,2)", "dense", "CSF",
                                     "bitmap", "DOK", "(i, j) -> (j : dense, i : compressed)", "nothing"});
  }

  std::string part() {
    const notation::Statement &from = random.pick(program.statements);
    notation::Expr expr = from.rhs;
    while (!expr->args.empty() && random.chance(0.5))
      expr = random.pick(expr->args);
    return notation::print(program, expr);
  }

  std::string precompute() {
    const std::string name = newName("w");
    std::string text = fmt::format(
        "precompute({}, {}{}, {}{})", part(), random.chance(0.1) ? loop() + "_block, " : "", loop(), name,
        random.pick<const char *>({"", " : dense", " : bitmap", " : hashed", " : hashed"}));
    if (statements.size() > 1 && random.chance(0.9))
      text = fmt::format("{}: {}", random.pick(statements), text);
    tensors.push_back(name);
    statements.push_back(name);
    return text;
  }

  std::string reorder() {
    Texts order;
    for (int64_t n = 1 + random.below(4); n > 0; --n)
      if (const std::string name = loop(); std::ranges::count(order, name) == 0 || random.chance(0.05))
        order.push_back(name);
    return fmt::format("reorder({})", fmt::join(order, ", "));
  }

  std::string splitOrFuse() {
    const std::string from = loop();
    switch (random.below(5)) {
    case 0: {
      const std::string inner = loop();
      return fmt::format("fuse({}, {}, {})", from, inner, newLoop());
    }
    case 1:
      return fmt::format("pos({}, {}, {})", from, newLoop(), tensor());
    default: {
      const std::string outer = newLoop(), inner = newLoop();
      return fmt::format("{}({}, {}, {}, {})", random.pick<const char *>({"split", "split", "divide"}), from,
                         outer, inner, number());
    }
    }
  }

  std::string ofLoop() {
    switch (random.below(9)) {
    case 0:
      return fmt::format("parallelize({}{})", loop(),
                         random.pick<const char *>(
                             {"", ", none", ", entries", ", disjoint", ", reduce", ", private", ", all"}));
    case 1:
    case 2:
      return fmt::format("vectorize({}, {})", loop(), number());
    case 3:
    case 4:
      return fmt::format("unroll({}, {})", loop(), number());
    case 5:
      return fmt::format("jam({}, {})", loop(), number());
    case 6:
      return fmt::format("prefetch({}, {}, {})", tensor(), loop(), number());
    case 7:
      return fmt::format("rfactor({}, {})", loop(), newName("v"));
    default:
      return fmt::format("cache({}, {}, {})", tensor(), loop(),
                         random.pick<const char *>({"stack", "registers", "heap"}));
    }
  }

  std::string bound() {
    if (program.indices.empty() || random.chance(0.1))
      return fmt::format("bound({}, {})", loop(), number());
    const notation::IndexVar &index = random.pick(program.indices);
    return fmt::format("bound({}, {})", index.name, index.size);
  }

  std::string place() {
    switch (random.below(4)) {
    case 0:
      return fmt::format("compute_inline({})", statement());
    case 1:
      return fmt::format("compute_root({})", statement());
    case 2:
      return fmt::format("compute_at({0}, {1}_block, {1})", statement(), loop());
    default:
      return fmt::format("compute_at({}, {}{})", statement(), loop(), random.chance(0.2) ? "_block" : "");
    }
  }

  std::string ofGrammar() {
    switch (random.below(13)) {
    case 0:
      return reorder();
    case 1:
      return fmt::format("convert({}, {})", tensor(), format());
    case 2:
      return fmt::format("strategy({}, {})", loop(), random.pick(engine::strategyNames()));
    case 3:
      return fmt::format("assemble({}, {})", tensor(),
                         random.pick<const char *>({"count", "bound", "grow", "none"}));
    case 4:
      return random.chance(0.5) ? fmt::format("decompose({}, hyb({}, {}))", tensor(), number(), number())
                                : fmt::format("decompose({}, [{} @ count(j) <= {}, {} @ rest])", tensor(),
                                              format(), number(), format());
    case 5:
      return bound();
    case 6:
    case 7:
      return place();
    case 8:
      return precompute();
    case 9:
    case 10:
      return splitOrFuse();
    default:
      return ofLoop();
    }
  }
};

/// Mostly those that the statements can have.
Texts drawPrimitives(const notation::Program &program, Random &random) {
  TextGenerator generator(program, random);
  const bool filtered = random.chance(0.85);
  Texts primitives;
  for (int64_t n = 1 + random.below(7); n > 0; --n) {
    primitives.push_back(generator.primitive());
    notation::Program scheduled = program;
    if (filtered && !reasonOf([&] {
                       notation::applySchedule(scheduled, fmt::format("{}", fmt::join(primitives, "; ")),
                                               engine::strategyNames());
                     }).empty())
      primitives.pop_back();
  }
  if (!primitives.empty() && random.chance(0.08))
    primitives.back() = generator.damaged(primitives.back());
  return primitives;
}

} // namespace

std::string ScheduledCase::describe() const {
  return fmt::format("{}threads  {}\nschedule {}\n", program.describe(), threads,
                     fmt::join(primitives, "; "));
}

std::optional<ScheduledCase> drawScheduled(Random &random) {
  ScheduledCase drawn;
  drawn.program = drawProgram(random);
  drawn.threads = unsigned(1 + random.below(2));
  try {
    drawn.primitives = drawPrimitives(checked(drawn.program, pack(drawn.program)), random);
  } catch (const Error &) {
    return std::nullopt;
  }
  return drawn;
}

std::string judgeScheduled(const ScheduledCase &drawn, bool &refused) {
  for (size_t count = drawn.primitives.size();; --count) {
    const std::string text = fmt::format(
        "{}", fmt::join(drawn.primitives.begin(), drawn.primitives.begin() + ptrdiff_t(count), "; "));
    const Verdict verdict = judge(drawn.program, text, drawn.threads);
    refused = count < drawn.primitives.size() || verdict.kind != Verdict::Kind::Agrees;
    if (verdict.kind == Verdict::Kind::Differs)
      return fmt::format("{}\nwith {}", verdict.message, text);
    if (verdict.kind != Verdict::Kind::Refused || count == 0)
      return "";
  }
}

} // namespace tulle::differential
