"""New tensors: dense, as the array API standard has them, or in a format that is named."""

import operator

import numpy as np

from . import _core
from ._array_api_types import check_device
from ._errors import DenseResultError, TulleError
from ._operands import dense_tensor, is_dense, result_encoding
from ._tensor import Tensor, as_operand, asarray
from ._types import dtype_of, element_of


def _dtype(dtype, default):
    element = "" if dtype is None else element_of(dtype)
    return np.dtype(default) if dtype is None else np.dtype(np.float32) if element == "bf16" else dtype_of(element)


def _made(array, dtype) -> Tensor:
    """A dense tensor of a new array; bfloat16 numbers are not NumPy's."""
    tensor = dense_tensor(array)
    return tensor.astype("bf16") if dtype is not None and element_of(dtype) == "bf16" else tensor


def _shape(shape):
    return tuple(map(operator.index, shape)) if isinstance(shape, (tuple, list)) else (operator.index(shape),)


def zeros(shape, *, dtype=None, device=None, format: str = "dense") -> Tensor:
    """A tensor of zeros, float64 by default; of a sparse format, with no entries."""
    check_device(device)
    if format == "dense":
        return _made(np.zeros(_shape(shape), dtype=_dtype(dtype, np.float64)), dtype)
    return _nothing(_shape(shape), "f64" if dtype is None else element_of(dtype), format)


def _nothing(shape, element: str, format: str) -> Tensor:
    if element == "bf16":  # NumPy has no such numbers
        return _nothing(shape, "f32", format).astype("bf16")
    none, values = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=dtype_of(element))
    return _core.pack(element, list(shape), [none] * len(shape), values, format)


def empty(shape, *, dtype=None, device=None) -> Tensor:
    """A tensor whose elements may be anything, here 0: tensors do not change."""
    return zeros(shape, dtype=dtype, device=device)


def ones(shape, *, dtype=None, device=None) -> Tensor:
    """A dense tensor of ones, float64 by default."""
    check_device(device)
    return _made(np.ones(_shape(shape), dtype=_dtype(dtype, np.float64)), dtype)


def full(shape, fill_value, *, dtype=None, device=None) -> Tensor:
    """A dense tensor of one value, of its type by default."""
    check_device(device)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.todense()[()]
    return _made(np.full(_shape(shape), fill_value, dtype=None if dtype is None else _dtype(dtype, None)), dtype)


def zeros_like(x, /, *, dtype=None, device=None) -> Tensor:
    """Zeros in the shape of x, and in its format."""
    return full_like(x, 0, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None) -> Tensor:
    """Zeros in the shape of x, and in its format: tensors do not change."""
    return zeros_like(x, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None) -> Tensor:
    """Ones in the shape of a dense tensor."""
    return full_like(x, 1, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None) -> Tensor:
    """One value in the shape of a tensor, which is dense unless the value is 0."""
    check_device(device)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.todense()[()]
    if not is_dense(x) and fill_value != 0:
        raise DenseResultError(f"full_like: the result would be dense, but the tensor is in format {x.format}; say "
                               f"tulle.full(A.shape, {fill_value})")
    if not is_dense(x):
        return _nothing(x.shape, x._element if dtype is None else element_of(dtype), result_encoding(x.encoding))
    x = x if isinstance(x, Tensor) else as_operand(x, "full_like")
    element = x._element if dtype is None else element_of(dtype)
    return _made(np.full(x.shape, fill_value, dtype=_dtype(element, None)), element)


def eye(n_rows, n_cols=None, /, *, k: int = 0, dtype=None, device=None, format: str = "dense") -> Tensor:
    """Ones on the diagonal j = i + k; of a sparse format, only these are stored."""
    check_device(device)
    rows = operator.index(n_rows)
    columns = rows if n_cols is None else operator.index(n_cols)
    if format == "dense":
        return dense_tensor(np.eye(rows, columns, k, dtype=_dtype(dtype, np.float64)))
    first, last = max(0, -k), max(0, -k, min(rows, columns - k))
    places = np.arange(first, last, dtype=np.int64)
    ones = np.ones(len(places), dtype=_dtype(dtype, np.float64))
    return _core.pack(element_of(ones.dtype), [rows, columns], [places, places + k], ones, format)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None) -> Tensor:
    """Evenly spaced numbers below stop; numpy.arange."""
    check_device(device)
    first, last = (0, start) if stop is None else (start, stop)
    return dense_tensor(np.arange(first, last, step, dtype=None if dtype is None else _dtype(dtype, None)))


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint: bool = True) -> Tensor:
    """`num` evenly spaced numbers between two; numpy.linspace."""
    check_device(device)
    if dtype is not None:
        dtype = _dtype(dtype, None)
    return dense_tensor(np.linspace(start, stop, operator.index(num), dtype=dtype, endpoint=endpoint))


def meshgrid(*arrays, indexing: str = "xy") -> list[Tensor]:
    """Dense tensors of coordinates, of vectors of coordinates; numpy.meshgrid."""
    from ._operands import array_of

    return [dense_tensor(grid) for grid in np.meshgrid(*map(array_of, arrays), indexing=indexing)]


def from_dlpack(x, /, *, device=None, copy: bool | None = None) -> Tensor:
    """A dense tensor over the memory of an object that speaks DLPack."""
    check_device(device)
    if not hasattr(x, "__dlpack__"):
        raise TulleError(f"from_dlpack: a {type(x).__name__} does not speak DLPack")
    return asarray(x, copy=copy)


def tril(x, /, *, k: int = 0):
    """The elements of matrices at and below the diagonal j = i + k, the others being 0."""
    return _triangle(x, "<=", k, "tril")


def triu(x, /, *, k: int = 0):
    """The elements of matrices at and above the diagonal j = i + k, the others being 0."""
    return _triangle(x, ">=", k, "triu")


def _triangle(x, comparison: str, k: int, name: str):
    from ._elementwise import indices, storage
    from ._operands import given_back, operands_of
    from ._program import einsum

    (operand,) = operands = operands_of((x,), name)
    ndim = len(operand.shape)
    if ndim < 2:
        raise TulleError(f"{name}: expected two dimensions or more, got {ndim}")
    text = f"y{indices(ndim)} = x{indices(ndim)} where (i{ndim - 1} - i{ndim - 2} {comparison} k)"
    format = storage(operands, operand.shape) if operand.sparse else "dense"
    made = einsum(text, tensors={"x": operand.value, "k": np.asarray(operator.index(k))},
                  types={"y": (format, operand.element)})
    return given_back(made, operands, operand.element)
