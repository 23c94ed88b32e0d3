"""The element-wise functions of the array API standard, each one of NumPy's ufuncs on tensors."""

import numpy as np

from ._elementwise import apply, part, select
from ._tensor import Tensor, asarray

# By the standard's names, where NumPy's differ.
_UFUNCS = {
    name: getattr(np, name) for name in
    "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or "
    "bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide equal exp expm1 floor floor_divide greater "
    "greater_equal hypot isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not "
    "logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow reciprocal remainder "
    "sign signbit sin sinh square sqrt subtract tan tanh trunc".split()
}


def _function(name: str, ufunc):
    if ufunc.nin == 1:
        def call(x, /):
            return apply(ufunc, x)
    else:
        def call(x1, x2, /):
            return apply(ufunc, x1, x2)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"numpy.{ufunc.__name__} of tensors and arrays, which broadcast.\n\n"
        "A sparse result has the format of the first sparse operand of its shape. DenseResultError (a TulleError and "
        "a TypeError) where the result is not 0 where nothing is stored."
    )
    return call


globals().update({name: _function(name, ufunc) for name, ufunc in _UFUNCS.items()})


def round(x, /):
    """Rounds to the nearest integer, halves to the even one."""
    return apply(np.rint, x) if _kind(x) in "fc" else apply(np.positive, x) if _kind(x) != "b" else x


def _kind(x) -> str:
    return x.dtype.kind if hasattr(x, "dtype") else np.asarray(x).dtype.kind


def real(x, /):
    """The real parts of complex numbers."""
    return part("real", x)


def imag(x, /):
    """The imaginary parts of complex numbers."""
    return part("imag", x)


def where(condition, x1, x2, /):
    """Elements of x1 where the condition is true, else of x2; the three broadcast.

    The result is sparse where x2 stores nothing, or is 0, and one of the others stores nothing there, too.
    """
    return select(condition, x1, x2)


def clip(x, /, min=None, max=None):
    """Elements brought between min and max, in the type of x."""
    made = x
    if min is not None:
        made = apply(np.maximum, made, min)
    if max is not None:
        made = apply(np.minimum, made, max)
    return made if made is not x else apply(np.positive, x)


def astype(x, dtype, /, *, copy: bool = True, device=None) -> Tensor:
    """A tensor's elements converted to another type, in the same format."""
    from ._array_api_types import check_device

    check_device(device)
    return asarray(x).astype(dtype, copy=copy)
