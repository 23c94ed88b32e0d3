"""PyTorch's tensors as tensors, and tensors as PyTorch's, over the same memory."""

import sys
import warnings

import numpy as np

from ._borrow import borrow
from ._errors import TulleError
from ._order import segments_in_order, warn_of_copy
from ._scipy import index_arrays

_COMPRESSED = {"csr": ("crow", "col"), "csc": ("ccol", "row"), "bsr": ("crow", "col"), "bsc": ("ccol", "row")}

_DISORDER = "the tensor of PyTorch has coordinates that are unsorted or stand twice"


def is_torch(obj) -> bool:
    """Whether this is a tensor of PyTorch, without importing PyTorch for it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(obj, torch.Tensor)


def from_torch(obj, copy, check: bool):
    """See `asarray`."""
    if obj.device.type != "cpu":
        raise TulleError(f"asarray: the tensor is on {obj.device}; say x.cpu()")
    if obj.requires_grad:
        raise TulleError("asarray: the tensor asks for gradients, which Tulle does not compute; say x.detach()")
    layout = str(obj.layout).removeprefix("torch.").removeprefix("sparse_")
    if copy:
        obj = obj.clone()
    if layout in _COMPRESSED:
        return _compressed(obj, layout, copy, check)
    if layout == "coo":
        return _entries(obj, copy, check)
    if layout == "strided":
        return _strided(obj, copy)
    raise TulleError(f"asarray: a tensor of PyTorch in layout {obj.layout}; say x.to_sparse()")


def _array(of):
    """The memory of a dense tensor, and the element type; bfloat16 numbers as their bits."""
    from ._types import element_of

    if str(of.dtype) == "torch.bfloat16":
        return of.view(sys.modules["torch"].int16).numpy(), "bf16"
    try:
        array = of.numpy()
    except (TypeError, RuntimeError) as error:
        raise TulleError(f"asarray: {error}") from None
    return array, element_of(array.dtype, "values")


def _strided(obj, copy):
    from ._tensor import _dense, _of_bits

    array, element = _array(obj)
    return _of_bits(_dense(array, False if copy is False else None), element)


def _names(count: int):
    return [f"d{d}" for d in range(count)]


def _encoding(dims, levels) -> str:
    return f"({', '.join(dims)}) -> ({', '.join(f'{expression} : {format}' for expression, format in levels)})"


def _coordinates(count: int, sparse: int) -> str:
    """Coordinates of the first dimensions, each in an array of its own, and dense dimensions below."""
    dims, first = _names(count), "compressed" if sparse == 1 else "compressed(nonunique)"
    formats = [first] + ["singleton(nonunique, soa)"] * (sparse - 2) + ["singleton(soa)"] * (sparse > 1)
    return _encoding(dims, [*zip(dims, formats), *((dim, "dense") for dim in dims[sparse:])])


def _compressed(obj, layout: str, copy, check: bool):
    """Batches first, then the two dimensions that are stored compressed, and dense ones below."""
    outer, inner = _COMPRESSED[layout]
    positions, coordinates = getattr(obj, f"{outer}_indices")(), getattr(obj, f"{inner}_indices")()
    values = obj.values()
    batches, blocked = positions.dim() - 1, layout.startswith("bs")
    dims = _names(obj.dim())
    rows, columns = dims[batches : batches + 2]
    block = [int(size) for size in values.shape[batches + 1 : batches + 3]] if blocked else []
    levels = [(batch, "batch") for batch in dims[:batches]]
    order = [rows, columns] if outer == "crow" else [columns, rows]
    if blocked:
        size = dict(zip((rows, columns), block))
        order = [f"{dim} floordiv {size[dim]}" for dim in order]
    levels += [(order[0], "dense"), (order[1], "compressed")]
    if blocked:
        levels += [(f"{dim} mod {size[dim]}", "dense") for dim in (rows, columns)]
    levels += [(dim, "dense") for dim in dims[batches + 2 :]]
    stored, element = _array(values)
    starts = positions.numpy()
    if batches:  # each batch of PyTorch's counts from 0, and has as many entries as the others
        before = np.arange(starts[..., 0].size).reshape(*starts.shape[:-1], 1) * values.shape[batches]
        starts = starts + before.astype(starts.dtype if starts[..., 0].size * values.shape[batches] < 2**31 else np.int64)
    buffers = [starts, coordinates.numpy(), stored]
    names = [f"{outer}_indices", f"{inner}_indices", "values"]
    shape = [int(size) for size in obj.shape]
    format = layout.upper() if layout in ("csr", "csc") and len(dims) == 2 else _encoding(dims, levels)  # read sooner

    def borrowed(*buffers):
        return borrow(element, shape, format, [np.ascontiguousarray(of).reshape(-1) for of in buffers], names, check)

    try:
        return borrowed(*buffers)
    except TulleError as error:
        inner_dim = batches + (outer == "crow")
        size = shape[inner_dim] // (block[outer == "crow"] if blocked else 1)
        ordered = None if batches or element == "bf16" else segments_in_order(*buffers, size)
        if ordered is None:
            raise
        warn_of_copy(_DISORDER, copy, error)
    return borrowed(*ordered)


def _entries(obj, copy, check: bool):
    """In place where coordinates are in order, whatever PyTorch knows of that."""
    if not check or obj.is_coalesced():
        return _listed(obj, check)
    try:
        return _listed(obj, True)
    except TulleError as error:
        indices, shape = obj._indices().numpy(), np.array(obj.shape[: obj.sparse_dim()]).reshape(-1, 1)
        if np.any(indices < 0) or np.any(indices >= shape):
            raise
        warn_of_copy(_DISORDER, copy, error)
        return _listed(obj.coalesce(), True)


def _listed(obj, check: bool):
    indices, (values, element) = obj._indices().numpy(), _array(obj._values())
    sparse = obj.sparse_dim()
    positions = np.array([0, indices.shape[1]], dtype=indices.dtype)
    buffers = [positions, *(np.ascontiguousarray(of) for of in indices), np.ascontiguousarray(values).reshape(-1)]
    names = ["positions[0]", *(f"indices[{d}]" for d in range(sparse)), "values"]
    return borrow(element, [int(size) for size in obj.shape], _coordinates(obj.dim(), sparse), buffers, names, check)


def to_torch(tensor):
    """See `Tensor.to_torch`."""
    try:
        import torch
    except ImportError:
        raise TulleError("to_torch: PyTorch is not installed; pip install torch") from None

    from ._operands import array_of, is_dense

    def lend(array):
        with warnings.catch_warnings():  # that what is read-only here is not written there is the caller's to see to
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            return torch.from_numpy(array)

    def elements(array):
        return lend(array.view(np.int16)).view(torch.bfloat16) if tensor._element == "bf16" else lend(array)

    if is_dense(tensor):
        return elements(array_of(tensor))
    name, shape = tensor.format.split("(")[0], tuple(tensor.shape)
    if tensor.ndim == 2 and name in ("CSR", "CSC"):
        arrays = index_arrays(tensor, ("positions", 1), ("coordinates", 1))
        make = torch.sparse_csr_tensor if name == "CSR" else torch.sparse_csc_tensor
        return make(*map(lend, arrays), elements(tensor.values), size=shape)
    if tensor.ndim == 2 and name == "BCSR":
        height, width = map(int, tensor.format[5:-1].split(","))
        if shape[0] % height == 0 and shape[1] % width == 0:
            arrays = index_arrays(tensor, ("positions", 1), ("coordinates", 1))
            return torch.sparse_bsr_tensor(*map(lend, arrays), elements(tensor.values.reshape(-1, height, width)), size=shape)
    entries = tensor.to(_coordinates(tensor.ndim, tensor.ndim))
    indices = np.array([entries.coordinates(d) for d in range(tensor.ndim)], dtype=np.int64).reshape(tensor.ndim, -1)
    return torch.sparse_coo_tensor(lend(indices), elements(entries.values), size=shape, is_coalesced=True)
