"""JAX's sparse arrays (`jax.experimental.sparse`: BCOO, BCSR, COO, CSR, CSC) as tensors, over the same memory."""

import math

import numpy as np

from ._borrow import borrow
from ._errors import TulleError
from ._order import in_order, segments_in_order, warn_of_copy
from ._types import element_of

_DISORDER = "coordinates that are unsorted, stand twice or lie beyond the sizes"


def is_jax(obj) -> bool:
    """Whether this is one of JAX's sparse arrays, without importing JAX for it."""
    return type(obj).__module__.startswith("jax.experimental.sparse")


def from_jax(obj, copy, check: bool):
    """See `asarray`."""
    reader = _READERS.get(type(obj).__name__)
    if reader is None:
        raise TulleError(f"asarray: an array of JAX's of type {type(obj).__name__}; say x.todense()")
    return reader(obj, copy, check)


def _array(of, copy):
    if any(base.__name__ == "Tracer" for base in type(of).__mro__):
        raise TulleError("asarray: an array that JAX traces has no memory yet; call Tulle outside of jit, vmap and grad, "
                         "or by jax.pure_callback")
    places = {device.platform for device in of.devices()}
    if copy is False and places != {"cpu"}:
        raise TulleError(f"asarray: the array is on {', '.join(sorted(places))}, which needs a copy, but copy=False was given")
    array = np.asarray(of)  # on the CPU, the memory of JAX's
    return np.array(array, order="C") if copy else np.ascontiguousarray(array)


def _per_batch(of, copy, sizes):
    """JAX stores once what is alike in all batches."""
    array = _array(of, copy)
    return np.ascontiguousarray(np.broadcast_to(array, (*sizes, *array.shape[len(sizes) :])))


def _index_type(array, most: int):
    """The type of positions up to `most`, and of the coordinates beside them: that of the array where it is wide enough."""
    return array.dtype if array.itemsize >= 4 and most < 2**31 else np.int64


def _shape(obj):
    return [int(size) for size in obj.shape]


def _encoding(levels) -> str:
    dims = [f"d{d}" for d in range(len(levels))]
    return f"({', '.join(dims)}) -> ({', '.join(f'{dim} : {level}' for dim, level in zip(dims, levels))})"


def _coordinates(count: int):
    """Levels whose coordinates stand side by side in one array."""
    if count == 1:
        return ["compressed"]
    return ["compressed(nonunique)", *["singleton(nonunique)"] * (count - 2), "singleton"]


def _borrow(shape, format: str, buffers, names, values, check: bool):
    element = element_of(values.dtype, "data")
    bits = values.view(np.int16) if element == "bf16" else values
    return borrow(element, shape, format, [*buffers, bits.reshape(-1)], [*names, "data"], check)


def _entries(obj, copy, check: bool):
    """Lists of entries, which JAX fills up with coordinates beyond the sizes, and need not be in order."""
    shape, batches, dense = _shape(obj), obj.n_batch, obj.n_dense
    sparse, sizes = len(shape) - batches - dense, shape[:batches]
    if sparse == 0:
        raise TulleError("asarray: a BCOO array without sparse dimensions; say x.todense()")
    indices, data = _per_batch(obj.indices, copy, sizes), _per_batch(obj.data, copy, sizes)

    def listed(batches: int, sparse: int, indices, data):
        stored, count = indices.shape[batches], math.prod(shape[:batches])
        begins = stored * np.arange(count, dtype=_index_type(indices, stored * count))
        positions = np.stack((begins, begins + stored), axis=-1).reshape(-1)
        format = _encoding(["batch"] * batches + _coordinates(sparse) + ["dense"] * dense)
        return _borrow(shape, format, [positions, indices.reshape(-1)], ["positions[0]", "indices"], data, check)

    try:
        return listed(batches, sparse, indices, data)
    except TulleError as error:
        if np.any(indices < 0):
            place = np.argwhere(indices < 0)[0]
            where = ", ".join(map(str, place))
            raise TulleError(f"asarray: indices[{where}] = {indices[tuple(place)]} is negative") from None
        warn_of_copy(f"the {type(obj).__name__} array has {_DISORDER}", copy, error)
    stored = np.all(indices < shape[batches : batches + sparse], axis=-1)
    keys = [*np.nonzero(stored)[:batches], *np.moveaxis(indices[stored], -1, 0)]
    keys, values = in_order(keys, data[stored])
    return listed(0, batches + sparse, np.stack(keys, axis=-1).astype(_index_type(indices, max(shape))), values)


def _rows(obj, copy, check: bool):
    """Rows, or columns, one after another; behind the last one JAX leaves entries that are none."""
    shape, name = _shape(obj), type(obj).__name__
    if getattr(obj, "n_batch", 0):
        if copy is False:
            raise TulleError("asarray: a BCSR array with batches needs a copy, but copy=False was given")
        return _entries(obj.to_bcoo(), copy, check)
    starts, indices, data = (_array(of, copy) for of in (obj.indptr, obj.indices, obj.data))
    stored = int(starts[-1]) if len(starts) else 0
    parts = starts, indices[:stored], data[:stored]
    dense = ["dense"] * (len(shape) - 2)
    format = name.removeprefix("B") if not dense else _encoding(["dense", "compressed", *dense])

    def segments(starts, indices, data):
        return _borrow(shape, format, [starts, indices], ["indptr", "indices"], data, check)

    try:
        return segments(*parts)
    except TulleError as error:
        ordered = segments_in_order(*parts, shape[0 if name == "CSC" else 1])
        if ordered is None:
            raise
        warn_of_copy(f"the {type(obj).__name__} array has {_DISORDER}", copy, error)
    return segments(*ordered)


def _lists(obj, copy, check: bool):
    """Rows and columns of entries in arrays of their own."""
    shape, row, col, data = _shape(obj), *(_array(of, copy) for of in (obj.row, obj.col, obj.data))

    def listed(row, col, data):
        positions = np.array([0, len(row)], dtype=_index_type(row, len(row)))
        return _borrow(shape, "COO-soa", [positions, row, col], ["positions[0]", "row", "col"], data, check)

    try:
        return listed(row, col, data)
    except TulleError as error:
        if np.any(row < 0) or np.any(col < 0):
            raise
        warn_of_copy(f"the {type(obj).__name__} array has {_DISORDER}", copy, error)
    stored = (row < shape[0]) & (col < shape[1])
    keys, values = in_order([row[stored], col[stored]], data[stored])
    return listed(*keys, values)


_READERS = {"BCOO": _entries, "BCSR": _rows, "CSR": _rows, "CSC": _rows, "COO": _lists}
