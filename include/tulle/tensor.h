// Tensors of the public interface: a format, sizes, and buffers that are owned or borrowed.
#pragma once
#include "tulle/error.h"
#include "tulle/export.h"
#include "tulle/format.h"
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tulle {

namespace detail {
struct TensorImpl;
struct Access;
} // namespace detail

/// The bits of an IEEE 754 half-precision number, and of a bfloat16: C++20 has no names for them.
struct Half {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

/// The notation's name of a C++ element type: `double` is "f64".
template <class T> struct ElementName;
#define TULLE_ELEMENT(type, text)                                                                            \
  template <> struct ElementName<type> {                                                                     \
    static constexpr const char *value = text;                                                               \
  };
TULLE_ELEMENT(bool, "bool")
TULLE_ELEMENT(int8_t, "i8")
TULLE_ELEMENT(int16_t, "i16")
TULLE_ELEMENT(int32_t, "i32")
TULLE_ELEMENT(int64_t, "i64")
TULLE_ELEMENT(BFloat16, "bf16")
TULLE_ELEMENT(Half, "f16")
TULLE_ELEMENT(float, "f32")
TULLE_ELEMENT(double, "f64")
TULLE_ELEMENT(std::complex<float>, "c64")
TULLE_ELEMENT(std::complex<double>, "c128")
#undef TULLE_ELEMENT

/// What a kernel needs to know about a tensor before it sees one.
struct TensorType {
  /// bool i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128; of a result "": it follows from the operands.
  std::string element = "f64";
  Format format = Format("dense");
  /// Empty for a scalar, for an operand of any sizes, and for a result whose sizes follow from the operands.
  std::vector<int64_t> dims;
};

/// One buffer of a stored tensor: `count` elements of `width` bits. Coordinates and positions are unsigned
/// integers. `owner` keeps the memory; a borrowed buffer without one must outlive every tensor that has it.
struct BufferView {
  const void *data = nullptr;
  int64_t count = 0;
  unsigned width = 0;
  std::shared_ptr<const void> owner = {};
};

/// What a buffer of a format is for: "sizes", "permutation", "positions", "coordinates", "bits" or "values"
/// (docs/reference/encoding.md), and of which level; of values: how many levels there are.
struct BufferRole {
  std::string kind;
  unsigned level = 0;
};

/// Whether what is borrowed is checked for every invariant that kernels rely on. They do not check again: of
/// buffers that are trusted without reason, they read and write anywhere.
enum class Check { Everything, Nothing };

/// A tensor of any element type. Copies of the handle are the same tensor. Tensors that hold the same share
/// memory where they can (conversions, slices), which nobody can tell: writing to one never changes another.
class TULLE_EXPORT AnyTensor {
public:
  AnyTensor() = default;
  bool empty() const { return !impl; } ///< made by the default constructor; nothing else may be called then

  const std::vector<int64_t> &dims() const;
  /// Size of dimension `d`. Throws Error when there is none.
  int64_t dim(unsigned d) const;
  unsigned order() const { return unsigned(dims().size()); }
  TensorType type() const;
  std::string element() const;    ///< "f64", …
  bool isDense() const;           ///< in the format "dense": every element, the last dimension fastest
  std::string formatName() const; ///< "CSR", "BCSR(4,4)", …; of a format without a name its encoding
  /// The value of what is not stored, in the notation's spelling: "0", "inf", "(1, 2)", …
  std::string fill() const;
  /// Value slots, block padding included; of a slice the coordinates stored within it, which a query counts.
  int64_t storedCount() const;
  int64_t bytes() const; ///< of all buffers

  /// Buffers of level `level`; an empty view where the format stores none there. Interleaved coordinates (COO
  /// without `soa`) are returned as they are stored, with the coordinates of the whole run. Throws Error when
  /// there is no such level.
  BufferView positions(unsigned level) const;
  BufferView coordinates(unsigned level) const;
  /// Throws Error where the format has `explicitVal`: there are no values then.
  BufferView rawValues() const;
  /// All buffers, in the order in which `borrow` takes them: see buffersOf.
  std::vector<BufferView> buffers() const;

  /// The same tensor in another format. Buffers that both formats store alike, in memory that is Tulle's, are
  /// not copied: the columns and values of a COO in order are those of the CSR. In the format that it has
  /// already a tensor stays as it is, borrowed where it was. Throws Error when the format cannot hold the
  /// data, and for one with slices. Of a slice: a copy of what it shows.
  AnyTensor to(const Format &format) const;
  /// The tensor of the coordinates offset, offset + stride, … of a dimension (counted from 0), `size` of
  /// them: its entry c there is this tensor's entry offset + stride * c. Nothing is copied before one of the
  /// two is written to, and what `positions`, `coordinates` and `values` give holds what lies outside as
  /// well. Kernels read it as any tensor of its type(), whose format has the slices; it cannot be a result. A
  /// slice can be cut again. Throws Error unless 0 <= offset, 1 <= size, 1 <= stride and offset + (size - 1)
  /// * stride is below the dimension's size.
  AnyTensor slice(unsigned dimension, int64_t offset, int64_t size, int64_t stride = 1) const;

  // Views: tensors over this one's buffers, which they keep. Where levels do not allow one, a copy is made by
  // the compiler; `positions`, `coordinates` and `rawValues` tell. (RFC on structured codegen beyond
  // rectangular arrays.)

  /// The tensor whose dimension d is dimension `order[d]` of this one; without an order, the reverse. Always
  /// a view. Throws Error unless the order has each dimension once.
  AnyTensor transpose(std::vector<unsigned> order = {}) const;
  /// Coordinates of a dimension counted from its end. A view unless levels divide, count or rank the
  /// dimension, or are not in order; else in the same format. Throws Error when there is no such dimension.
  AnyTensor reverse(unsigned dimension) const;
  /// The same elements in row-major order in other dimensions. A view where each level is a digit of one new
  /// dimension, as all of a dense tensor are, and rows of a CSR that are taken apart or strung together; else
  /// a copy: CSR, or CSF of more dimensions than two. Throws Error where the numbers of elements differ.
  AnyTensor reshape(const std::vector<int64_t> &dims) const;
  /// Row r is row `rows[r]` of this tensor, a coordinate of its first dimension; rows may repeat. A view in a
  /// format whose second level is `jagged` or `loose_compressed`, made in the time of reading `rows`, where
  /// the first level is dense and the second stores each row in a piece; else a copy in this format. Throws
  /// Error naming an element of `rows` that is no row.
  AnyTensor gather(std::span<const int64_t> rows) const;
  /// A view in the simplest of the formats that the buffers are: of rows that gather, concat and stack
  /// picked, `dense` (a slice) where they are as long as the dimension, at equal distances, `ragged` or
  /// `compressed` where they follow on each other. Any other tensor as it is.
  AnyTensor canonical() const;

  /// Parts that together store exactly this tensor's entries, each in its own format: the first whose pattern
  /// holds for an entry stores it, and `rest` what no other does. `parts` is written as for the primitive
  /// `decompose` of a schedule: "[DIA @ j - i in {-1, 0, 1}, CSR @ rest]", "hyb(1, 4)". A product with the
  /// tensor is the sum of the products with its parts, which a program says in a statement for each:
  /// `y(i) = D(i,j) * x(j); y(i) += R(i,j) * x(j)`. Throws Error pointing into the text for what does not
  /// parse, an entry that is in none of the parts, and a format that cannot hold its part.
  std::vector<AnyTensor> decompose(const std::string &parts) const;
  /// The storage as text: nse, dim, lvl, pos[l], crd[l], values.
  std::string print() const;

protected:
  explicit AnyTensor(std::shared_ptr<detail::TensorImpl> impl) : impl(std::move(impl)) {}
  void requireElement(const char *wanted) const; ///< throws Error unless the elements have this type
  void *ownValues(); ///< the values, copied first where anything else can see them
  friend struct detail::Access;
  std::shared_ptr<detail::TensorImpl> impl;
};

/// A tensor whose element type is known to the compiler.
template <class T> class Tensor : public AnyTensor {
public:
  Tensor() = default;
  /// Throws Error when the elements are not of type T.
  Tensor(const AnyTensor &any) : AnyTensor(any) {
    if (!any.empty())
      requireElement(ElementName<T>::value);
  }
  /// The value slots in storage order; for a dense tensor its elements in row-major order. Throws Error as
  /// rawValues does.
  std::span<const T> values() const {
    BufferView view = rawValues();
    return {static_cast<const T *>(view.data), size_t(view.count)};
  }
  /// Calls `change(std::span<T>)` with the value slots, to be read and written until it returns; before that,
  /// nothing else is made of the tensor. Where another tensor shares them, or they are the caller's own
  /// (`dense`, `borrow`), they are copied first: spans that `values` gave before are to be taken anew. Throws
  /// Error as rawValues does.
  template <class Change> void write(Change &&change) {
    T *first = static_cast<T *>(ownValues());
    change(std::span<T>(first, size_t(rawValues().count)));
  }
  Tensor<T> to(const Format &format) const { return Tensor<T>(AnyTensor::to(format)); }
  Tensor<T> slice(unsigned dimension, int64_t offset, int64_t size, int64_t stride = 1) const {
    return Tensor<T>(AnyTensor::slice(dimension, offset, size, stride));
  }
  Tensor<T> transpose(std::vector<unsigned> order = {}) const {
    return Tensor<T>(AnyTensor::transpose(std::move(order)));
  }
  Tensor<T> reverse(unsigned dimension) const { return Tensor<T>(AnyTensor::reverse(dimension)); }
  Tensor<T> reshape(const std::vector<int64_t> &dims) const { return Tensor<T>(AnyTensor::reshape(dims)); }
  Tensor<T> gather(std::span<const int64_t> rows) const { return Tensor<T>(AnyTensor::gather(rows)); }
  Tensor<T> canonical() const { return Tensor<T>(AnyTensor::canonical()); }
  std::vector<Tensor<T>> decompose(const std::string &parts) const {
    std::vector<Tensor<T>> typed;
    for (const AnyTensor &part : AnyTensor::decompose(parts))
      typed.push_back(Tensor<T>(part));
    return typed;
  }
};

/// Coordinates and values in any order; duplicates are summed when stored.
template <class T> struct Entries {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> coords; ///< [dimension][entry], 0-based
  std::vector<T> values;
};

// Of element types that are known at run time only; the typed forms below say what each does.
TULLE_EXPORT AnyTensor zerosAny(const std::string &element, std::vector<int64_t> dims);
/// Throws Error where the buffer's count or width is not that of the sizes and the type.
TULLE_EXPORT AnyTensor denseAny(const std::string &element, std::vector<int64_t> dims,
                                const BufferView &elements);
/// `coords`: of each dimension as many integers of 64 bits as there are values.
TULLE_EXPORT AnyTensor packAny(const std::string &element, std::vector<int64_t> dims,
                               const std::vector<std::span<const int64_t>> &coords, const void *values,
                               int64_t count, const Format &format);
TULLE_EXPORT AnyTensor borrowAny(const std::string &element, std::vector<int64_t> dims, const Format &format,
                                 const std::vector<BufferView> &buffers, Check check = Check::Everything);
/// The buffers of a tensor of `order` dimensions in a format, in the order in which `borrow` takes them.
TULLE_EXPORT std::vector<BufferRole> buffersOf(const Format &format, unsigned order);
TULLE_EXPORT AnyTensor raggedAny(const AnyTensor &padded, const std::vector<AnyTensor> &lengths);
TULLE_EXPORT AnyTensor concatAny(const std::vector<AnyTensor> &tensors, unsigned dimension = 0);
TULLE_EXPORT AnyTensor stackAny(const std::vector<AnyTensor> &tensors);
TULLE_EXPORT AnyTensor likeAny(const std::string &element, const AnyTensor &pattern,
                               const std::vector<int64_t> &below = {});

/// A dense tensor of zeros. Throws Error when it does not fit in memory.
template <class T> Tensor<T> zeros(std::vector<int64_t> dims) {
  return zerosAny(ElementName<T>::value, std::move(dims));
}
/// A dense tensor with every element `value`.
template <class T> Tensor<T> full(std::vector<int64_t> dims, T value) {
  Tensor<T> made = zeros<T>(std::move(dims));
  made.write([&](std::span<T> elements) {
    for (T &element : elements)
      element = value;
  });
  return made;
}
/// A dense tensor over the caller's row-major elements, which are borrowed: `owner` keeps them, else they
/// must outlive every copy. Throws Error for sizes of another number of elements.
template <class T>
Tensor<T> dense(std::vector<int64_t> dims, std::span<T> values, std::shared_ptr<const void> owner = {}) {
  return denseAny(ElementName<T>::value, std::move(dims),
                  {values.data(), int64_t(values.size()), 8 * sizeof(T), std::move(owner)});
}
/// Stores entries in a format. Throws Error for a coordinate out of range and data that the format cannot
/// hold.
template <class T> Tensor<T> pack(const Entries<T> &entries, const Format &format) {
  return packAny(ElementName<T>::value, entries.dims, {entries.coords.begin(), entries.coords.end()},
                 entries.values.data(), int64_t(entries.values.size()), format);
}
/// A tensor over the caller's buffers, which are borrowed: for each level its positions, then its coordinates
/// where the format has them, then the values (a format with `explicitVal` has none: a view of their number,
/// without data). Every invariant a kernel relies on is checked first; throws Error naming the buffer and the
/// element.
template <class T>
Tensor<T> borrow(std::vector<int64_t> dims, const Format &format, const std::vector<BufferView> &buffers,
                 Check check = Check::Everything) {
  return borrowAny(ElementName<T>::value, std::move(dims), format, buffers, check);
}
/// What lies within lengths, zeros included, of a tensor that is padded: `lengths` are those of its second,
/// third, … dimension, each a tensor of integers over the first dimension or several, below whose coordinates
/// the dimension is so long; an empty one, or none, leaves a dimension as it is. Ragged operands of one
/// statement must have the same lengths of an index: kernels throw Error naming the parent where they differ.
template <class T> Tensor<T> ragged(const Tensor<T> &padded, const std::vector<AnyTensor> &lengths) {
  return raggedAny(padded, lengths);
}
/// The tensors one behind the other along a dimension. A view along the first, in `jagged` rows, where these
/// are values only, in whatever allocations, or `loose_compressed` ones of the same buffers; else a copy in
/// the format of the first. Throws Error where types, fills, numbers of dimensions or other sizes differ.
template <class T> Tensor<T> concat(const std::vector<Tensor<T>> &tensors, unsigned dimension = 0) {
  return concatAny({tensors.begin(), tensors.end()}, dimension);
}
/// Row r is the whole of tensor r, stored as `(i : dense, j : jagged, k : dense, …)`: a batch of arrays of
/// different lengths. A view of dense tensors at distances that are whole rows, as those of one dimension
/// are; others are copied. Throws Error where types or sizes behind the first dimension differ.
template <class T> Tensor<T> stack(const std::vector<Tensor<T>> &tensors) {
  return stackAny({tensors.begin(), tensors.end()});
}
/// A tensor of zeros that stores an entry where `pattern` does, in the same buffers of positions and
/// coordinates; `below`: the sizes of further dimensions, over which each entry is dense. Throws Error for a
/// slice.
template <class T> Tensor<T> like(const AnyTensor &pattern, const std::vector<int64_t> &below = {}) {
  return likeAny(ElementName<T>::value, pattern, below);
}

} // namespace tulle
