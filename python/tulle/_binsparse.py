"""Binsparse: the storage of sparse arrays by names that packages share (the Binsparse specification 0.1, as the
array API's pull request 912 has it in memory)."""

import re

import numpy as np

from . import _core
from ._errors import TulleError
from ._operands import result_encoding
from ._types import element_of

# Levels of each format, outermost first, as "dense" or the rank of a sparse one; and the dimension of each.
_FORMATS = {
    "DVEC": (["dense"], [0]),
    "CVEC": ([1], [0]),
    "DMATR": (["dense", "dense"], [0, 1]),
    "DMATC": (["dense", "dense"], [1, 0]),
    "CSR": (["dense", 1], [0, 1]),
    "CSC": (["dense", 1], [1, 0]),
    "DCSR": ([1, 1], [0, 1]),
    "DCSC": ([1, 1], [1, 0]),
    "COOR": ([2], [0, 1]),
    "COOC": ([2], [1, 0]),
}
_ALIASES = {"DMAT": "DMATR", "COO": "COOR"}
_VALUE_TYPES = {"bool": "bint8", "complex64": "complex[float32]", "complex128": "complex[float64]"}


def _encoding(levels, order) -> str:
    """Tulle's encoding of levels, where level k has dimension order[k]."""
    text, k = [], 0
    for level in levels:
        if level == "dense":
            text.append(f"d{order[k]} : dense")
            k += 1
            continue
        for part in range(level):
            last = part == level - 1
            if part == 0:
                kind = "compressed" if last else "compressed(nonunique)"
            else:
                kind = "singleton(soa)" if last else "singleton(nonunique, soa)"
            text.append(f"d{order[k]} : {kind}")
            k += 1
    return f"({', '.join(f'd{d}' for d in range(len(order)))}) -> ({', '.join(text)})"


def _map_of(encoding: str) -> str:
    """The map of an encoding, with the names of dimensions that `_encoding` gives."""
    text = re.search(r"map = (.*?)(?:, posWidth|, crdWidth|, fill| }>|$)", encoding)
    text = text[1] if text else encoding
    names = re.match(r"\(([^)]*)\)", text)[1].replace(" ", "").split(",")
    for d, name in enumerate(names):
        text = re.sub(rf"\b{name}\b", f"@{d}", text) if name else text
    return text.replace("@", "d")


def _known(tensor):
    """The format by Binsparse's name, or as levels, and the tensor stored in it."""
    here = _map_of(result_encoding(tensor.encoding))
    if tensor.fill_value != 0:
        raise TypeError(f"__binsparse__: what is not stored is {tensor.fill_value}; Binsparse has 0 there")
    for name, (levels, order) in _FORMATS.items():
        if len(order) == tensor.ndim and here == _encoding(levels, order):
            return name, levels, order, tensor.to(result_encoding(tensor.encoding))
    if tensor.ndim == 0:
        raise TypeError("__binsparse__: a tensor without dimensions is no sparse array")
    order = list(range(tensor.ndim))
    name = {1: "CVEC", 2: "COOR"}.get(tensor.ndim, "custom")
    levels = [tensor.ndim]
    return name, levels, order, tensor.to(_encoding(levels, order))


def _arrays_of(levels, tensor) -> dict:
    arrays, k = {}, 0
    for level in levels:
        if level == "dense":
            k += 1
            continue
        if k > 0:
            arrays[f"pointers_to_{k}"] = tensor.positions(k)
        for _ in range(level):
            arrays[f"indices_{k}"] = tensor.coordinates(k)
            k += 1
    return arrays | {"values": tensor.values}


def descriptor(tensor) -> dict:
    """See Tensor.__binsparse_descriptor__."""
    name, levels, order, stored = _known(tensor)
    arrays = _arrays_of(levels, stored)
    types = {of: _VALUE_TYPES.get(str(array.dtype), str(array.dtype)) for of, array in arrays.items()}
    format = name if name != "custom" else {"custom": {"transpose": order, "level": _nested(levels)}}
    return {
        "binsparse": {
            "version": "0.1", "format": format, "shape": list(tensor.shape),
            "number_of_stored_values": len(arrays["values"]), "data_types": types,
        },
        "original_source": f"tulle, version {_core.version}",
    }


def _nested(levels) -> dict:
    level = {"level_desc": "element"}
    for of in reversed(levels):
        level = {"level_desc": "dense" if of == "dense" else "sparse", "rank": 1 if of == "dense" else of, "level": level}
    return level


def arrays(tensor, wanted: dict | None) -> dict:
    """See Tensor.__binsparse__."""
    if wanted is not None:
        levels, order = _levels(wanted.get("binsparse", wanted))
        if len(order) != tensor.ndim:
            raise TypeError(f"__binsparse__: a format of {len(order)} dimensions for a tensor with {tensor.ndim}")
        return _arrays_of(levels, tensor.to(_encoding(levels, order)))
    _, levels, _, stored = _known(tensor)
    return _arrays_of(levels, stored)


def _levels(described: dict):
    """The levels, and the dimension of each, of a descriptor."""
    format, ndim = described.get("format"), len(described.get("shape", ()))
    if isinstance(format, str):
        name = _ALIASES.get(format.upper(), format.upper())
        if name not in _FORMATS:
            raise TypeError(f"binsparse: there is no format {format!r}; there are {', '.join(_FORMATS)}")
        return _FORMATS[name]
    try:
        custom, levels = format["custom"], []
        level = custom["level"]
        while level["level_desc"] != "element":
            rank, kind = level.get("rank", 1), level["level_desc"]
            if kind not in ("dense", "sparse") or not isinstance(rank, int) or rank < 1:
                raise TypeError(f"binsparse: a level {kind!r} of rank {rank}")
            levels += ["dense"] * rank if kind == "dense" else [rank]
            level = level["level"]
        order = list(custom.get("transpose", range(ndim)))
    except (KeyError, AttributeError) as error:
        raise TypeError(f"binsparse: the descriptor's format {format!r} is not understood: {error}") from None
    count = sum(1 if level == "dense" else level for level in levels)
    if sorted(order) != list(range(ndim)) or count != ndim:
        raise TypeError(f"binsparse: {count} levels and transpose {order} for {ndim} dimensions")
    return levels, order


def from_binsparse(obj, check: bool = True):
    """A tensor over the arrays of an object that has `__binsparse__`, which are borrowed; see `asarray`."""
    described = obj.__binsparse_descriptor__()
    described = described.get("binsparse", described)
    if str(described.get("version", "0.1")).split(".")[:2] != ["0", "1"]:
        raise TulleError(f"binsparse: version {described['version']} is not 0.1")
    levels, order = _levels(described)
    shape = [int(size) for size in described["shape"]]
    if len(shape) != len(order):
        raise TulleError(f"binsparse: format {described['format']} for shape {tuple(shape)}")
    given = {name: _array(name, array) for name, array in obj.__binsparse__().items()}
    types = described.get("data_types", {})
    iso = re.fullmatch(r"iso\[(.*)\]", str(types.get("values", "")))
    values = _values(given, iso[1] if iso else types.get("values"))
    if iso:
        values = np.repeat(values, int(described["number_of_stored_values"]))
    encoding = _encoding(levels, order)
    buffers, names = [], []
    for kind, level in _core.fields(encoding, len(shape))[:-1]:
        name = f"pointers_to_{level}" if kind == "positions" else f"indices_{level}"
        if name == "pointers_to_0":
            outermost = _array_named(given, "indices_0")
            buffers.append(np.array([0, len(outermost)], dtype=_pointer_type(given, outermost)))
        else:
            buffers.append(_array_named(given, name))
        names.append(f"{name} ({kind}[{level}])")
    stored = np.ascontiguousarray(values)
    return _core.borrow(element_of(stored.dtype, "values"), shape, encoding, [*buffers, stored], [*names, "values"], check)


def _array(name: str, array) -> np.ndarray:
    if isinstance(array, np.ndarray):
        return np.ascontiguousarray(array)
    try:
        return np.ascontiguousarray(np.from_dlpack(array) if hasattr(array, "__dlpack__") else np.asarray(array))
    except (TypeError, BufferError, RuntimeError) as error:
        raise TulleError(f"binsparse: {name}: {error}") from None


def _pointer_type(given: dict, otherwise):
    """All positions of a tensor have one width."""
    return next((array.dtype for name, array in given.items() if name.startswith("pointers_to_")), otherwise.dtype)


def _array_named(given: dict, name: str) -> np.ndarray:
    if name not in given:
        raise TulleError(f"binsparse: the array {name} is not given; there are {', '.join(given)}")
    return given[name]


def _values(given: dict, type: str | None) -> np.ndarray:
    """The values, whose type the memory may not say: truth values as bytes, complex numbers as pairs."""
    values = _array_named(given, "values")
    if type == "bint8" and values.dtype.itemsize == 1:
        return values.view(np.bool_)
    parts = re.fullmatch(r"complex\[float(32|64)\]", type or "")
    if parts and values.dtype == np.dtype(f"f{int(parts[1]) // 8}"):
        return values.reshape(-1).view(f"c{int(parts[1]) // 4}")
    return values.reshape(-1)
