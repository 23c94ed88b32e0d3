"""Element types, constants, and what can be asked of them, by the names of the array API standard."""

from typing import NamedTuple

import numpy as np

from ._errors import TulleError
from ._tensor import Tensor

bool = np.dtype(np.bool_)
int8, int16, int32, int64 = map(np.dtype, ("int8", "int16", "int32", "int64"))
float16, float32, float64 = map(np.dtype, ("float16", "float32", "float64"))
complex64, complex128 = map(np.dtype, ("complex64", "complex128"))

e, inf, nan, newaxis, pi = np.e, np.inf, np.nan, None, np.pi

_DTYPES = {str(dtype): dtype for dtype in
           (bool, int8, int16, int32, int64, float32, float64, complex64, complex128)}


def _dtype_of(obj):
    return obj.dtype if isinstance(obj, Tensor) else obj


def result_type(*arrays_and_dtypes):
    """The type to which these are promoted, by NumPy's rules: Python's numbers are weak."""
    return np.result_type(*map(_dtype_of, arrays_and_dtypes))


def can_cast(from_, to, /):
    """Whether a type, or an array's, becomes another without losing a value."""
    return np.can_cast(_dtype_of(from_), to)


def isdtype(dtype, kind):
    """Whether a dtype is of a kind: "bool", "signed integer", "integral", "real floating", "complex floating",
    "numeric", a dtype, or one of a tuple of them."""
    return np.isdtype(np.dtype(dtype), kind)


class Limits(NamedTuple):
    """Limits of a floating-point type, as Python's numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


class IntegerLimits(NamedTuple):
    """Limits of an integer type."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


def finfo(type, /) -> Limits:
    """Limits of a floating-point type, or of an array's; of a complex type those of its parts."""
    of = np.finfo(_dtype_of(type))
    return Limits(of.bits, float(of.eps), float(of.max), float(of.min), float(of.smallest_normal), of.dtype)


def iinfo(type, /) -> IntegerLimits:
    """Limits of an integer type, or of an array's."""
    of = np.iinfo(_dtype_of(type))
    return IntegerLimits(of.bits, of.max, of.min, of.dtype)


class _Info:
    """What the namespace has; see `__array_namespace_info__`."""

    def capabilities(self) -> dict:
        """Boolean masks, and shapes that depend on values, are there; a tensor has at most 64 dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """"cpu"."""
        return "cpu"

    def devices(self) -> list:
        """["cpu"]."""
        return ["cpu"]

    def default_dtypes(self, *, device=None) -> dict:
        """The types of new arrays for which none is given."""
        check_device(device)
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None) -> dict:
        """The types by name, of one kind or of all; there are no unsigned integers."""
        check_device(device)
        return {name: dtype for name, dtype in _DTYPES.items() if kind is None or np.isdtype(dtype, kind)}


def __array_namespace_info__():
    """What the namespace has: capabilities, devices, types."""
    return _Info()


def check_device(device) -> None:
    if device not in (None, "cpu"):
        raise TulleError(f"device {device!r}: tensors are in the memory of the CPU")
