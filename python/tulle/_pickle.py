"""Tensors as bytes: with protocol 5, buffers go out of band and are not copied."""

import numpy as np

from . import _core
from ._borrow import borrow


def reduce(tensor, protocol: int):
    stored = whole(tensor)
    buffers = [array if isinstance(array, int) else np.asarray(array) for array in stored._buffers()]
    return restore, (stored._element, list(stored.shape), stored.encoding, buffers)


def whole(tensor):
    """The tensor without slices and rows that were picked elsewhere: a copy of what they show."""
    from ._operands import without_slices

    return tensor if "slice" not in tensor.encoding else tensor.to(without_slices(tensor.encoding))


def restore(element: str, shape, encoding: str, buffers):
    """The tensor of these buffers, checked: bytes may come from anywhere."""
    roles = _core.fields(encoding, len(shape))
    names = [kind if kind == "values" else f"{kind}[{level}]" for kind, level in roles]
    if element == "bf16" and not isinstance(buffers[-1], int):
        buffers = [*buffers[:-1], buffers[-1].view(np.int16)]
    return borrow(element, shape, encoding, buffers, names, True)
