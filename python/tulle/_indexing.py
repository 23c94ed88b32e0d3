"""What stands between brackets: slices as views, integers, arrays of rows."""

import operator

import numpy as np

from ._operands import array_of, dense_tensor, is_dense


def get_item(tensor, key):
    """See numpy's indexing; a result without dimensions is a number."""
    given = key if isinstance(key, tuple) else (key,)
    if is_dense(tensor):
        return _of_array(tensor, given)
    keys = _expanded([part for part in given if part is not None], tensor.ndim)
    dropped = []
    for axis, part in enumerate(keys):
        if isinstance(part, slice):
            tensor = _cut(tensor, axis, part)
        elif isinstance(part, (list, np.ndarray)) or getattr(part, "ndim", 0):
            tensor = _gather(tensor, axis, np.asarray(part))
        else:
            tensor = _one(tensor, axis, part)
            dropped.append(axis)
    new = any(part is None for part in given)
    if len(dropped) == len(keys) and not new:
        return tensor.todense().reshape(-1)[0]
    if dropped or new:
        tensor = tensor.reshape(_sizes(tensor.shape, keys, given, dropped))
    return tensor


def _of_array(tensor, keys):
    """Of a dense tensor: NumPy's indexing; slices that are not contiguous are views of Tulle's."""
    keys = tuple(array_of(part) if isinstance(part, type(tensor)) else part for part in keys)
    picked = array_of(tensor)[keys]
    if not np.ndim(picked):
        return picked[()] if isinstance(picked, np.ndarray) else picked
    if not picked.flags.c_contiguous and all(isinstance(part, slice) for part in keys):
        for axis, part in enumerate(keys):
            tensor = _cut(tensor, axis, part)
        return tensor
    return dense_tensor(picked, tensor._element)


def _sizes(shape, keys, given, dropped) -> list[int]:
    """The sizes of the result: without dimensions that an integer takes, with new ones where None stands."""
    taken = [size for axis, size in enumerate(shape) if axis not in dropped]
    behind = 0  # dimensions of the result that come after the keys looked at, from the last
    places = []
    for part in reversed(given):
        if part is None:
            places.append(behind)
        elif part is Ellipsis:
            behind += len(keys) - (len([p for p in given if p is not None]) - 1)
        elif not _takes(part):
            behind += 1
    if Ellipsis not in [part for part in given if part is None or part is Ellipsis]:
        missing = len(keys) - len([part for part in given if part is not None])
        places = [place + missing for place in places]
    for count, place in enumerate(places):
        taken.insert(len(taken) - count - place, 1)
    return taken


def _takes(part) -> bool:
    """Whether a key is an integer, which takes a dimension away."""
    return not isinstance(part, (slice, list, np.ndarray)) and not getattr(part, "ndim", 0)


def _expanded(keys, ndim: int):
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
