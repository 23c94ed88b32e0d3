// Reads the text of a schedule, a primitive at a time. Each is checked against the statements that it is put
// on as it is read; whether the loops can be as it says is known to the passes that make them.
#pragma once
#include "format/ExprParser.h"
#include "notation/Program.h"
#include <functional>
#include <set>
#include <tuple>

namespace tulle::notation {

class ScheduleParser {
public:
  ScheduleParser(Program &program, std::string_view text, std::string_view name,
                 const std::vector<std::string> &strategies);
  void run();

private:
  using Token = support::Token;
  using Directive = LoopSchedule::Directive;
  using Derived = LoopSchedule::Derived;

  Program &program;
  std::string_view text;
  support::Cursor cursor;
  const std::vector<std::string> &strategies;
  std::set<std::string> planned; ///< results
  std::optional<size_t> only;    ///< the statement that the primitive is put on by name

  /// A loop as a primitive names it: its index, or what a split has called it.
  struct LoopName {
    std::string index, text;
    support::SourceRange range;
  };

  // Schedule.cpp: primitives, and the statements that they are put on
  void primitive();
  std::optional<size_t> target();
  size_t statementNamed();
  std::vector<Statement *> statementsWhere(const std::function<bool(const Statement &)> &fits);
  /// The name of one of the program's statements (not of a copy).
  std::string nameOfStatement(const Statement &statement) const;
  std::string whereAsked() const;

  // Schedule.cpp: loops
  LoopName loop();
  bool isIndex(std::string_view name) const;
  /// Whether a statement has a loop that a primitive has called so.
  bool isPart(std::string_view name) const;
  /// All names that a statement's loops have had, those of its indices among them.
  std::set<std::string> loopNames(const Statement &statement) const;
  /// The names that they have now: of what has become of a loop, instead of the loop.
  std::set<std::string> loopsOf(const Statement &statement) const;
  [[noreturn]] void failIndex(const Token &name) const;
  std::vector<Statement *> statementsOver(const std::vector<LoopName> &loops);
  int64_t count(std::string_view what, int64_t least, int64_t most);
  void direct(Directive directive, const LoopName &over, const Token &primitive);
  void direct(Directive directive, const LoopName &over, const Token &primitive,
              const std::vector<Statement *> &statements);
  void reorder(const Token &primitive);
  void strategy(const Token &primitive);
  void parallelize(const Token &primitive);
  void vectorize(const Token &primitive);
  void unroll(const Token &primitive);
  void jam(const Token &primitive);
  void powerOfTwo(Directive::Kind kind, std::string_view what, int64_t least, const Token &primitive);

  // ScheduleLoops.cpp: loops made of others
  void split(const Token &primitive);
  void divide(const Token &primitive);
  void splitLoop(bool divides, std::string_view what, const Token &primitive);
  std::string newLoop();
  void checkBound(const Statement &statement, const LoopName &over, int64_t size);
  void bound(const Token &primitive);
  void position(const Token &primitive);
  std::vector<std::string> indicesToCount(const Statement &statement, const LoopName &over) const;
  void refuseFused(const Statement &statement, const LoopName &over) const;
  /// The loop that a primitive says something of: of what is left of a fused loop within a tile, the inner of
  /// its two loops, or the outer one for what is said of threads.
  static std::string loopMeant(const Statement &statement, const std::string &loop, bool outer);
  void fuse(const Token &primitive);
  void rfactor(const Token &primitive);
  void refuseEarlier(const Statement &statement, const std::string &loop, const std::string &cure,
                     const Token &primitive) const;

  // ScheduleTensors.cpp: results and operands
  void assemble(const Token &primitive);
  const TensorDecl &resultNamed(const Token &name);
  void convert(const Token &primitive);
  void decompose(const Token &primitive);
  void prefetch(const Token &primitive);
  void cache(const Token &primitive);
  /// Whether a statement uses a tensor.
  using Uses = bool (*)(const Statement &statement, unsigned tensor);
  std::tuple<Directive, LoopName, Token> operandIn(Directive::Kind kind, Uses uses, std::string_view what);
  void directOperand(const Directive &directive, Uses uses, const LoopName &over, const Token &name,
                     const Token &primitive);
  static bool hasAccess(const Statement &statement, unsigned tensor);
  static bool readsOf(const Statement &statement, unsigned tensor);

  // ScheduleTensors.cpp: where statements are computed
  void computeAt(const Token &primitive);
  void computeRoot(const Token &primitive);
  void computeInline(const Token &primitive);
  std::string placeNamed(const Token &loop) const;
  std::string digit();
  void precompute(const Token &primitive);
  WorkspaceKind workspaceKind();
  size_t producerNamed(const Token &primitive, bool sharing);
  void placeAt(size_t producer, std::vector<std::string> loops, const Token &primitive);
};

} // namespace tulle::notation
