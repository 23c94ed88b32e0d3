// Names, sizes and storage of tensors are checked before types, and types statement by statement.
#include "format/Layout.h"
#include "notation/Resolve.h"
#include "notation/Sparsity.h"
#include "notation/SplitDigits.h"
#include "support/Errors.h"
#include "support/Suggest.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <set>

namespace tulle::notation {
namespace {

class Checker {
public:
  Checker(std::string_view text, const std::map<std::string, Binding> &bindings)
      : bindings(bindings), resolved(resolve(text, likesOf(bindings))) {
    program.text = std::string(text);
  }

  Program run() {
    checkNames();
    std::map<std::string, std::vector<int64_t>> known;
    for (const auto &[name, binding] : bindings)
      if (binding.dims)
        known[name] = *binding.dims;
    inferSizes(resolved, known);
    checkSizes();
    checkLikes();
    checkDigits();
    declareTensors();
    takeStructures();
    std::vector<unsigned> firsts; // of the statements in the text, and behind them
    for (unsigned s = 0; s < resolved.statements.size(); ++s) {
      firsts.push_back(unsigned(program.statements.size()));
      std::ranges::copy(resolved.statements[s].concat.isNone() ? terms(statement(s)) : concatenation(s),
                        std::back_inserter(program.statements));
    }
    firsts.push_back(unsigned(program.statements.size()));
    for (const Loop &loop : resolved.loops)
      program.loops.push_back({firsts[loop.begin], firsts[loop.end], loop.most, loop.until});
    program.indices = resolved.indices;
    for (unsigned t = 0; t < program.tensors.size(); ++t)
      program.tensors[t].type = *types[t];
    checkSplits();
    checkExplicit();
    checkDenseResults();
    takeWidths(program);
    markResults();
    return std::move(program);
  }

private:
  const std::map<std::string, Binding> &bindings;
  ResolvedProgram resolved;
  Program program;
  std::vector<std::optional<ElementType>> types;
  std::vector<bool> hasValue; ///< inputs, and what earlier statements wrote

  static Likes likesOf(const std::map<std::string, Binding> &bindings) {
    Likes likes;
    for (const auto &[name, binding] : bindings)
      if (binding.like)
        likes[name] = *binding.like;
    return likes;
  }

  /// Where a tensor is first used, or what has its structure.
  SourceRange firstRange(unsigned tensor) const {
    auto of = [&](const Use &u) {
      return u.access.tensor == tensor || resolved.like[u.access.tensor] == tensor;
    };
    return std::ranges::find_if(resolved.uses, of)->access.range;
  }

  /// What lends its structure has one for the whole program, and the sizes of what borrows it.
  void checkLikes() const {
    for (unsigned t = 0; t < resolved.tensors.size(); ++t) {
      if (!resolved.like[t])
        continue;
      const unsigned pattern = *resolved.like[t];
      const std::string &name = resolved.tensors[t], &other = resolved.tensors[pattern];
      auto writes = [&](const ParsedStatement &s) { return s.lhs.tensor == pattern; };
      const auto writers = std::ranges::count_if(resolved.statements, writes);
      if (resolved.like[pattern])
        resolved.fail(firstRange(t), fmt::format("'{}' is like '{}', which is like '{}'; name that one", name,
                                                 other, resolved.tensors[*resolved.like[pattern]]));
      if (binding(t).input && !binding(pattern).input)
        resolved.fail(firstRange(t), fmt::format("'{}' is given and is like '{}', which is not; give '{}'",
                                                 name, other, other));
      if (writers > (binding(pattern).input ? 0 : 1))
        resolved.fail(firstRange(t),
                      fmt::format("'{}' is like '{}', whose entries a statement changes; give '{}' another "
                                  "name where it is written",
                                  name, other, other));
      const std::vector<int64_t> &dims = resolved.dims[t], &sizes = resolved.dims[pattern];
      if (!std::equal(dims.begin(), dims.begin() + std::ptrdiff_t(std::min(dims.size(), sizes.size())),
                      sizes.begin()))
        resolved.fail(firstRange(t),
                      fmt::format("'{}' is like '{}', but its sizes [{}] are not those of '{}', [{}]", name,
                                  other, fmt::join(dims, ","), other, fmt::join(sizes, ",")));
      if (std::string why = format::whyNotLike(encodingOf(pattern), resolved.orders[t]); !why.empty())
        resolved.fail(firstRange(t), fmt::format("'{}' is like '{}': {}", name, other, why));
    }
  }

  format::Encoding encodingOf(unsigned tensor) const {
    if (resolved.like[tensor])
      return format::likeEncoding(encodingOf(*resolved.like[tensor]), resolved.orders[tensor]);
    return binding(tensor).encoding.value_or(format::denseEncoding(resolved.orders[tensor]));
  }

  void takeStructures() {
    for (unsigned t = 0; t < program.tensors.size(); ++t) {
      if (!resolved.like[t])
        continue;
      TensorDecl &decl = program.tensors[t];
      const TensorDecl &pattern = program.tensors[*resolved.like[t]];
      if (isDense(decl))
        resolved.fail(firstRange(t),
                      fmt::format("'{}' is like '{}', {}: leave `like` out", decl.name, pattern.name,
                                  isDense(pattern) ? "which is dense" : "whose outer levels are dense"));
      if (format::hasSlices(pattern.encoding))
        resolved.fail(firstRange(t), fmt::format("'{}' is like '{}', which is a slice: its storage holds "
                                                 "more; convert it to a format without slices",
                                                 decl.name, pattern.name));
      if (std::string why = format::whyNotExecutable(decl.encoding); !why.empty())
        resolved.fail(firstRange(t), fmt::format("'{}' is like '{}': {}", decl.name, pattern.name, why));
      decl.like = resolved.like[t];
    }
  }

  const Binding &binding(unsigned tensor) const {
    static const Binding none;
    const auto found = bindings.find(resolved.tensors[tensor]);
    return found == bindings.end() ? none : found->second;
  }

  /// A binding nobody uses is a misspelling on one side or the other.
  void checkNames() const {
    for (const auto &[name, binding] : bindings)
      if (!resolved.tensor(name))
        resolved.fail({0, resolved.text.size()}, fmt::format("tensor '{}' is given, but not used{}", name,
                                                             support::didYouMean(name, resolved.tensors)));
    for (const Use &use : resolved.uses) {
      const bool given = binding(use.access.tensor).input;
      auto writtenBy = [&](const Use &u) { return u.written && u.access.tensor == use.access.tensor; };
      const auto writer = std::ranges::find_if(resolved.uses, writtenBy);
      if (use.written || given || (writer != resolved.uses.end() && writer->statement < use.statement))
        continue;
      const std::string &name = resolved.tensors[use.access.tensor];
      if (writer != resolved.uses.end())
        resolved.fail(use.access.range,
                      fmt::format(fmt::runtime(whyWithoutValue(use.statement, writer->statement)), name),
                      {{writer->access.range, "written here"}});
      std::vector<std::string> others;
      for (const auto &[other, b] : bindings)
        others.push_back(other);
      resolved.fail(use.access.range,
                    fmt::format("tensor '{}' has no value: give it, or write it in an earlier statement{}",
                                name, support::didYouMean(name, others, functionHint(name))));
    }
  }

  std::string_view whyWithoutValue(unsigned reader, unsigned writer) const {
    if (resolved.inOneLoop(std::min(reader, writer), std::max(reader, writer)))
      return "'{}' has no value in the first round; give its first value, or write it before the loop";
    if (reader == writer)
      return "'{}' is read by the statement that writes it, and has no value before; give its first value, "
             "write it in an earlier statement, or use a reduction such as +=";
    return "'{}' is read before the statement that writes it; swap the statements, or give its first value";
  }

  /// A sparse result is made as one, of a dense one each part is written where it belongs.
  std::vector<Statement> concatenation(unsigned number) {
    Statement s = statement(number);
    s.reductionIndices.clear();
    s.assign = true;
    s.concat = resolved.statements[number].concat;
    s.concat.result = s.lhs;
    checkParts(s);
    return isDense(program.tensors[s.lhs.tensor]) ? writeParts(s) : std::vector{s};
  }

  void checkParts(const Statement &s) const {
    const TensorDecl &result = program.tensors[s.lhs.tensor];
    if (result.like)
      resolved.fail(s.range, fmt::format("'{}' stores what its parts do, and cannot be like '{}'",
                                         result.name, program.tensors[*result.like].name));
    for (const Access &part : s.concat.parts) {
      const TensorDecl &tensor = program.tensors[part.tensor];
      if (part.tensor == s.lhs.tensor)
        resolved.fail(
            part.range,
            fmt::format("'{}' is what the statement makes; give the result another name", tensor.name));
      if (!format::hasZeroFill(tensor.encoding) || !format::hasZeroFill(result.encoding))
        resolved.fail(part.range,
                      "tensors with a fill other than 0 are not concatenated: what no part stores "
                      "is 0");
      if (format::hasSlices(tensor.encoding))
        resolved.fail(part.range, fmt::format("'{}' is a slice; convert it to a format without slices, in a "
                                              "statement before this one",
                                              tensor.name));
    }
  }

  /// 0 first, where some coordinate may be in none of them.
  std::vector<Statement> writeParts(const Statement &whole) const {
    std::vector<Statement> made;
    auto isSparse = [&](const Access &part) { return !isDense(program.tensors[part.tensor]); };
    if (whole.concat.dims.size() > 1 || std::ranges::any_of(whole.concat.parts, isSparse)) {
      Statement zero = whole;
      zero.rhs = zeroOf(whole.rhs);
      made.push_back(zero);
    }
    for (size_t p = 0; p < whole.concat.parts.size(); ++p) {
      const Access &part = whole.concat.parts[p];
      Statement &write = made.emplace_back(whole);
      write.part = true;
      write.rhs = convertTo(resolved, decideTypes(resolved, types, access(part)), whole.rhs->type);
      for (unsigned d : whole.concat.dims) {
        if (whole.concat.stacks)
          write.lhs.subscripts[d].terms.clear();
        else
          write.lhs.subscripts[d].terms[0].first = part.subscripts[d].terms[0].first;
        write.lhs.subscripts[d].constant = offsetsOf(program, whole.concat, d)[p];
      }
    }
    for (Statement &s : made)
      s.concat.role = &s == made.data() ? Concatenation::Role::First : Concatenation::Role::Next;
    return made;
  }

  static Expr access(const Access &access) {
    return std::make_shared<const ExprNode>(
        ExprNode{.op = Op::Access, .access = access, .range = access.range});
  }
  static Expr zeroOf(const Expr &expr) {
    return std::make_shared<const ExprNode>(ExprNode{.type = expr->type, .range = expr->range});
  }

  /// Statements that sum over one set of indices each.
  std::vector<Statement> terms(const Statement &statement) const {
    std::vector<Statement> sums = splitTerms(statement);
    for (size_t s = 1; s < sums.size(); ++s)
      forEachAccess(sums[s].rhs, [&](const Access &access) {
        if (access.tensor == statement.lhs.tensor)
          resolved.fail(
              access.range,
              fmt::format("'{}' is written by this statement, whose terms are summed over different "
                          "indices; read its old value in terms of one sum only, or under "
                          "another name",
                          resolved.tensors[access.tensor]));
      });
    return sums;
  }

  void checkSizes() const {
    // The right side first: an index without a size is missing there, and only then on the left.
    for (bool written : {false, true})
      for (const Use &use : resolved.uses)
        for (unsigned d = 0; d < use.access.subscripts.size(); ++d)
          for (const auto &[index, coefficient] : use.access.subscripts[d].terms)
            if (resolved.indices[index].size < 0 && use.written == written)
              failWithoutSize(use, d, resolved.indices[index].name);
    for (const Use &use : resolved.uses)
      for (unsigned d = 0; d < use.access.subscripts.size(); ++d)
        if (resolved.dims[use.access.tensor][d] < 0)
          resolved.fail(use.access.subscripts[d].range,
                        fmt::format("the size of dimension {} of '{}' is unknown; give its dimensions", d + 1,
                                    resolved.tensors[use.access.tensor]));
    for (unsigned t = 0; t < resolved.tensors.size(); ++t)
      if (std::ranges::count(resolved.dims[t], -1) > 0)
        resolved.fail(firstRange(t),
                      fmt::format("the sizes of '{}' are unknown; give its dimensions", resolved.tensors[t]));
  }

  /// Entries of a sparse tensor that is read at digits of an index have coordinates in that one: the digits
  /// are all there are, and each dimension is as large as its digit.
  void checkDigits() const {
    for (const Use &use : resolved.uses) {
      if (!hasDigits(use.access) || format::isAllDense(encodingOf(use.access.tensor)))
        continue;
      for (size_t d = 0; d < use.access.subscripts.size(); ++d)
        checkDigit(use.access, d);
    }
  }

  /// Where the tensor is none of whole indices, the digits are loops.
  void checkSplits() const {
    for (const Statement &s : program.statements) {
      if (canSplitDigits(program, s))
        continue;
      for (const Access *access : operandsOf(s))
        if (readsAsDigits(program, *access))
          resolved.fail(
              access->range,
              fmt::format(
                  "'{}' as {} is no tensor of whole indices: each of its dimensions, and each of its "
                  "levels, has to be the digit that follows on another, or the digits of this statement "
                  "those of one number system, and its result dense, without blocks; convert '{}' to a dense "
                  "format, or "
                  "one with a level for each dimension",
                  resolved.tensors[access->tensor],
                  format::displayName(program.tensors[access->tensor].encoding),
                  resolved.tensors[access->tensor]));
    }
  }

  void checkDigit(const Access &access, size_t d) const {
    const Affine &digit = access.subscripts[d];
    if (!digit.isDigit())
      return;
    const IndexVar &index = resolved.indices[digit.terms[0].first];
    const int64_t size = resolved.dims[access.tensor][d];
    const int64_t reached = digit.modulus != 0 ? digit.modulus : index.size / digit.divisor;
    const bool exact = digit.modulus != 0 || index.size % digit.divisor == 0;
    if (size != reached || !exact)
      resolved.fail(
          digit.range,
          fmt::format("'{}' is sparse, so that its dimension has to be the digit of '{}': it has size "
                      "{}, but the digit of 0 .. {} runs over {}{}",
                      resolved.tensors[access.tensor], index.name, size, index.size - 1, reached,
                      exact ? "" : " and a part"));
  }

  [[noreturn]] void failWithoutSize(const Use &use, unsigned d, const std::string &index) const {
    constexpr std::string_view
        onLeft = "index '{}' is not used on the right, so its size is unknown; use it there, "
                 "or give the dimensions of '{}'",
        onRight = "the size of index '{}' is unknown; give the dimensions of '{}'";
    resolved.fail(use.access.subscripts[d].range, fmt::format(fmt::runtime(use.written ? onLeft : onRight),
                                                              index, resolved.tensors[use.access.tensor]));
  }

  void declareTensors() {
    for (unsigned t = 0; t < resolved.tensors.size(); ++t) {
      const Binding &b = binding(t);
      TensorDecl decl;
      decl.name = resolved.tensors[t];
      decl.dims = resolved.dims[t];
      decl.encoding = encodingOf(t);
      decl.input = b.input;
      decl.entries = b.entries;
      decl.condition = std::ranges::count(resolved.loops, std::optional(t), &Loop::until) > 0;
      const SourceRange range = firstRange(t);
      if (decl.encoding.order() != resolved.orders[t])
        resolved.fail(range, fmt::format("the format of '{}' has {} dimension(s), but the tensor {}",
                                         decl.name, decl.encoding.order(), resolved.orders[t]));
      // The whole tensor of a slice is stored already.
      if (!format::hasSlices(decl.encoding) && format::whyNotExecutable(decl.encoding).empty())
        if (std::string why = format::whyNotSizes(decl.encoding, decl.dims); !why.empty())
          resolved.fail(range, fmt::format("'{}' cannot be stored: {}", decl.name, why));
      program.tensors.push_back(std::move(decl));
      if (program.tensors.back().condition)
        types.emplace_back(ElementType::Bool);
      else
        types.push_back(b.type || !b.input ? b.type : ElementType::F64);
      hasValue.push_back(b.input);
    }
  }

  Statement statement(unsigned number) {
    const ParsedStatement &source = resolved.statements[number];
    Statement s;
    s.range = source.range;
    s.lhs = source.lhs;
    if (const TensorDecl &result = program.tensors[s.lhs.tensor]; format::hasSlices(result.encoding))
      resolved.fail(
          s.lhs.range,
          fmt::format("'{}' is computed, and its format has slices: a result has storage of its own; "
                      "write its dimensions without slice(…)",
                      result.name));
    const Typed rhs = decideTypes(resolved, types, source.rhs);
    auto &type = types[s.lhs.tensor];
    if (!type)
      type = rhs.natural;
    s.rhs = convertTo(resolved, rhs, computeType(*type));
    s.where = withTypes(source.where);
    s.indirections = source.indirections;
    s.isSet = source.isSet;
    checkIndirections(s);
    s.reductionIndices = reductionIndices(number, s.lhs);
    s.accumulate = source.reduce && hasValue[s.lhs.tensor];
    if (!s.accumulate && resolved.addsInRounds(number))
      resolved.fail(
          source.assignRange,
          fmt::format("'{}' has no value in the first round, so that this sum would start from 0 in "
                      "every round; write = for that, or give its first value",
                      resolved.tensors[s.lhs.tensor]));
    // One value meets the reduction's start and remains what it is; only where a mask forbids it does the
    // start show.
    s.assign = s.reductionIndices.empty() && (!source.reduce || (!s.accumulate && !source.where));
    s.reduce = reduction(source, *type);
    checkNothing(s);
    hasValue[s.lhs.tensor] = true;
    program.tensors[s.lhs.tensor].written = true;
    return s;
  }

  /// The comparisons of a mask compute, as right sides do.
  Mask withTypes(const Mask &mask) const {
    if (!mask || mask->op == Op::Access)
      return mask;
    if (isCondition(mask))
      return decideTypes(resolved, types, mask).expr;
    ExprNode node = *mask;
    for (Mask &arg : node.args)
      arg = withTypes(arg);
    return std::make_shared<const ExprNode>(std::move(node));
  }

  void checkIndirections(const Statement &s) const {
    for (const Indirection &given : s.indirections) {
      const unsigned tensor = given.source.tensor;
      if (tensor == s.lhs.tensor)
        resolved.fail(given.source.range,
                      fmt::format("'{}' is written by this statement; read the indices from another tensor",
                                  program.tensors[tensor].name));
      if (const ElementType type = types[tensor].value_or(ElementType::F64); !isInteger(type))
        resolved.fail(given.source.range,
                      fmt::format("'{}' is a subscript here, and holds {}: subscripts are integers (i8, "
                                  "i16, i32 or i64)",
                                  program.tensors[tensor].name, name(type)));
    }
  }

  /// What is outside of a tensor is left out: the same as 0 where a 0 there changes nothing.
  void checkNothing(const Statement &s) const {
    for (const Indirection &given : s.indirections) {
      const IndexVar &index = resolved.indices[given.index];
      auto isThere = [&](const Access &access) { return hasIndex(access, given.index); };
      if (index.outside != Outside::Nothing || isThere(s.lhs) || isNeutral(program, s, isThere))
        continue;
      resolved.fail(given.source.range,
                    fmt::format("where '{}' lies outside, this statement has a value of its own: `else 0` is "
                                "for what a 0 there takes out, as a factor; read it in a statement before "
                                "this one",
                                index.name));
    }
  }

  static bool hasIndex(const Access &access, unsigned index) {
    return std::ranges::any_of(access.subscripts, [&](const Affine &subscript) {
      return std::ranges::any_of(subscript.terms, [&](const auto &term) { return term.first == index; });
    });
  }

  /// Results are what the user gave a first value, and what no statement behind the last that writes it
  /// reads. Conditions of loops are no statements of the user.
  void markResults() {
    std::vector<bool> read(program.tensors.size());
    for (auto s = program.statements.rbegin(); s != program.statements.rend(); ++s) {
      TensorDecl &written = program.tensors[s->lhs.tensor];
      written.result |= !written.condition && (written.input || !read[s->lhs.tensor]);
      if (!written.condition)
        for (const Access *access : accesses(*s))
          read[access->tensor] = read[access->tensor] || access->tensor != s->lhs.tensor;
    }
  }

  /// Whether each statement that writes the tensor makes a set of it, so that all its entries are true.
  bool isSet(unsigned tensor) const {
    return !program.tensors[tensor].input && std::ranges::all_of(program.statements, [&](const Statement &s) {
      return s.lhs.tensor != tensor || (s.isSet && !s.accumulate);
    });
  }

  /// Where the format says what every stored value is, only a conversion checks that it is true; sets have
  /// one value.
  void checkExplicit() {
    for (const Use &use : resolved.uses) {
      TensorDecl &tensor = program.tensors[use.access.tensor];
      if (!tensor.encoding.explicitVal)
        continue;
      if (use.written && isSet(use.access.tensor) &&
          format::explicitValue(tensor.encoding, ElementType::Bool)->i) {
        tensor.withoutValues = tensor.encoding;
        tensor.encoding = format::withStoredValues(tensor.encoding);
        if (std::string why = format::whyNotExecutable(*tensor.withoutValues, tensor.type); !why.empty())
          resolved.fail(use.access.range, fmt::format("the format of '{}': {}", tensor.name, why));
        continue;
      }
      if (use.written)
        resolved.fail(
            use.access.range,
            fmt::format(
                "'{}' is computed, so that its values are its own, but its format says that all are {}; "
                "leave explicitVal out, and convert the result",
                tensor.name, *tensor.encoding.explicitVal));
      if (std::string why = format::whyNotExecutable(tensor.encoding, tensor.type); !why.empty())
        resolved.fail(use.access.range, fmt::format("the format of '{}': {}", tensor.name, why));
    }
  }

  /// The loops of a dense result locate its elements, level by level.
  void checkDenseResults() {
    for (const Use &use : resolved.uses) {
      const TensorDecl &tensor = program.tensors[use.access.tensor];
      if (use.written && isDense(tensor) && !format::digits(tensor.encoding))
        resolved.fail(use.access.range,
                      fmt::format("'{}' is computed in {}, whose dense levels are no digits of single "
                                  "dimensions; compute it in 'dense', and convert the result",
                                  tensor.name, format::displayName(tensor.encoding)));
    }
  }

  std::vector<unsigned> reductionIndices(unsigned number, const Access &lhs) const {
    std::set<unsigned> seen;
    for (const Affine &a : lhs.subscripts)
      seen.insert(a.terms[0].first);
    for (const Indirection &given : resolved.statements[number].indirections)
      seen.insert(given.index);
    std::vector<unsigned> result;
    for (const Use &use : resolved.uses)
      if (use.statement == number)
        for (const Affine &a : use.access.subscripts)
          for (const auto &[index, coefficient] : a.terms)
            if (seen.insert(index).second)
              result.push_back(index);
    return result;
  }

  Reduce reduction(const ParsedStatement &source, ElementType type) const {
    Reduce reduce = source.reduce.value_or(Reduce::Add);
    auto refuse = [&](std::string_view why) {
      resolved.fail(source.assignRange,
                    fmt::format("this reduction is not defined on {} values; {}", name(type), why));
    };
    if (type == ElementType::Bool) {
      // The semiring of truth values, as in expressions.
      if (reduce == Reduce::Add || reduce == Reduce::Max)
        return Reduce::Or;
      return reduce == Reduce::Mul || reduce == Reduce::Min ? Reduce::And : reduce;
    }
    if (isComplex(type) && (reduce == Reduce::Min || reduce == Reduce::Max))
      refuse("complex numbers have no order");
    if (!isInteger(type) && (reduce == Reduce::Or || reduce == Reduce::And || reduce == Reduce::Xor))
      refuse("|= &= ^= work on bool and integers; compare first, or convert with i64(…)");
    return reduce;
  }
};

} // namespace

std::optional<std::string> likeName(std::string_view format) {
  constexpr std::string_view word = "like ";
  if (!format.starts_with(word))
    return std::nullopt;
  format.remove_prefix(format.find_first_not_of(' ', word.size()) == format.npos
                           ? format.size()
                           : format.find_first_not_of(' ', word.size()));
  return std::string(format);
}

std::vector<std::string> computedNames(const Program &program) {
  std::vector<std::string> names;
  for (const TensorDecl &tensor : program.tensors)
    if (tensor.written && !tensor.condition)
      names.push_back(tensor.name);
  return names;
}

void addResults(Program &program, const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    const std::vector<std::string> computed = computedNames(program);
    if (std::ranges::count(computed, name) == 0)
      throwError("the program computes no '{}'; it computes {}", name, fmt::join(computed, ", "));
    std::ranges::find(program.tensors, name, &TensorDecl::name)->result = true;
  }
}

Program check(std::string_view text, const std::map<std::string, Binding> &bindings) {
  return Checker(text, bindings).run();
}

} // namespace tulle::notation
