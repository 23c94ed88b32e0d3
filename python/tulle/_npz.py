"""SciPy's .npz files, read and written with NumPy alone: scipy.sparse.save_npz is the specification."""

import os
import tempfile
import types
import zipfile

import numpy as np

from . import _scipy
from ._errors import TulleError

_ARRAYS = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "bsr": ("indptr", "indices"),
           "coo": ("row", "col"), "dia": ("offsets",)}


def load(path: str):
    """The tensor of a file, in the format it has there."""
    try:
        # A file that NumPy opens itself stays open where it is no archive.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = dict(archive)
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise TulleError(f"{path}: error: {error}") from None
    try:
        return _tensor_of(arrays)
    except TulleError as error:
        raise TulleError(f"{path}: error: {error}") from None


def _tensor_of(arrays: dict):
    from ._tensor import asarray

    if "format" not in arrays:
        if len(arrays) != 1:
            raise TulleError(f"{len(arrays)} arrays, {', '.join(arrays)}: expected one, or a matrix of scipy.sparse")
        return asarray(next(iter(arrays.values())))
    name = arrays["format"].item()
    name = name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)
    if name not in _ARRAYS:
        raise TulleError(f"format '{name}' is none that scipy.sparse.save_npz writes: {', '.join(_ARRAYS)}")
    missing = [key for key in ("shape", "data", *_ARRAYS[name]) if key not in arrays]
    if missing:
        raise TulleError(f"the array '{missing[0]}' is missing; write the file with scipy.sparse.save_npz")
    shape = tuple(int(size) for size in arrays["shape"])
    if len(shape) != 2 or min(shape) < 0:
        raise TulleError(f"shape {shape}: expected two sizes")
    matrix = types.SimpleNamespace(**arrays)  # what the readers of SciPy's arrays read
    matrix.format, matrix.shape, matrix.dtype = name, shape, arrays["data"].dtype
    if name == "bsr":
        if arrays["data"].ndim != 3:
            raise TulleError(f"data has {arrays['data'].ndim} dimensions; blocks have 3")
        matrix.blocksize = arrays["data"].shape[1:]
    try:
        return _scipy.READERS[name](matrix, True)
    except TulleError:
        return _in_order(matrix)


def _in_order(matrix):
    """The same where coordinates are unsorted or stand twice. What is wrong otherwise is found again."""
    from ._tensor import from_coo

    if matrix.format == "coo":
        return from_coo(matrix.shape, (matrix.row, matrix.col), matrix.data, format="COO-soa")
    coords = _coordinates(matrix) if matrix.format in ("csr", "csc", "bsr") else None
    if coords is None:
        return _scipy.READERS[matrix.format](matrix, True)
    format = matrix.format.upper() if matrix.format != "bsr" else "BCSR({},{})".format(*matrix.blocksize)
    values = matrix.data.reshape(-1)[: len(coords[0])]  # SciPy's arrays may be longer
    return from_coo(matrix.shape, coords, values, format=format)


def _coordinates(matrix):
    """Rows and columns of the entries of csr, csc and bsr; None where the arrays do not fit each other."""
    lengths = np.diff(matrix.indptr)
    height, width = getattr(matrix, "blocksize", (1, 1))
    fibers = matrix.shape[1] if matrix.format == "csc" else -(-matrix.shape[0] // height)
    if len(lengths) != fibers or matrix.indptr[0] != 0 or (lengths < 0).any():
        return None
    major = np.repeat(np.arange(fibers), lengths)
    minor = matrix.indices[: len(major)]
    if len(minor) != len(major) or len(matrix.data) < len(major) or minor.dtype.kind not in "iu":
        return None
    if matrix.format == "bsr":
        rows = major[:, None, None] * height + np.arange(height)[:, None]
        columns = minor.astype(np.int64)[:, None, None] * width + np.arange(width)
        shape = (len(major), height, width)
        return tuple(np.broadcast_to(of, shape).reshape(-1) for of in (rows, columns))
    return (minor, major) if matrix.format == "csc" else (major, minor)


def save(path: str, tensor) -> None:
    """Writes a matrix in its format where SciPy has it, else as coordinates; a dense tensor as one array."""
    arrays = _arrays_of(tensor)
    folder = os.path.dirname(os.path.abspath(path))
    try:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            try:
                np.savez_compressed(file, **arrays)
            except BaseException:
                os.unlink(file.name)
                raise
        os.replace(file.name, path)
    except OSError as error:
        raise TulleError(f"{path}: error: {error.strerror}") from None


def _arrays_of(tensor) -> dict:
    if tensor.format == "dense":
        return {"arr_0": tensor.todense()}
    if tensor.ndim != 2:
        raise TulleError(f".npz files hold dense arrays and matrices, not tensors of {tensor.ndim} dimensions; "
                         "write a .tns file")
    name = {"CSR": "csr", "CSC": "csc"}.get(tensor.format)
    block = tensor.format.startswith("BCSR(") and [int(size) for size in tensor.format[5:-1].split(",")]
    if block and tensor.shape[0] % block[0] == 0 and tensor.shape[1] % block[1] == 0:
        name = "bsr"
    if name is None:
        entries = tensor.to("COO-soa")
        row, col = _scipy.index_arrays(entries, ("coordinates", 0), ("coordinates", 1))
        arrays = {"row": row, "col": col, "data": entries.values}
        name = "coo"
    else:
        indptr, indices = _scipy.index_arrays(tensor, ("positions", 1), ("coordinates", 1))
        data = tensor.values.reshape(-1, *block) if name == "bsr" else tensor.values
        arrays = {"indptr": indptr, "indices": indices, "data": data}
    return {"format": np.array(name.encode("ascii")), "shape": np.array(tensor.shape), **arrays}
