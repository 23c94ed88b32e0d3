"""Searching, sorting, sets and running sums. What looks at an order of elements is for dense tensors, by NumPy."""

from typing import NamedTuple

import numpy as np

from ._errors import TulleError
from ._operands import array_of, dense_tensor, is_dense
from ._tensor import Tensor


class UniqueAll(NamedTuple):
    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    values: Tensor
    inverse_indices: Tensor


def _elements(x, name: str) -> np.ndarray:
    if not is_dense(x):
        raise TulleError(f"{name}: the result of a sparse tensor would be dense, or in an order that its zeros take part in; use "
                         "A.todense(), or its A.values")
    return array_of(x)


def nonzero(x, /) -> tuple:
    """The coordinates of elements that are not 0, in row-major order: a vector of int64 for each dimension."""
    if is_dense(x):
        array = array_of(x)
        if not array.ndim:
            raise TulleError("nonzero: of a tensor without dimensions")
        return tuple(map(dense_tensor, np.nonzero(array)))
    entries = x.to("COO-soa" if x.ndim > 1 else "COO")
    there = entries.values != 0
    return tuple(dense_tensor(entries.coordinates(d)[there].astype(np.int64)) for d in range(x.ndim))


def _moved(x, axis: int, name: str) -> np.ndarray:
    array = _elements(x, name)
    if not -array.ndim <= axis < array.ndim:
        raise TulleError(f"{name}: axis {axis} of a tensor with {array.ndim} dimensions")
    return array


def sort(x, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """A dense tensor with its elements in order along an axis."""
    made = np.sort(_moved(x, axis, "sort"), axis=axis, stable=stable)
    return dense_tensor(np.flip(made, axis=axis) if descending else made)


def argsort(x, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places of a dense tensor's elements in order along an axis."""
    array = _moved(x, axis, "argsort")
    if not descending:
        return dense_tensor(np.argsort(array, axis=axis, stable=stable))
    # Backwards twice, so that equal elements keep their order.
    backwards = np.flip(np.argsort(np.flip(array, axis=axis), axis=axis, stable=stable), axis=axis)
    return dense_tensor(array.shape[axis] - 1 - backwards)


def searchsorted(x1, x2, /, *, side: str = "left", sorter=None) -> Tensor:
    """Where elements of x2 belong in the sorted vector x1."""
    order = None if sorter is None else _elements(sorter, "searchsorted")
    return dense_tensor(np.searchsorted(_elements(x1, "searchsorted"), _elements(x2, "searchsorted"), side, order))


def take_along_axis(x, indices, /, *, axis: int = -1) -> Tensor:
    """Elements of a dense tensor at places of an axis, which differ from slice to slice."""
    return dense_tensor(np.take_along_axis(_elements(x, "take_along_axis"), _elements(indices, "take_along_axis"), axis))


def cumulative_sum(x, /, *, axis: int | None = None, dtype=None, include_initial: bool = False) -> Tensor:
    """Running sums of a dense tensor along an axis."""
    array = _elements(x, "cumulative_sum")
    return dense_tensor(np.cumulative_sum(array, axis=axis, dtype=dtype, include_initial=include_initial))


def cumulative_prod(x, /, *, axis: int | None = None, dtype=None, include_initial: bool = False) -> Tensor:
    """Running products of a dense tensor along an axis."""
    array = _elements(x, "cumulative_prod")
    return dense_tensor(np.cumulative_prod(array, axis=axis, dtype=dtype, include_initial=include_initial))


def unique_values(x, /) -> Tensor:
    """The elements of a dense tensor, each once."""
    return dense_tensor(np.unique_values(_elements(x, "unique_values")))


def unique_counts(x, /) -> UniqueCounts:
    """The elements of a dense tensor, each once, and how often they occur."""
    return UniqueCounts(*map(dense_tensor, np.unique_counts(_elements(x, "unique_counts"))))


def unique_inverse(x, /) -> UniqueInverse:
    """The elements of a dense tensor, each once, and which of them stands at each place."""
    return UniqueInverse(*map(dense_tensor, np.unique_inverse(_elements(x, "unique_inverse"))))


def unique_all(x, /) -> UniqueAll:
    """The elements of a dense tensor, each once: where first, which stands at each place, how often."""
    return UniqueAll(*map(dense_tensor, np.unique_all(_elements(x, "unique_all"))))
