"""What stands between brackets: slices as views, integers, arrays of rows."""

import operator

import numpy as np

from ._errors import TulleError


def get_item(tensor, key):
    """See numpy's indexing; a result without dimensions is a number."""
    keys = _expanded(key if isinstance(key, tuple) else (key,), tensor.ndim)
    dropped = []
    for axis, part in enumerate(keys):
        if isinstance(part, slice):
            tensor = _cut(tensor, axis, part)
        elif isinstance(part, (list, np.ndarray)):
            tensor = _gather(tensor, axis, np.asarray(part))
        else:
            tensor = _one(tensor, axis, part)
            dropped.append(axis)
    if len(dropped) == len(keys):
        return tensor.todense().reshape(-1)[0]
    if dropped:
        tensor = tensor.reshape([size for axis, size in enumerate(tensor.shape) if axis not in dropped])
    return tensor


def _expanded(keys, ndim: int):
    if any(part is None for part in keys):
        raise TulleError("indexing: new dimensions are made with reshape")
    given = len(keys) - sum(part is Ellipsis for part in keys)
    if given > ndim or len(keys) - given > 1:
        raise IndexError(f"{given} indices for a tensor of {ndim} dimensions")
    filled = []
    for part in keys:
        filled += [slice(None)] * (ndim - given) if part is Ellipsis else [part]
    return filled + [slice(None)] * (ndim - len(filled))


def _cut(tensor, axis: int, part: slice):
    first, last, step = part.indices(tensor.shape[axis])
    if (first, last, step) == (0, tensor.shape[axis], 1):
        return tensor
    count = len(range(first, last, step))
    if count == 0:
        return _empty(tensor, axis)
    if step < 0:
        first, step = first + (count - 1) * step, -step
        return tensor._slice(axis, first, count, step)._reverse(axis)
    return tensor._slice(axis, first, count, step)


def _empty(tensor, axis: int):
    from ._tensor import from_coo

    shape = [0 if d == axis else size for d, size in enumerate(tensor.shape)]
    nothing = np.zeros(0, dtype=np.int64)
    return from_coo(shape, [nothing] * tensor.ndim, np.zeros(0, dtype=tensor.dtype),
                    format="CSR" if tensor.ndim == 2 else "COO")


def _one(tensor, axis: int, part):
    try:
        index = operator.index(part)
    except TypeError:
        raise IndexError(f"an index of type {type(part).__name__}") from None
    size = tensor.shape[axis]
    if not -size <= index < size:
        raise IndexError(f"index {index} is outside of dimension {axis} of size {size}")
    return tensor._slice(axis, index % size, 1, 1)


def _gather(tensor, axis: int, rows: np.ndarray):
    if rows.dtype == bool:
        if rows.shape != (tensor.shape[axis],):
            raise IndexError(f"a mask of shape {rows.shape} for dimension {axis} of size {tensor.shape[axis]}")
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise IndexError("an array of indices has one dimension and integers")
    size = tensor.shape[axis]
    if rows.size and (rows.min() < -size or rows.max() >= size):
        raise IndexError(f"an index is outside of dimension {axis} of size {size}")
    rows = np.ascontiguousarray(np.where(rows < 0, rows + size, rows) if rows.size else rows, dtype=np.int64)
    order = [axis, *(d for d in range(tensor.ndim) if d != axis)]
    picked = tensor._transpose(order)._gather(rows) if axis else tensor._gather(rows)
    return picked._transpose([order.index(d) for d in range(tensor.ndim)]) if axis else picked
