"""Tensors over arrays that are somebody else's."""

from . import _core
from ._errors import TulleError

_LABELS = {"positions": "pos", "coordinates": "crd", "sizes": "size", "permutation": "perm", "bits": "bits"}


def borrow(element: str, shape, format: str, buffers, names, check: bool):
    """A tensor over `buffers`, in the order of the format's, the values last; errors call them by `names`."""
    try:
        return _core.borrow(element, shape, format, buffers, names, check)
    except TulleError as error:
        text = str(error)
        for (kind, level), name in zip(_core.fields(format, len(shape)), names):
            if kind in _LABELS:
                text = text.replace(f"{_LABELS[kind]}[{level}]", name)
        raise TulleError(text) from None
