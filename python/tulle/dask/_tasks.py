"""What runs on workers: cuts, gathers and joins of parts, and kernels."""

import numpy as np

from .._tensor import Tensor, asarray, entries_of, from_coo

_MOST_AT_ONCE = 16  # parts that one kernel joins


def stored(value, encoding: str):
    """A part as a kernel takes it: a tensor of this encoding; an array where that is "dense"."""
    if encoding == "dense":
        return np.ascontiguousarray(value.todense() if isinstance(value, Tensor) else value)
    return (value if isinstance(value, Tensor) else asarray(value)).to(encoding)


def loaded(path, encoding: str, dtype):
    from .._io import load

    return stored(load(path, dtype=dtype), encoding)


def cut(value, first: int, last: int, encoding: str):
    """Rows of a part or of a whole."""
    if (first, last) == (0, value.shape[0]):
        return stored(value, encoding)
    return stored(value[first:last] if isinstance(value, np.ndarray) else value[np.arange(first, last)], encoding)


def picked(value, picks: dict, encoding: str):
    """What a part has at some coordinates of dimensions, which are ascending: they become 0, 1, 2, …"""
    picks = {axis: coordinates for axis, coordinates in picks.items() if len(coordinates) < value.shape[axis]}
    if isinstance(value, np.ndarray):
        for axis, coordinates in picks.items():
            value = np.take(value, coordinates, axis=axis)
        return np.ascontiguousarray(value)
    if 0 in picks:
        value = value[picks.pop(0)].to(encoding)
    if not picks:
        return value
    coordinates, values = entries_of(value)
    kept = np.logical_and.reduce([np.isin(coordinates[axis], of) for axis, of in picks.items()])
    coordinates, values = [c[kept] for c in coordinates], values[kept]
    for axis, of in picks.items():
        coordinates[axis] = np.searchsorted(of, coordinates[axis])
    shape = [len(picks[axis]) if axis in picks else size for axis, size in enumerate(value.shape)]
    return from_coo(shape, coordinates, values, format=encoding)


def spread(pieces, picks: dict, shape, encoding: str):
    """What was picked, in pieces one below the other, at its coordinates again; elsewhere there is nothing."""
    picks = {axis: coordinates for axis, coordinates in picks.items() if len(coordinates) < shape[axis]}
    if encoding == "dense" and picks:
        return _spread_arrays(pieces, picks, shape)
    value = joined(pieces, encoding)
    if not picks:
        return value
    coordinates, values = entries_of(value)
    for axis, of in picks.items():
        coordinates[axis] = of[coordinates[axis]]
    return from_coo(shape, coordinates, values, format=encoding)


def _spread_arrays(pieces, picks: dict, shape) -> np.ndarray:
    whole = np.zeros(shape, dtype=pieces[0].dtype)
    at = [picks.get(axis, np.arange(size)) for axis, size in enumerate(shape)]
    first = 0
    for piece in pieces:
        rows = at[0][first : first + len(piece)]
        first += len(piece)
        if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
            rows = slice(int(rows[0]), int(rows[-1]) + 1)  # a copy, instead of a scatter
        if len(picks) == (0 in picks):
            whole[rows] = piece
        else:
            rows = np.arange(shape[0])[rows]
            whole[np.ix_(rows, *at[1:])] = piece
    return whole


def named(value, axis: int) -> np.ndarray:
    """The coordinates of a dimension at which a part stores anything, ascending."""
    if not isinstance(value, Tensor):
        return np.arange(value.shape[axis])
    coordinates = entries_of(value)[0][axis]
    size = value.shape[axis]
    if len(coordinates) < size // 16:  # too few to look at all that could be
        return np.unique(coordinates).astype(np.int64)
    seen = np.zeros(size, dtype=bool)
    seen[coordinates] = True
    return np.flatnonzero(seen)


def counts(value) -> np.ndarray:
    """How many entries each row stores."""
    if not isinstance(value, Tensor):
        return np.full(value.shape[0], value[:1].size, dtype=np.int64)
    rows = entries_of(value)[0][0]
    return np.bincount(rows, minlength=value.shape[0])


def joined(parts, encoding: str):
    """Parts one below the other."""
    from .._array_api_shapes import concat

    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    if encoding == "dense":
        return np.concatenate(parts)
    while len(parts) > 1:
        groups = [parts[first : first + _MOST_AT_ONCE] for first in range(0, len(parts), _MOST_AT_ONCE)]
        parts = [concat(group, axis=0).to(encoding) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


def computed(kernel, operands: dict) -> dict:
    """The results of a kernel by name, of operands in the formats that it was compiled for."""
    return dict(kernel._run({name: operands[name] for name in kernel.inputs}, {}))


def result(results: dict, name: str):
    return results[name]


_COMBINED = {"+=": "P{0} + Q{0}", "*=": "P{0} * Q{0}", "min=": "min(P{0}, Q{0})", "max=": "max(P{0}, Q{0})",
             "|=": "P{0} | Q{0}", "&=": "P{0} & Q{0}", "^=": "P{0} ^ Q{0}"}


def combined(reduction: str, parts):
    """Partial results as one."""
    from .._program import einsum
    from .._tensor import _index_names

    first, *others = parts
    names = _index_names(np.ndim(first) if isinstance(first, np.ndarray) else first.ndim)
    for other in others:
        first = einsum(f"R{names} = " + _COMBINED[reduction].format(names), P=first, Q=other, threads=1,
                       format=first.encoding if isinstance(first, Tensor) else None)
    return first
