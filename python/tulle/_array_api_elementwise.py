"""The element-wise functions of the array API standard, each one of NumPy's ufuncs on tensors."""

from collections.abc import Callable

import numpy as np

from ._elementwise import apply, part, select
from ._tensor import Tensor, asarray


def _function(name: str) -> Callable[..., Tensor | np.ndarray]:
    """The function of this name; NumPy has all of them as ufuncs."""
    ufunc = getattr(np, name)
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


abs = _function("abs")
acos = _function("acos")
acosh = _function("acosh")
add = _function("add")
asin = _function("asin")
asinh = _function("asinh")
atan = _function("atan")
atan2 = _function("atan2")
atanh = _function("atanh")
bitwise_and = _function("bitwise_and")
bitwise_left_shift = _function("bitwise_left_shift")
bitwise_invert = _function("bitwise_invert")
bitwise_or = _function("bitwise_or")
bitwise_right_shift = _function("bitwise_right_shift")
bitwise_xor = _function("bitwise_xor")
ceil = _function("ceil")
conj = _function("conj")
copysign = _function("copysign")
cos = _function("cos")
cosh = _function("cosh")
divide = _function("divide")
equal = _function("equal")
exp = _function("exp")
expm1 = _function("expm1")
floor = _function("floor")
floor_divide = _function("floor_divide")
greater = _function("greater")
greater_equal = _function("greater_equal")
hypot = _function("hypot")
isfinite = _function("isfinite")
isinf = _function("isinf")
isnan = _function("isnan")
less = _function("less")
less_equal = _function("less_equal")
log = _function("log")
log1p = _function("log1p")
log2 = _function("log2")
log10 = _function("log10")
logaddexp = _function("logaddexp")
logical_and = _function("logical_and")
logical_not = _function("logical_not")
logical_or = _function("logical_or")
logical_xor = _function("logical_xor")
maximum = _function("maximum")
minimum = _function("minimum")
multiply = _function("multiply")
negative = _function("negative")
nextafter = _function("nextafter")
not_equal = _function("not_equal")
positive = _function("positive")
pow = _function("pow")
reciprocal = _function("reciprocal")
remainder = _function("remainder")
sign = _function("sign")
signbit = _function("signbit")
sin = _function("sin")
sinh = _function("sinh")
square = _function("square")
sqrt = _function("sqrt")
subtract = _function("subtract")
tan = _function("tan")
tanh = _function("tanh")
trunc = _function("trunc")


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
