"""Binsparse in HDF5 files, read and written with h5py."""

import json
import os
import tempfile

import numpy as np

from . import _binsparse
from ._errors import TulleError


def _h5py(path: str):
    try:
        import h5py
    except ImportError:
        raise TulleError(f"{path}: error: .h5 files are read and written with h5py; pip install h5py") from None
    return h5py


class _Contents:
    """A file as an object of the protocol."""

    def __init__(self, described: dict, arrays: dict):
        self._described, self._arrays = described, arrays

    def __binsparse_descriptor__(self) -> dict:
        return self._described

    def __binsparse__(self) -> dict:
        return self._arrays


def load(path: str):
    """The tensor that the root of a file holds."""
    h5py = _h5py(path)
    try:
        with h5py.File(path, "r") as file:
            if "binsparse" not in file.attrs:
                raise TulleError("the root has no attribute 'binsparse'")
            described = json.loads(file.attrs["binsparse"])
            arrays = {name: of[()] for name, of in file.items() if isinstance(of, h5py.Dataset)}
        return _binsparse.from_binsparse(_Contents(described, arrays))
    except (OSError, RuntimeError, TypeError, KeyError, ValueError) as error:
        text = str(error)
        raise TulleError(text if text.startswith(path) else f"{path}: error: {text}") from None


def save(path: str, tensor) -> None:
    """Writes a tensor; the file is there when it is complete."""
    h5py = _h5py(path)
    try:
        described, arrays = _binsparse.descriptor(tensor), _binsparse.arrays(tensor, None)
    except TypeError as error:
        raise TulleError(f"{path}: error: {error}") from None
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))
        os.close(handle)
        try:
            with h5py.File(temporary, "w") as file:
                file.attrs["binsparse"] = json.dumps(described)
                for name, array in arrays.items():
                    file[name] = _stored(array)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise TulleError(f"{path}: error: {error.strerror or error}") from None


def _stored(array: np.ndarray) -> np.ndarray:
    """Truth values as bytes, complex numbers as their parts."""
    if array.dtype == bool:
        return array.view(np.int8)
    return array.view(array.real.dtype) if array.dtype.kind == "c" else array
