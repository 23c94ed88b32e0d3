"""Sums and other reductions over axes; what is not stored counts as 0.

A result of at most one dimension, and of a dense tensor, is dense; else it is sparse.
"""

import operator

import numpy as np

from ._elementwise import indices
from ._errors import TulleError
from ._operands import Operand, default_format, given_back
from ._program import einsum
from ._types import dtype_of, element_of


class _Axes:
    """An operand, which of its axes are reduced, and the accesses that follow from it."""

    def __init__(self, obj, axis, name: str):
        self.operand = Operand(obj, name)
        if self.operand.kind is not None:
            self.operand = Operand(np.asarray(obj), name)
        self.name, ndim = name, len(self.operand.shape)
        given = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
        self.axes = []
        for one in map(operator.index, given):
            if not -ndim <= one < ndim:
                raise TulleError(f"{name}: axis {one} of a tensor with {ndim} dimensions")
            if one % ndim in self.axes:
                raise TulleError(f"{name}: axis {one} is given twice")
            self.axes.append(one % ndim)
        self.kept = [d for d in range(ndim) if d not in self.axes]
        self.shape = tuple(self.operand.shape[d] for d in self.kept)
        self.count = int(np.prod([self.operand.shape[d] for d in self.axes], dtype=np.int64))
        self.whole = indices(ndim)
        self.out = f"({','.join(f'i{d}' for d in self.kept)})" if self.kept else ""
        self.sparse = self.operand.sparse and len(self.kept) > 1

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.operand.dtype)

    def format(self) -> str:
        return default_format(len(self.kept)) if self.sparse else "dense"

    def read(self, element: str) -> str:
        """The operand, converted."""
        same = self.operand.element == element or self.operand.element == "bf16" and element == "f32"
        return f"x{self.whole}" if same else f"{element}(x{self.whole})"

    def run(self, program: str, element: str, keepdims: bool, types: dict | None = None, **numbers):
        made = einsum(program, tensors={"x": self.operand.value, **numbers},
                      types={**(types or {}), "y": (self.format(), element)})
        result = given_back(made, [self.operand], element)
        if not keepdims:
            return result
        kept = tuple(1 if d in self.axes else size for d, size in enumerate(self.operand.shape))
        return np.reshape(result, kept) if isinstance(result, np.ndarray) else result.reshape(kept)


def _sum_type(of: _Axes, dtype):
    """What NumPy sums in: at least int64 for integers."""
    if dtype is not None:
        return element_of(dtype)
    if of.operand.element in ("bool", "i8", "i16", "i32"):
        return "i64"
    return of.operand.element


def _computed(element: str) -> str:
    return "f32" if element in ("bf16", "f16") else element


def sum(x, /, *, axis=None, dtype=None, keepdims: bool = False):
    """The sum over axes, all by default.

    Parameters
    ----------
    axis : int or tuple of ints, optional
    dtype : optional
        Sum in this type; integers and bool are summed in int64 by default.
    keepdims : bool
        Reduced axes stay, with size 1.

    Returns
    -------
    Tensor; sparse where it has two dimensions or more and x is.
    """
    of = _Axes(x, axis, "sum")
    element = _sum_type(of, dtype)
    return of.run(f"y{of.out} = {of.read(_computed(element))}", element, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims: bool = False):
    """The product over axes, in which what is not stored counts as 0; see `sum`."""
    of = _Axes(x, axis, "prod")
    element = _sum_type(of, dtype)
    return _folded(of, "*=", of.read(_computed(element)), element, keepdims, "0")


def max(x, /, *, axis=None, keepdims: bool = False):
    """The largest element over axes, what is not stored counting as 0; nan where one is. See `sum`."""
    return _extreme(x, axis, keepdims, "max")


def min(x, /, *, axis=None, keepdims: bool = False):
    """The smallest element over axes, what is not stored counting as 0; nan where one is. See `sum`."""
    return _extreme(x, axis, keepdims, "min")


def _extreme(x, axis, keepdims, name: str):
    of = _Axes(x, axis, name)
    if of.count == 0 and np.prod(of.shape) > 0:
        raise TulleError(f"{name}: of no elements; axes of size 0 have none")
    element = of.operand.element
    return _folded(of, f"{name}=", of.read(_computed(element)), element, keepdims, f"{name}(m{of.out}, 0)")


def any(x, /, *, axis=None, keepdims: bool = False):
    """Whether an element over axes is not 0; see `sum`."""
    of = _Axes(x, axis, "any")
    return of.run(f"y{of.out} |= {of.read('bool')}", "bool", keepdims)


def all(x, /, *, axis=None, keepdims: bool = False):
    """Whether all elements over axes are not 0, which they are not where one is not stored; see `sum`."""
    of = _Axes(x, axis, "all")
    return _folded(of, "&=", of.read("bool"), "bool", keepdims, "false")


def _folded(of: _Axes, sign: str, read: str, element: str, keepdims, gap: str):
    """A reduction that does not start at 0. Of a sparse result, the entries of each fiber are reduced, and where
    there are fewer of them than elements, 0 is taken in: `gap`."""
    if not of.axes:
        return of.run(f"y{of.out} = {read}", element, keepdims)
    if not of.sparse:
        return of.run(f"y{of.out} {sign} {read}", element, keepdims)
    program = (
        f"c{of.out} = i64(1) where x{of.whole}; m{of.out} {sign} {read} where x{of.whole}; "
        f"y{of.out} = select(c{of.out} < n, {gap}, m{of.out}) where c{of.out}"
    )
    types = {"c": (of.format(), "i64"), "m": (of.format(), element)}
    return of.run(program, element, keepdims, types, n=np.asarray(of.count))


def mean(x, /, *, axis=None, dtype=None, keepdims: bool = False):
    """The mean over axes, of integers in float64; see `sum`."""
    of = _Axes(x, axis, "mean")
    element = element_of(dtype) if dtype is not None else _real_or_complex(of)
    program = f"s{of.out} = {of.read(_computed(element))}; y{of.out} = s{of.out} / n"
    return of.run(program, element, keepdims, {"s": (of.format(), _computed(element))},
                  n=np.asarray(of.count, dtype=dtype_of(_computed(element))))


def _real_or_complex(of: _Axes) -> str:
    return of.operand.element if of.dtype.kind in "fc" else "f64"


def norm(x, *, axis=None, keepdims: bool = False):
    """The square root of the sum of the absolute values' squares, over all elements or axes: numpy.linalg.norm."""
    of = _Axes(x, axis, "norm")
    element = _real_or_complex(of)
    read = of.read(_computed(element))
    square = f"real({read} * conj({read}))" if element.startswith("c") else f"{read} * {read}"
    made = {"c64": "f32", "c128": "f64"}.get(element, element)
    types = {"s": (of.format(), _computed(made))}
    return of.run(f"s{of.out} = {square}; y{of.out} = sqrt(s{of.out})", made, keepdims, types)


def var(x, /, *, axis=None, correction: float = 0.0, keepdims: bool = False):
    """The variance over axes: squared distances from the mean, divided by their number less `correction`."""
    return _spread(x, axis, correction, keepdims, "{0}", "var")


def std(x, /, *, axis=None, correction: float = 0.0, keepdims: bool = False):
    """The standard deviation over axes, the root of `var`."""
    return _spread(x, axis, correction, keepdims, "sqrt({0})", "std")


def _spread(x, axis, correction, keepdims, root: str, name: str):
    of = _Axes(x, axis, name)
    element = _real_or_complex(of)
    real = {"c64": "f32", "c128": "f64"}.get(element, element)
    wide = _computed(real)
    read, out = of.read(_computed(element)), of.out
    distance = f"abs({read} - s{out}) ** 2"
    # The mean of each fiber, then the distances of what is stored, and of the zeros that are not.
    program = f"t{out} = {read}; s{out} = t{out} / n; "
    if of.operand.sparse:
        program += (f"q{out} += {distance} where x{of.whole}; c{out} += {wide}(1) where x{of.whole}; "
                    f"y{out} = " + root.format(f"((q{out} + (r - c{out}) * abs(s{out}) ** 2) / d)"))
        program += f" where c{out}" if of.sparse else ""
    else:
        program += f"q{out} += {distance}; y{out} = " + root.format(f"(q{out} / d)")
    types = {"t": (of.format(), _computed(element)), "s": (of.format(), _computed(element)), "q": (of.format(), wide)}
    types |= {"c": (of.format(), wide)} if of.operand.sparse else {}
    numbers = {"n": np.asarray(of.count, dtype=dtype_of(_computed(element))),
               "d": np.asarray(np.maximum(of.count - correction, 0), dtype=dtype_of(wide))}
    if of.operand.sparse:
        numbers["r"] = np.asarray(of.count, dtype=dtype_of(wide))
    return of.run(program, real, keepdims, types, **numbers)


def count_nonzero(x, /, *, axis=None, keepdims: bool = False):
    """How many elements over axes are not 0; see `sum`."""
    of = _Axes(x, axis, "count_nonzero")
    return of.run(f"y{of.out} = i64(bool(x{of.whole}))", "i64", keepdims)


def argmax(x, /, *, axis: int | None = None, keepdims: bool = False):
    """The index of the first largest element along an axis, or of all, in row-major order."""
    return _place(x, axis, keepdims, "max")


def argmin(x, /, *, axis: int | None = None, keepdims: bool = False):
    """The index of the first smallest element along an axis, or of all, in row-major order."""
    return _place(x, axis, keepdims, "min")


def _place(x, axis, keepdims, sign: str):
    of = _Axes(x, axis, f"arg{sign}")
    if of.count == 0 and np.prod(of.shape) > 0:
        raise TulleError(f"arg{sign}: of no elements; axes of size 0 have none")
    if of.sparse:
        raise TulleError(f"arg{sign}: the result has two dimensions or more, and an index for every one of them: it would be "
                         "dense; use a dense array, A.todense()")
    if not of.axes:
        return of.run(f"y{of.out} = i64(x{of.whole} != x{of.whole}) * 0", "i64", keepdims)
    element, read = of.operand.element, of.read(_computed(of.operand.element))
    place, strides, stride = [], {}, 1
    for d in reversed(of.axes):
        place.append(f"i{d} * n{d}")
        strides[f"n{d}"] = np.asarray(stride)
        stride *= of.operand.shape[d]
    best = f"m{of.out}"
    program = (f"{best} {sign}= {read}; y{of.out} min= select(({read} == {best}) | ({read} != {read}), "
               f"{' + '.join(place)}, {2**63 - 1})")
    return of.run(program, "i64", keepdims, {"m": (of.format(), element)}, **strides)
