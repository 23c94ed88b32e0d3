"""SciPy's sparse arrays as tensors, and tensors as SciPy's, over the same memory."""

import numpy as np

from ._borrow import borrow
from ._errors import TulleError
from ._order import warn_of_copy
from ._types import element_of

# SciPy stores diagonals by column: element j of a diagonal is in column j.
_DIA = "(i, j) -> (j - i : squeezed, j : dense, i : offset)"


def from_scipy(obj, copy, check: bool):
    """See `asarray`."""
    if copy:
        obj = obj.copy()
    reader = READERS.get(obj.format)
    if reader is None:  # dok and lil are lists and dictionaries
        if copy is False:
            raise TulleError(f"asarray: a {obj.format} array needs a copy, but copy=False was given")
        return _rows(obj.tocsr(), check)
    if not check:
        return reader(obj, False)
    try:
        return reader(obj, True)
    except TulleError as error:
        return reader(_in_order(obj, copy, error), True)


def _in_order(obj, copy, error):
    """A copy of an array whose coordinates are unsorted or stand twice; the error again where there is another
    reason for it."""
    if obj.format in ("csr", "csc", "bsr"):
        try:
            obj.check_format(full_check=True)
        except ValueError:
            raise error from None
        if obj.has_canonical_format:
            raise error
    elif obj.format == "coo" and _within(obj):
        pass
    else:
        raise error
    warn_of_copy(f"the {obj.format} array has coordinates that are unsorted or stand twice", copy, error)
    sorted_copy = obj.copy()
    sorted_copy.sum_duplicates()
    if obj.format in ("csr", "csc", "bsr"):
        sorted_copy.sort_indices()
    else:
        sorted_copy = _row_major(sorted_copy)
    return sorted_copy


def _coords(obj):
    return getattr(obj, "coords", None) or (obj.row, obj.col)  # older versions of SciPy, and files


def _within(obj) -> bool:
    return all(
        not len(of) or (of.min() >= 0 and of.max() < size) for of, size in zip(_coords(obj), obj.shape)
    )


def _row_major(obj):
    """SciPy sums duplicates in the order of columns."""
    order = np.lexsort(tuple(reversed(_coords(obj))))
    return type(obj)((obj.data[order], tuple(of[order] for of in _coords(obj))), shape=obj.shape)


def _shape(obj):
    return [int(size) for size in obj.shape]


def _element(obj) -> str:
    return element_of(obj.dtype, "data")


def _contiguous(array):
    return np.ascontiguousarray(array)


def _segments(obj):
    """indptr, indices and data, of which SciPy's may be longer than what is stored."""
    indptr, indices, data = obj.indptr, obj.indices, obj.data
    stored = int(indptr[-1]) if len(indptr) else 0
    if len(indices) != stored or len(data) != stored:
        indices, data = indices[:stored], data[:stored]
    return [_contiguous(indptr), _contiguous(indices), _contiguous(data)]


def _rows(obj, check: bool):
    shape, names = _shape(obj), ["indptr", "indices", "data"]
    name = "(i) -> (i : compressed)" if len(shape) == 1 else obj.format.upper()
    return borrow(_element(obj), shape, name, _segments(obj), names, check)


def _blocks(obj, check: bool):
    height, width = obj.blocksize
    indptr, indices, data = _segments(obj)
    buffers, names = [indptr, indices, data.reshape(-1)], ["indptr", "indices", "data"]
    return borrow(_element(obj), _shape(obj), f"BCSR({height},{width})", buffers, names, check)


def _entries(obj, check: bool):
    coords = [_contiguous(of) for of in _coords(obj)]
    positions = np.array([0, len(obj.data)], dtype=coords[0].dtype)
    names = ["positions[0]", *(f"coords[{d}]" for d in range(len(coords))), "data"]
    buffers = [positions, *coords, _contiguous(obj.data)]
    name = "(i) -> (i : compressed)" if len(coords) == 1 else "COO-soa"
    return borrow(_element(obj), _shape(obj), name, buffers, names, check)


def _diagonals(obj, check: bool):
    columns = obj.shape[1]
    order = np.argsort(obj.offsets, kind="stable")
    data = obj.data
    if data.shape[1] != columns or np.any(order != np.arange(len(order))):
        # Diagonals in another order, or that end before the last column: a copy of as many as there are.
        whole = np.zeros((len(order), columns), dtype=data.dtype)
        width = min(columns, data.shape[1])
        whole[:, :width] = data[order][:, :width]
        data = whole
    offsets = _contiguous(obj.offsets[order])
    buffers = [np.array([len(offsets)], dtype=np.int64), offsets, _contiguous(data).reshape(-1)]
    return borrow(_element(obj), _shape(obj), _DIA, buffers, ["sizes[0]", "offsets", "data"], check)


READERS = {"csr": _rows, "csc": _rows, "bsr": _blocks, "coo": _entries, "dia": _diagonals}


def _signed(array):
    """SciPy indexes with signed integers; those of a tensor fit them."""
    return array.view(np.dtype(f"i{array.itemsize}"))


def index_arrays(tensor, *levels):
    """Positions and coordinates of one width each, of 32 bits or 64."""
    arrays = []
    for kind, level in levels:
        array = getattr(tensor, kind)(level)
        arrays.append(_signed(array) if array.itemsize >= 4 else array.astype(np.int32))
    widest = max(array.itemsize for array in arrays)
    return [array if array.itemsize == widest else array.astype(f"i{widest}") for array in arrays]


def to_scipy(tensor):
    """See `Tensor.to_scipy`."""
    import scipy.sparse as sp

    if tensor.ndim not in (1, 2):
        raise TulleError(f"to_scipy: SciPy's arrays have one or two dimensions, not {tensor.ndim}")
    name = tensor.format.split("(")[0]
    if tensor.ndim == 2 and name in ("CSR", "CSC"):
        positions, coordinates = index_arrays(tensor, ("positions", 1), ("coordinates", 1))
        make = sp.csr_array if name == "CSR" else sp.csc_array
        return make((tensor.values, coordinates, positions), shape=tensor.shape, copy=False)
    if tensor.ndim == 2 and name == "BCSR":
        height, width = map(int, tensor.format[5:-1].split(","))
        if tensor.shape[0] % height == 0 and tensor.shape[1] % width == 0:
            positions, coordinates = index_arrays(tensor, ("positions", 1), ("coordinates", 1))
            data = tensor.values.reshape(-1, height, width)
            return sp.bsr_array((data, coordinates, positions), shape=tensor.shape, copy=False)
    if tensor.ndim == 2 and name == "DIA":
        offsets = tensor._buffers()[1].view(f"i{tensor._buffers()[1].itemsize}")
        return _to_dia(tensor, offsets)
    levels = [("coordinates", d) for d in range(tensor.ndim)]
    entries = tensor.to("COO-soa" if tensor.ndim == 2 else "COO")
    return sp.coo_array((entries.values, tuple(index_arrays(entries, *levels))), shape=tensor.shape, copy=False)


def _to_dia(tensor, offsets):
    import scipy.sparse as sp

    rows, columns = tensor.shape
    data = np.zeros((len(offsets), columns), dtype=tensor.dtype)
    by_row = tensor.values.reshape(len(offsets), rows)
    for k, offset in enumerate(offsets.tolist()):
        first, last = max(0, -offset), min(rows, columns - offset)
        if first < last:
            data[k, first + offset : last + offset] = by_row[k, first:last]
    return sp.dia_array((data, offsets), shape=tensor.shape)
