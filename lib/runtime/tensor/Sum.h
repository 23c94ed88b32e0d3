// Values go to their slots; those that meet are summed.
#pragma once
#include "runtime/tensor/Levels.h"

namespace tulle::runtime {

/// *slot += *value: integers wrap, bool is or.
inline void addScalar(ElementType type, void *slot, const void *value) {
  Scalar a = loadScalar(type, slot), b = loadScalar(type, value);
  a.i = type == ElementType::Bool ? a.i | b.i : int64_t(uint64_t(a.i) + uint64_t(b.i));
  a.f += b.f; // in double: rounded once more for f32, which changes no sum
  storeScalar(type, slot, a);
}

enum class Scatter { Assign, Sum };

namespace detail {
template <class T> T load(const std::byte *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

/// Sum as the element type means it: or for bool, wrapping for integers.
struct AddBool {
  using Type = uint8_t;
  static Type add(Type a, Type b) { return a | b; }
};
template <class T> struct AddPlain {
  using Type = T;
  static Type add(Type a, Type b) { return a + b; }
};
template <ElementType E> struct AddNarrowFloat {
  using Type = uint16_t;
  static Type add(Type a, Type b) {
    Scalar sum;
    sum.f = loadScalar(E, &a).f + loadScalar(E, &b).f;
    Type result;
    storeScalar(E, &result, sum);
    return result;
  }
};

template <class F> void withAdder(ElementType type, F &&f) {
  switch (type) {
  case ElementType::Bool:
    return f(AddBool{});
  case ElementType::I8:
    return f(AddPlain<uint8_t>{});
  case ElementType::I16:
    return f(AddPlain<uint16_t>{});
  case ElementType::I32:
    return f(AddPlain<uint32_t>{});
  case ElementType::I64:
    return f(AddPlain<uint64_t>{});
  case ElementType::BF16:
    return f(AddNarrowFloat<ElementType::BF16>{});
  case ElementType::F16:
    return f(AddNarrowFloat<ElementType::F16>{});
  case ElementType::F32:
    return f(AddPlain<float>{});
  case ElementType::F64:
    return f(AddPlain<double>{});
  case ElementType::C64:
    return f(AddPlain<std::complex<float>>{});
  case ElementType::C128:
    return f(AddPlain<std::complex<double>>{});
  }
}
} // namespace detail

/// out[at(e)] = in[source(e)] for every e; with Sum, slots that no longer hold `fill` are added to.
/// (Assigning first keeps the bits of -0.0 and NaN.)
template <class Slot, class Source>
void scatterValues(ElementType type, std::byte *out, Scatter mode, const std::vector<std::byte> &fill,
                   const std::byte *in, int64_t count, Slot at, Source source) {
  detail::withAdder(type, [&](auto adder) {
    using Adder = decltype(adder);
    using T = typename Adder::Type;
    T *slots = reinterpret_cast<T *>(out);
    if (mode == Scatter::Assign) {
      for (int64_t e = 0; e < count; ++e)
        slots[at(e)] = detail::load<T>(in + source(e) * sizeof(T));
      return;
    }
    for (int64_t e = 0; e < count; ++e) {
      T value = detail::load<T>(in + source(e) * sizeof(T));
      T &slot = slots[at(e)];
      slot = std::memcmp(&slot, fill.data(), sizeof(T)) == 0 ? value : Adder::add(slot, value);
    }
  });
}

} // namespace tulle::runtime
