// Sums of digits, each times a stride, that several dimensions share one level by: `i * 6 + j`.
#pragma once
#include "format/Encoding.h"

namespace tulle::format {

/// A sum of digits times strides, each of which is below the next larger stride's: then each is a digit of
/// the sum.
struct LinearForm {
  struct Term {
    int64_t stride;
    Digit digit;
    int64_t count = 0; ///< how many values it can have so that it stays below the next larger stride; 0: any
  };
  Expr expr;
  std::vector<Term> terms; ///< by descending strides
  int64_t offset = 0;

  /// The term's value, from that of the form.
  Expr valueOf(const Term &term, Expr form) const;
};

/// Reads digits of dimensions, of their ranks, and of linear forms. The rank of a dimension counts as one
/// more dimension, with a number after those of the real ones, and each form as one more after these.
class DigitReader {
public:
  explicit DigitReader(unsigned order, bool readsForms = false) : order(order), readsForms(readsForms) {}

  /// `e` as `(dim / stride) % modulus`, if it is that.
  std::optional<Digit> operator()(const Expr &e);
  /// In the order of their numbers: a form has digits of earlier ones only.
  std::vector<LinearForm> forms;
  unsigned numberOf(size_t form) const { return 2 * order + unsigned(form); }

private:
  std::optional<Digit> formOf(const Expr &e);
  bool collect(const Expr &e, int64_t factor, LinearForm &form, bool &bitwise);

  unsigned order;
  bool readsForms;
  // A `let` may double what it binds, again and again.
  static constexpr size_t maxSize = 20000;
  size_t size = 0;
};

} // namespace tulle::format
