"""Files, generators, declarations of level formats, and queries."""

import os

from . import _core, _h5, _npz
from ._errors import TulleError
from ._tensor import Tensor, asarray
from ._types import element_of


_OWN = {".npz": _npz, ".h5": _h5}  # files that Python's packages read and write


def load(path, *, format: str | None = None, dtype=None) -> Tensor:
    """Reads a tensor from a file: .mtx, .tns, .smtx, .npy, .npz, .h5, each also as .gz.

    Parameters
    ----------
    path : str or path
    format : str, optional
        By default the one that the file suggests: .mtx CSR, .tns CSF, .npy dense, .npz and .h5 their own.
    dtype : optional
        Convert the elements.

    Raises
    ------
    TulleError
        With the file, the line and what to do.
    """
    path, element = os.fspath(path), "" if dtype is None else element_of(dtype)
    if own := _OWN.get(os.path.splitext(path)[1]):
        return asarray(own.load(path), dtype=dtype, format=format)
    tensor = _core.load(path, format or "", element if format else "")
    return tensor if dtype is None else tensor.astype(dtype)


def save(path, obj) -> None:
    """Writes a tensor, or what `asarray` takes, by the name's ending; the file is there when it is complete."""
    path = os.fspath(path)
    if own := _OWN.get(os.path.splitext(path)[1]):
        own.save(path, asarray(obj))
    else:
        _core.save(path, asarray(obj))


def generate(spec: str, shape=(), *, format: str = "dense", dtype="f64") -> Tensor:
    """A tensor of a generator of `tulle run --help`: "grid2d:100", "rmat:10:8", "random:7:0.1", …"""
    return _core.generate(spec, list(shape), format, element_of(dtype))


def with_levels(format: str, levels) -> str:
    """The encoding ``format``, whose levels may also be of the formats that ``levels`` declares.

    Parameters
    ----------
    format : str
        An encoding, "(i, j) -> (i : dense, j : mine)".
    levels : str or path
        Declarations, "level mine { … }", or the path of a file of them. A str is always the text.

    Raises
    ------
    TulleError
        Pointing into the declarations, or into the encoding.

    Examples
    --------
    >>> B = A.to(tl.with_levels("(i, j) -> (i : dense, j : window)", pathlib.Path("aligned.levels")))
    """
    if isinstance(levels, str):
        return _core.with_levels(format, levels, "<levels>")
    if not isinstance(levels, os.PathLike):
        raise TulleError("with_levels: the second argument is the text of declarations, or the path of a file of them")
    path = os.fspath(levels)
    with open(path, encoding="utf-8") as file:
        return _core.with_levels(format, file.read(), path)


def query(text: str, obj) -> dict:
    """Statistics of where a tensor stores entries, as dense arrays of int64, by name.

    Examples
    --------
    >>> tl.query("select [i] -> count(j) as n, max(j - i) as upper", A)["n"]
    """
    if not isinstance(text, str):
        raise TulleError("query: the first argument is the text of the query")
    return _core.query(text, asarray(obj))
