// Index notation as a checked tree: what the text means, before any decision about loops.
#pragma once
#include "notation/Pattern.h"
#include "support/Diagnostic.h"
#include "support/ElementType.h"
#include <map>
#include <memory>

namespace tulle::notation {

using support::SourceRange;

enum class Reduce : uint8_t { Add, Mul, Min, Max, Or, And, Xor };

enum class Op : uint8_t {
  Literal, ///< `literal`
  Access,  ///< `access`
  Index,   ///< the value of `access.subscripts[0]`, of no tensor
  Convert, ///< args[0] as `type`
  // unary
  Neg,
  Not,
  Abs,
  Sqrt,
  Exp,
  Log,
  Sin,
  Cos,
  Tanh,
  Relu,
  Conj,
  Real,
  Imag,
  // binary
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Pow,
  Min,
  Max,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Select ///< args: condition, then, else
};

/// A subscript: sum of coefficient * index variable, plus a constant; or a digit of one index.
struct Affine {
  std::vector<std::pair<unsigned, int64_t>> terms; ///< (index variable, coefficient), no zero coefficients
  int64_t constant = 0;
  std::optional<int64_t> limit; ///< `i+1:n`: the subscript stays below n
  bool isSum = false;           ///< `i+0`: as of `i+1`, the index does not give the dimension's size
  SourceRange range;
  int64_t divisor = 1, modulus = 0; ///< of a digit, `l / 64 % 8`; modulus 0: the highest
  bool isDigit() const { return divisor != 1 || modulus != 0; }
  /// An index by itself, which runs over all of the dimension.
  bool isVariable() const { return startsAtZero() && !isSum && !limit; }
  /// An index by itself, or the start of a dimension, `i+0` or `i:n`.
  bool startsAtZero() const {
    return terms.size() == 1 && terms[0].second == 1 && constant == 0 && !isDigit();
  }
  bool isConstant() const { return terms.empty() && !isDigit(); }
  /// Whether both have the same values: of one index, all of the dimension or a part.
  bool equals(const Affine &other) const {
    return terms == other.terms && constant == other.constant && divisor == other.divisor &&
           modulus == other.modulus && isVariable() == other.isVariable();
  }
};

struct Access {
  unsigned tensor = 0;
  std::vector<Affine> subscripts;
  SourceRange range;
  bool bare = false; ///< written without parentheses
};

/// What an index that a tensor gives does where the tensor's value is no coordinate: an error; there is
/// nothing, neither to read nor to write; or the nearest coordinate takes its place.
enum class Outside : uint8_t { Error, Nothing, Nearest };

/// `p(i)`, or `p(i)-1`, as the subscript of another tensor, or in it: an index whose value is read, at each
/// point of the others.
struct Indirection {
  unsigned index = 0; ///< named as the text has it
  Access source;      ///< of a tensor of integers; its subscripts may have indices that others give
  int64_t shift = 0;  ///< is added to the integer
};

/// `concat(A, B; 1)`: tensors, each at coordinates of the result that begin where those of the one before it
/// end, along these dimensions; along several of them, the parts are blocks of a diagonal. Or `stack(A, B;
/// 1)`: tensors that lack the one dimension, each at a coordinate of it.
struct Concatenation {
  Access result; ///< as the text has it
  /// Along the dimensions with an index of each part's own, else with the left side's.
  std::vector<Access> parts;
  std::vector<unsigned> dims; ///< distinct; none: the statement is no concatenation
  /// A sparse result is made by one statement; a dense one by several, the first of which stands for all.
  enum class Role : uint8_t { Whole, First, Next } role = Role::Whole;
  bool stacks = false; ///< the parts lack the one dimension, in which each has one coordinate
  bool isNone() const { return dims.empty(); }
  bool isWhole() const { return !isNone() && role == Role::Whole; }
};

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

/// In a checked program every node's children have the type the operation computes in (Convert nodes are
/// explicit). The parser knows the types of literals and casts only.
struct ExprNode {
  Op op = Op::Literal;
  ElementType type = ElementType::F64; ///< of the value
  Scalar literal{};
  Access access{}; ///< of Access; its subscript of Index
  std::vector<Expr> args{};
  SourceRange range{};
  unsigned depth = 1; ///< the parser's: trees are at most 500 deep, so that recursion over them is safe
};

struct Program;

/// Whether some subscript is a digit of an index: `A(l / 64, l % 64)`.
inline bool hasDigits(const Access &access) {
  return std::ranges::any_of(access.subscripts, &Affine::isDigit);
}

/// A tensor as one of other dimensions, and the subscripts of these.
struct Reshape {
  std::vector<format::Digit> digits;
  std::vector<Affine> subscripts;
};
/// The tensor of an access at digits as one that is read at whole indices, of which its dimensions are
/// digits.
Reshape reshapeOf(const Access &access);

/// The tensor of an access at sums that count through all of a dimension, `A(64*i + j)`, as one of more
/// dimensions, which are digits of its own. Nothing where no sum does.
std::optional<Reshape> expansionOf(const Program &program, const Access &access);

/// Set algebra: And, Or, Sub (difference) and Not of accesses, which are the sets of what is stored, and of
/// comparisons, the sets where they are true.
using Mask = Expr;

/// Whether the part of a mask is a comparison of values.
inline bool isCondition(const Mask &mask) { return mask->op >= Op::Eq && mask->op <= Op::Ge; }

/// Calls `visit` with every access of an expression, which may be null, in the order of the text.
template <class Visit> void forEachAccess(const Expr &expr, const Visit &visit) {
  if (!expr)
    return;
  if (expr->op == Op::Access)
    visit(expr->access);
  for (const Expr &arg : expr->args)
    forEachAccess(arg, visit);
}

/// Calls `visit` with every subscript of an expression, which may be null, and with every index whose value
/// it takes.
template <class Visit> void forEachSubscript(const Expr &expr, const Visit &visit) {
  if (!expr)
    return;
  for (const Affine &subscript : expr->access.subscripts)
    visit(subscript);
  for (const Expr &arg : expr->args)
    forEachSubscript(arg, visit);
}

/// Whether a mask, which may be null, compares values.
inline bool hasConditions(const Mask &mask) {
  return mask && (isCondition(mask) || std::ranges::any_of(mask->args, hasConditions));
}

/// Calls `visit` with every access of a mask, which may be null, whose stored pattern it asks for.
template <class Visit> void forEachPattern(const Mask &mask, const Visit &visit) {
  if (!mask || isCondition(mask))
    return;
  if (mask->op == Op::Access)
    visit(mask->access);
  for (const Mask &arg : mask->args)
    forEachPattern(arg, visit);
}

/// How the memory of a new sparse tensor is sized: as the compiler chooses, by counting its entries first, by
/// an upper bound, or by the bound where the machine's memory allows it.
enum class AssemblyPlan : uint8_t { Auto, Count, Bound, Grow };

/// How the iterations of a loop are divided among threads: as the compiler chooses, not at all, in chunks of
/// equal entries that may begin inside of a row, in chunks whose stores are disjoint, with a partial value
/// each, with a private copy of the result each, or by the rows of the result that they update.
enum class Threads : uint8_t { Auto, None, Entries, Disjoint, Reduce, Private, Destination };

/// Where the loops inside of a loop have what they read of a tensor: in a copy on the stack, or in registers,
/// which hold what they update, too.
enum class CachePlace : uint8_t { Stack, Registers };

/// What a precomputed part is accumulated in: a dense tensor; or a row in each iteration that stores what the
/// part does, by an array with a bit set, or a hash table.
enum class WorkspaceKind : uint8_t { Dense, Bitmap, Hashed };

/// What a schedule says of the loops of a statement. Loops are named by their indices, or by digits of these:
/// `i/4` over blocks, `i%4` within them; what a loop is split into, by the names given there.
struct LoopSchedule {
  struct Strategy {
    std::string loop, strategy; ///< how sets of coordinates are co-iterated in that loop
    SourceRange range;
  };
  struct Conversion {
    unsigned tensor; ///< an operand, which the statement computes on in this format
    format::Encoding format;
    SourceRange range;
  };
  struct Directive {
    enum Kind : uint8_t { Parallelize, Vectorize, Unroll, Jam, Prefetch, Cache, Rfactor } kind;
    std::string loop = {};
    int64_t count = 0;               ///< lanes of a vector, iterations at a time, or how far ahead
    Threads threads = Threads::Auto; ///< of Parallelize
    unsigned tensor = 0;             ///< of Prefetch and Cache: an operand, or of Cache a result
    CachePlace place = CachePlace::Stack;
    std::string partials = {}; ///< of Rfactor: the tensor of what each iteration has
    SourceRange range = {};
  };
  /// Loops that become others: a loop becomes one over tiles and one within a tile, or counts positions; two
  /// become one.
  struct Derived {
    enum Kind : uint8_t { Split, Divide, Position, Fuse } kind;
    std::vector<std::string> from, into; ///< outermost first
    int64_t size = 0;                    ///< of a tile; of Divide: how many there are
    unsigned tensor = 0;                 ///< of Position: the operand
    SourceRange range = {};
  };
  /// The size that the index has, so that code may depend on it.
  struct Bound {
    std::string index;
    int64_t size;
    SourceRange range;
  };
  /// Where the statement is computed: in the last of these loops of what reads it, which stand in each other;
  /// without any, in loops of its own.
  struct Place {
    std::vector<std::string> loops;
    SourceRange range;
  };
  std::vector<std::string> order; ///< outermost first
  SourceRange orderRange;
  std::vector<Strategy> strategies;
  std::vector<Conversion> conversions;
  std::vector<Directive> directives;
  std::vector<Derived> derived; ///< in the order of the text: a later one may take what an earlier one made
  std::vector<Bound> bounds;
  std::optional<Place> place;
  WorkspaceKind workspace = WorkspaceKind::Dense; ///< of a statement that a primitive has made
  bool precomputes = false; ///< a primitive has made the statement, of the one behind it, and says the place
  bool isEmpty() const {
    return order.empty() && strategies.empty() && conversions.empty() && directives.empty() &&
           derived.empty() && bounds.empty() && !place;
  }
};

/// What texts and IR call them; of what the compiler chooses nothing but `auto` for threads.
std::string_view nameOf(AssemblyPlan plan);
std::string_view nameOf(Threads threads);
std::string_view nameOf(CachePlace place);
std::string_view nameOf(WorkspaceKind kind);
std::string_view nameOf(LoopSchedule::Directive::Kind kind);
std::string_view nameOf(LoopSchedule::Derived::Kind kind);

struct Statement {
  /// Subscripts are plain, distinct variables, which may be those of indirections; of a part, a constant may
  /// be added to each.
  Access lhs;
  Reduce reduce = Reduce::Add;
  /// The result starts from the value the tensor already has (an input, or an earlier statement's result);
  /// else from the monoid's identity (`=`: the fill when something is summed).
  bool accumulate = false;
  /// `=` without any reduction index: one assignment per coordinate.
  bool assign = false;
  /// Assigns to some of the coordinates, and leaves the others as they are; those that no statement has
  /// assigned to mean nothing.
  bool part = false;
  /// Of a statement that has parts in their places, or writes one of them. Of one that makes the whole, the
  /// right side adds the parts up, for whoever asks what is read.
  Concatenation concat = {};
  /// `set(MASK)`: a sparse result stores what the mask holds, be it most of all there is.
  bool isSet = false;
  /// Of the type the left side computes in: its element type, f32 for f16 and bf16 (rounded when stored).
  Expr rhs;
  Mask where;                             ///< null: everywhere
  std::vector<unsigned> reductionIndices; ///< those that are not on the left, in order of appearance
  std::vector<Indirection> indirections;  ///< indices whose values are read, after those that they depend on
  AssemblyPlan plan = AssemblyPlan::Auto; ///< of a schedule
  LoopSchedule loops = {};
  SourceRange range;
};

/// `repeat most { … } until condition`: steps [begin, end) run again and again, at least once.
struct Loop {
  unsigned begin, end;           ///< statements, or in compiled code functions
  int64_t most;                  ///< rounds
  std::optional<unsigned> until; ///< a tensor, the truth value that the last step of a round computes
};

struct IndexVar {
  std::string name;
  int64_t size = 0;
  Outside outside = Outside::Error; ///< of one that a tensor gives
  bool unique = false;              ///< the tensor gives each coordinate once at most
};

struct TensorDecl {
  std::string name;
  ElementType type = ElementType::F64;
  std::vector<int64_t> dims;
  format::Encoding encoding; ///< widths may be 0
  bool input = false;        ///< given by the user
  bool written = false;      ///< on some left-hand side
  /// Computed for the user: by default what no later statement reads, and what the user gave a first value.
  /// Others need not exist in memory.
  bool result = false;
  int64_t entries = -1; ///< stored in an input, where known: choices between loop orders follow it
  std::optional<unsigned> like = {}; ///< the tensor whose structure it has: its positions and coordinates
  bool condition = false;            ///< ends a loop: no text names it, and only the loop reads it
  /// Of a set in a format with `explicitVal`, which it has in the end; `encoding` stores truth values.
  std::optional<format::Encoding> withoutValues = {};
};

/// Semicolon-separated statements, checked against the tensors they use.
struct Program {
  std::string text;
  std::vector<TensorDecl> tensors; ///< in order of first appearance
  std::vector<IndexVar> indices;
  std::vector<Statement> statements;
  std::vector<Loop> loops; ///< nested intervals; in the order of the text, outer ones before inner ones
  std::vector<Decomposition> decompositions;    ///< whose tensors stand behind all others
  std::string schedule = {}, scheduleName = {}; ///< the text that was applied, and what errors call it
  std::vector<std::string> rewrites = {};       ///< its primitives that changed the statements, in order
};

/// What is known of a tensor before checking; empty dims: unknown.
struct Binding {
  std::optional<ElementType> type;
  std::optional<std::vector<int64_t>> dims;
  std::optional<format::Encoding> encoding;
  bool input = false;
  int64_t entries = -1;                 ///< stored, where known
  std::optional<std::string> like = {}; ///< the tensor whose structure it has; `encoding` then follows
};

/// By tensor, the one whose structure it has (`like`).
using Likes = std::map<std::string, std::string>;
/// The name in the format `like NAME`; nothing in other formats.
std::optional<std::string> likeName(std::string_view format);

/// Names used in the text with the order each is used at, first appearance first: what a caller needs in
/// order to bind (generators take their sizes from the other tensors). A tensor that only lends its structure
/// is one of them. Throws SyntaxError.
struct TensorUse {
  std::string name;
  unsigned order;
  bool read, written;
  bool first; ///< needs a first value: a statement reads it, or adds to it in a loop, before any has written
              ///< it
};
std::vector<TensorUse> tensorsUsed(std::string_view text, const Likes &likes = {});
/// The tensors that statements write, in the order in which each is last written. Throws SyntaxError.
std::vector<std::string> tensorsWritten(std::string_view text);

/// Which function a name without a value may mean, `sqr(A(i,j))`: the end of an error; empty where none is
/// close.
std::string functionHint(std::string_view name);

/// Dimension sizes of every tensor that follow from those given: lets a caller generate `x=random` before
/// checking. A dimension nobody fixes is absent (-1).
std::map<std::string, std::vector<int64_t>>
inferDims(std::string_view text, const std::map<std::string, std::vector<int64_t>> &known,
          const Likes &likes = {});

/// Parses and checks a whole program: orders, index use, dimension sizes (a clash names both uses), types.
/// Throws SyntaxError pointing into the text.
Program check(std::string_view text, const std::map<std::string, Binding> &bindings);

/// The tensors that a program computes, by name.
std::vector<std::string> computedNames(const Program &program);

/// Makes results of these tensors, too. Throws Error for a name that no statement writes.
void addResults(Program &program, const std::vector<std::string> &names);

/// Chooses widths of results that are not named: those of the operand whose pattern a result has, where that
/// has some, else those that the result's sizes need. `check` has done so; widths that operands got since are
/// used.
void takeWidths(Program &program);

/// Chooses widths that parts do not name: those of the tensor that was split, where it has some.
void takeWidthsOfParts(Program &program);

/// Chooses the widths that nothing has named: of tensors with another's structure, that one's.
void resolveWidths(Program &program);

/// Puts `text` on the statements of a checked program: `reorder(i, k, j); assemble(C, count)`. `strategies`
/// are those that a loop can have. Throws SyntaxError, pointing into the text, for what does not parse and
/// for what the statements do not have. Sources: Senanayake et al., "A sparse iteration space transformation
/// framework for sparse tensor algebra", 2020 (reorder, parallelize, vectorize, unroll); Ragan-Kelley et al.,
/// "Halide", 2013 (compute_at, compute_root, compute_inline); Chou, Kjolstad and Amarasinghe, "Automatic
/// generation of efficient sparse tensor format conversion routines", 2020 (plans of assembly).
void applySchedule(Program &program, std::string_view text, const std::vector<std::string> &strategies,
                   std::string_view name = "<schedule>");

/// Replaces what later statements read of the statement's result by its right-hand side, and removes the
/// statement. Returns why that cannot be, and leaves the program as it is then; empty otherwise.
std::string inlineStatement(Program &program, size_t statement);

/// Declares the parts of a tensor, as inputs whose names begin with its own; those of another decomposition
/// of it into the same parts where there is one. Returns their tensors.
std::vector<unsigned> declareParts(Program &program, unsigned tensor, std::vector<Part> parts,
                                   SourceRange range);

/// Replaces a statement that reads the tensor by one for each of these parts, the first of which begins the
/// sum. Returns why that cannot be, and leaves the program as it is then; empty otherwise.
std::string decomposeStatement(Program &program, size_t statement, unsigned tensor,
                               const std::vector<unsigned> &parts);

/// Makes a part of the statement's right-hand side, by its text, a statement of its own before it: a tensor
/// of that name, computed in the last of these loops of the statement. Sums over what only the part depends
/// on go with it. Returns why that cannot be, and leaves the program as it is then; empty otherwise.
std::string precomputeExpression(Program &program, size_t statement, const std::string &text,
                                 const std::vector<std::string> &loops, const std::string &name,
                                 WorkspaceKind kind);

/// The name of a statement, by its number in the program: its result, and a number where it is not the first
/// that makes it.
std::string nameOf(const Program &program, size_t number);

/// The format that an operand is converted to, with widths.
format::Encoding conversionTarget(const Program &program, const LoopSchedule::Conversion &conversion);

/// Those primitives of a program's schedule that no compiler chooses, and that are not seen in the loops of
/// its statements: they change the statements, make loops of others, or say of a loop how its body is.
std::vector<std::string> primitivesOfLoops(const Program &program);

/// Canonical text of the schedule that a program has; empty where all is left to the compiler.
std::string printSchedule(const Program &program);

/// The program in which statements that read dense results of others at digits of an index have those digits
/// as indices, where nothing else in them, nor a schedule, is about it: left sides are sums then. A schedule's
/// tiles of fewer elements than vectors hold, in which others are computed, become rows of the digits, too.
Program splitDigits(Program program);
/// Why loops that the schedule of a program makes are not those that it has with loops over digits.
std::vector<std::string> reasonsOfDigits(const Program &given, const Program &split);

/// Where the parts of a concatenation begin in a dimension of the result, by their sizes; behind them, where
/// the last one ends.
std::vector<int64_t> offsetsOf(const Program &program, const Concatenation &concat, unsigned dim);

/// Canonical text of a program, a statement or an expression, for remarks and tests; it parses.
std::string print(const Program &program);
std::string print(const Program &program, const Access &access);
std::string print(const Program &program, const Expr &expr);
std::string print(const Program &program, const Statement &statement);

} // namespace tulle::notation
