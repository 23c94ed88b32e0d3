"""Element types: Tulle's names and NumPy's."""

import numpy as np

from ._errors import TulleError

_DTYPES = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
_ELEMENTS = {dtype: name for name, dtype in _DTYPES.items()}


def _bfloat16():
    """NumPy's dtype of bfloat16, from the package ml_dtypes; None where that is not installed."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(ml_dtypes.bfloat16)


def dtype_of(element: str) -> np.dtype:
    """NumPy's dtype of an element type; the bits of a bfloat16 as uint16 where ml_dtypes is not installed."""
    if element == "bf16":
        return _bfloat16() or np.dtype(np.uint16)
    return _DTYPES[element]


def as_bfloat16(array):
    """An array of the bits of bfloat16 numbers as one of these numbers, where ml_dtypes is installed."""
    return array.view(_bfloat16() or array.dtype)


def element_of(dtype, name: str = "dtype") -> str:
    """Tulle's name of a dtype, of whatever NumPy takes for one, or of a name of Tulle's own.

    Raises TulleError, calling the argument ``name``, for dtypes that Tulle does not have.
    """
    if isinstance(dtype, str) and (dtype in _DTYPES or dtype == "bf16"):
        return dtype
    try:
        given = np.dtype(dtype)
    except TypeError as error:
        raise TulleError(f"{name}: {error}") from None
    element = _ELEMENTS.get(given)
    if element is None and given == _bfloat16():
        element = "bf16"
    if element is None:
        raise TulleError(
            f"{name}: Tulle has no elements of type {given}; convert to one of {', '.join(map(str, _ELEMENTS))}"
            + (", in the machine's byte order" if not given.isnative else "")
        )
    return element
