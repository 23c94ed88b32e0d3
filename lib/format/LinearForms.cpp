// Terms are collected through sums, products with integers and shifts; `|` and `^` are sums where strides are
// powers of two, since then no two terms have a bit in common.
#include "format/LinearForms.h"
#include <algorithm>
#include <bit>
#include <limits>

namespace tulle::format {

Expr LinearForm::valueOf(const Term &term, Expr form) const {
  if (offset != 0)
    form = binary(ExprKind::Sub, form, constant(offset));
  // What larger strides leave over; of those that divide each other the last says it all.
  for (size_t t = 0; &terms[t] != &term; ++t)
    if (&terms[t + 1] == &term || terms[t].stride % terms[t + 1].stride != 0)
      form = binary(ExprKind::Mod, form, constant(terms[t].stride));
  return term.stride == 1 ? form : binary(ExprKind::FloorDiv, form, constant(term.stride));
}

std::optional<Digit> DigitReader::operator()(const Expr &e) {
  if (++size > maxSize)
    return std::nullopt;
  if (e->kind == ExprKind::Dim)
    return Digit{unsigned(e->value), 1, 0};
  if (e->kind == ExprKind::Rank)
    return Digit{order + e->dims[0], 1, 0};
  if (e->kind == ExprKind::Variable)
    return (*this)(e->bound);
  const bool division = e->kind == ExprKind::FloorDiv || e->kind == ExprKind::Mod;
  if (!division)
    return readsForms ? formOf(e) : std::nullopt;
  if (e->rhs->kind != ExprKind::Constant || e->rhs->value < 1)
    return std::nullopt;
  std::optional<Digit> digit = (*this)(e->lhs);
  const int64_t n = e->rhs->value;
  if (!digit)
    return std::nullopt;
  if (e->kind == ExprKind::Mod) {
    if (digit->modulus == 0 || digit->modulus % n == 0)
      digit->modulus = n;
    else if (n < digit->modulus)
      return std::nullopt;
    return digit;
  }
  if (__builtin_mul_overflow(digit->stride, n, &digit->stride) || digit->modulus % n != 0)
    return std::nullopt;
  digit->modulus /= n;
  return digit;
}

bool DigitReader::collect(const Expr &e, int64_t factor, LinearForm &form, bool &bitwise) {
  if (++size > maxSize)
    return false;
  auto add = [&](int64_t value, int64_t times) {
    int64_t product = 0;
    return !__builtin_mul_overflow(value, times, &product) &&
           !__builtin_add_overflow(form.offset, product, &form.offset);
  };
  switch (e->kind) {
  case ExprKind::Constant:
    return add(e->value, factor);
  case ExprKind::Variable:
    return collect(e->bound, factor, form, bitwise);
  case ExprKind::Or:
  case ExprKind::Xor:
    bitwise = true;
    [[fallthrough]];
  case ExprKind::Add:
    return collect(e->lhs, factor, form, bitwise) && collect(e->rhs, factor, form, bitwise);
  case ExprKind::Sub:
    return e->rhs->kind == ExprKind::Constant && e->rhs->value != std::numeric_limits<int64_t>::min() &&
           add(-e->rhs->value, factor) && collect(e->lhs, factor, form, bitwise);
  case ExprKind::Mul:
  case ExprKind::Shl: {
    const bool left = e->lhs->kind == ExprKind::Constant && e->kind == ExprKind::Mul;
    const Expr &number = left ? e->lhs : e->rhs, &other = left ? e->rhs : e->lhs;
    if (number->kind != ExprKind::Constant || (e->kind == ExprKind::Shl && uint64_t(number->value) > 62))
      return false;
    const int64_t times = e->kind == ExprKind::Shl ? int64_t(1) << number->value : number->value;
    return times > 0 && !__builtin_mul_overflow(factor, times, &factor) &&
           collect(other, factor, form, bitwise);
  }
  default: {
    const std::optional<Digit> digit = (*this)(e);
    if (digit)
      form.terms.push_back({factor, *digit});
    return digit.has_value();
  }
  }
}

/// Registers the form. A single term is no form: its level has one unknown.
std::optional<Digit> DigitReader::formOf(const Expr &e) {
  LinearForm form{e, {}, 0};
  bool bitwise = false;
  // Where `e` is none of the operations that are collected, it is no digit either.
  const bool isSum = e->kind == ExprKind::Add || e->kind == ExprKind::Sub || e->kind == ExprKind::Mul ||
                     e->kind == ExprKind::Shl || e->kind == ExprKind::Or || e->kind == ExprKind::Xor;
  if (!isSum || !collect(e, 1, form, bitwise) || form.terms.size() < 2)
    return std::nullopt;
  std::ranges::sort(form.terms, std::greater(), &LinearForm::Term::stride);
  if (bitwise && (form.offset != 0 || !std::ranges::all_of(form.terms, [](const LinearForm::Term &term) {
                    return std::has_single_bit(uint64_t(term.stride));
                  })))
    return std::nullopt;
  for (size_t t = 1; t < form.terms.size(); ++t) {
    LinearForm::Term &term = form.terms[t];
    term.count = form.terms[t - 1].stride / term.stride;
    if (term.stride == form.terms[t - 1].stride || term.digit.modulus > term.count)
      return std::nullopt;
  }
  const auto known =
      std::ranges::find_if(forms, [&](const LinearForm &other) { return equal(other.expr, e); });
  const size_t number = size_t(known - forms.begin());
  if (known == forms.end())
    forms.push_back(std::move(form));
  return Digit{numberOf(number), 1, 0};
}

} // namespace tulle::format
